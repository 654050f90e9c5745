"""Edges from a table: which columns are the ends, and which the weight."""

from fdmvgcl.errors import InputError, RowError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import Origin
from fdmvgcl.graphs.readers.tables import Table, open_table

PAIRS = (("source", "target"), ("src", "dst"), ("from", "to"))
WEIGHT_RULE = "weight must be a finite number of at least 0"


def read_table_graph(path: StrPath, weight: str | None, header: bool, directed: bool) -> tuple[Graph, Origin]:
    """A graph from delimited text or Parquet, and how it was understood."""
    known = [frozenset(pair) for pair in PAIRS]
    table = open_table(path, known, "source and target", lambda cells: header)
    source, target = _ends(table)
    column = _weight(table, weight)
    if not table.num_rows:
        raise InputError(path, "holds no edges")
    used = {source, target, column}
    origin = Origin(
        table.format,
        source=table.names[source],
        target=table.names[target],
        header=table.header,
        weight=None if column is None else table.names[column],
        ignored=tuple(name for i, name in enumerate(table.names) if i not in used),
        remarks=table.remarks,
    )
    weights = None if column is None else table.numbers([column], WEIGHT_RULE)[:, 0]
    try:
        tails, heads = table.strings([source, target])
        return Graph.from_edges(tails, heads, weight=weights, directed=directed), origin
    except RowError as error:
        raise table.error(error.rule, error.row) from None
    except InputError:
        raise
    except ValueError as error:
        raise table.error(str(error)) from None


def _ends(table: Table) -> tuple[int, int]:
    for names in PAIRS:
        source, target = (table.find(name) for name in names)
        if source is not None and target is not None:
            return source, target
    return 0, 1


def _weight(table: Table, asked: str | None) -> int | None:
    if asked is None:
        return table.find("weight")
    if asked not in table.names:
        there = ", ".join(shown(name) for name in table.names[:20])
        without = " (it has no header)" if table.header is False else ""
        raise table.error(f"weight column {shown(asked)} must be one of the columns{without}: {there}")
    if table.names.count(asked) > 1:
        raise table.error(f"weight column {shown(asked)} must be there once, got it {table.names.count(asked)} times")
    return table.names.index(asked)
