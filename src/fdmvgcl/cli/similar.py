"""``fdmvgcl similar``: nearest neighbours of nodes, without torch, so that the answer is there at once."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.errors import UserError
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.search import nearest_of


def similar(
    folder: ResultFolder,
    nodes: Sequence[str],
    ids: Path | None,
    asked: Path | None,
    count: int,
    reporter: Reporter,
    *,
    as_json: bool = False,
) -> None:
    """Print rank, id and cosine, after the node's own id where more than one is asked for."""
    folder.require()
    wanted: list[str] | None = list(nodes)
    if ids is not None:
        from fdmvgcl.graphs.readers.ids import read_ids  # late: its room brings what one node does not need

        wanted = [*nodes, *read_ids(ids)]
    if not wanted:
        if asked is None:
            raise UserError("name nodes with --id or --ids, or a file of vectors with --of")
        wanted = None
    found = nearest_of(folder.embeddings, wanted, count, asked=asked)
    if as_json:
        reporter.json([{"id": node, "similar": list(map(asdict, each))} for node, each in found.items()])
        return
    rows = [
        (node, str(rank), each.id, f"{each.cosine:.4f}")
        for node, similar in found.items()
        for rank, each in enumerate(similar, start=1)
    ]
    if len(nodes) == 1 and ids is None:
        reporter.answer(("", "id", "cosine"), [row[1:] for row in rows], text_columns=(1,))
    else:
        reporter.answer(("of", "", "id", "cosine"), rows, text_columns=(0, 2))
