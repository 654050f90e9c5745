"""``fdmvgcl datasets``: what can be named as SOURCE, and whether it is at hand."""

from pathlib import Path

from fdmvgcl.commands.console import Reporter
from fdmvgcl.data import data_root, datasets
from fdmvgcl.provenance import counted

# Nodes, edges, features and classes as counted in the published files, which do not change: counting anew takes long.
# Sets that were never read with these loaders have none.
MEASURED = {
    "cora": (2708, 5278, 1433, 7),
    "citeseer": (3327, 4552, 3703, 6),
    "pubmed": (19717, 44324, 500, 3),
    "computers": (13752, 245861, 767, 10),
    "photo": (7650, 119081, 745, 8),
    "cornell": (183, 277, 1703, 5),
    "texas": (183, 279, 1703, 5),
    "wisconsin": (251, 450, 1703, 5),
    "actor": (7600, 26659, 932, 5),
    "squirrel": (2223, 46998, 2089, 5),
    "chameleon": (890, 8854, 2325, 5),
    "crocodile": (11631, 170773, 13183, 5),
    "minesweeper": (10000, 39402, 7, 2),
    "tolokers": (11758, 519000, 10, 2),
    "digits": (1797, 12340, 64, 10),
    "karate": (34, 78, 0, 2),
}


def list_datasets(root: Path | None, reporter: Reporter) -> None:
    """A line a data set. Nothing is read or fetched."""
    rows = []
    for entry in datasets().values():
        state = "built in" if entry.source is None else "yes" if entry.available(root) else "no"
        counts = MEASURED.get(entry.name)
        sizes = ("–",) * 4 if counts is None else tuple(counted(count, "").strip() for count in counts)
        rows.append((entry.name, state, *sizes, entry.description))
    header = ("name", "there", "nodes", "edges", "features", "classes", "what it is")
    reporter.table(header, rows, text_columns=(0, 1, 6))
    reporter.say("")
    reporter.say(f"data root: {data_root(root)} (--data-root, else FDMVGCL_DATA, else the cache folder)")
