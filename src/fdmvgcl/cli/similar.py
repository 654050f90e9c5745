"""``fdmvgcl similar``: nearest neighbours of a node, without torch, so that the answer is there at once."""

import sys

from fdmvgcl.cli.console import Reporter
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.search import nearest


def similar(folder: ResultFolder, node: str, count: int, reporter: Reporter) -> None:
    """Print rank, id and cosine: aligned on a terminal, else separated by tabs."""
    found = nearest(folder.require().embeddings, node, count)
    rows = [(str(rank), each.id, f"{each.cosine:.4f}") for rank, each in enumerate(found, start=1)]
    if sys.stdout.isatty():
        reporter.table(("", "id", "cosine"), rows, text_columns=(1,))
        return
    for row in rows:
        reporter.row(row)
