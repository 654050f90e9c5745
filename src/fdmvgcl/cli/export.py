"""``fdmvgcl export``: the vectors for other programs, without torch."""

from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.files import refuse_overwrite
from fdmvgcl.results.export import export_vectors, written
from fdmvgcl.results.outputs import ResultFolder


def export(
    folder: ResultFolder, output: Path, kind: str | None, reporter: Reporter, *, unit: bool, force: bool
) -> None:
    """Write them, and say where."""
    folder.require()
    for path in written(output, kind):
        refuse_overwrite(path, force, folder.path.iterdir())
    for path in export_vectors(folder.embeddings, output, kind, unit=unit):
        reporter.say(f"written: {path}")
