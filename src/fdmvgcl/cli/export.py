"""``fdmvgcl export``: the vectors for other programs, without torch."""

from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.files import refuse_overwrite
from fdmvgcl.results.export import export_vectors, kind_of, written
from fdmvgcl.results.outputs import ResultFolder


def export(
    folder: ResultFolder,
    output: Path,
    kind: str | None,
    reporter: Reporter,
    *,
    unit: bool,
    force: bool,
    as_json: bool = False,
) -> None:
    """Write them, and say where."""
    folder.require()
    for path in written(output, kind):
        refuse_overwrite(path, force, folder.path.iterdir())
    with reporter.busy("writing the vectors"):
        files = export_vectors(folder.embeddings, output, kind, unit=unit)
    for path in files:
        reporter.say(f"written: {path}")
    if as_json:
        reporter.json({"format": kind_of(output, kind), "unit": unit, "files": [str(path) for path in files]})
