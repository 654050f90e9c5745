"""Edges from a table: which columns are the ends, and which the weight. What is not certain is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from fdmvgcl.errors import ArgumentError, InputError, RowError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.arrays import as_table
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import Origin
from fdmvgcl.graphs.readers.columnar import TypedTable
from fdmvgcl.graphs.readers.header import (
    CERTAIN,
    PAIRS,
    column_kind,
    known_pair,
    likely_ends,
    told_by_ids,
    told_by_types,
)
from fdmvgcl.graphs.readers.tables import WEIGHT_RULE, Table, open_table
from fdmvgcl.graphs.readers.text import TextTable
from fdmvgcl.graphs.readers.timing import Timed, by_time
from fdmvgcl.graphs.temporal import Window

EXPECTED = "source and target"
_NAME_THEM = "name them with --source COL --target COL (in Python source=…, target=…)"


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns of a table hold what; what is None is recognised.

    Args:
        source, target, weight: names of columns, ``"1"``, ``"2"``, … without a header.
        header: whether a text's first line is a header.
    """

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if (self.source is None) != (self.target is None):
            missing = "target" if self.target is None else "source"
            raise ArgumentError(missing, "must be named too: edges have two ends")
        if self.source is not None and self.source == self.target:
            raise ArgumentError("target", f"must be another column than the source, got {shown(self.source)} twice")


def read_table_graph(
    path: StrPath, data: bytes, columns: EdgeColumns, *, encoding: str | None = None, **graph: Any
) -> tuple[Graph, Origin]:
    """A graph from delimited text, Parquet, Arrow or JSON lines, and how it was understood.

    Args:
        data: what the file holds.
        graph: ``directed`` and ``repeated`` of :meth:`Graph.from_edges`.
    """
    table = open_table(path, known_names(columns), EXPECTED, header_rule(columns), encoding=encoding, data=data)
    return graph_of(table, columns, **graph)


def known_names(columns: EdgeColumns) -> list[frozenset[str]]:
    """Names that mark a first line as a header."""
    known = [frozenset(pair) for pair in CERTAIN]
    if columns.header is False:
        return []
    if columns.source is not None and columns.target is not None:
        known.insert(0, frozenset({columns.source.lower(), columns.target.lower()}))
    return known


def table_graph(frame: Any, columns: EdgeColumns, times: Sequence[str | None] = (), **graph: Any) -> Graph:
    """The graph of a table in memory that speaks Arrow.

    Args:
        times: since, until and half-life of a :class:`Window`.
        graph: ``nodes``, ``directed`` and ``repeated`` of :meth:`Graph.from_edges`.
    """
    table = as_table(frame, "edges")
    made, origin = graph_of(TypedTable("edges", "data frame", table, EXPECTED), columns, Window(*times), **graph)
    return replace(made, origin=origin)


def graph_of(table: Table, columns: EdgeColumns, window: Window = Window(), **graph: Any) -> tuple[Graph, Origin]:  # noqa: B008, it is frozen
    """The graph of a table's rows."""
    source, target = find_ends(table, columns)
    column = find_weight(table, columns.weight)
    if column in (source, target):
        raise table.error(f"weight column {shown(columns.weight)} must be another than those of the ends")
    if not table.num_rows:
        raise InputError(table.path, "holds no edges")
    used = {source, target, column}
    weights = None if column is None else table.numbers([column], WEIGHT_RULE)[:, 0]
    timed = by_time(table, used, weights, window)
    origin = origin_of(table, (source, target), column, timed)
    kept = timed.kept
    try:
        ends = table.strings([source, target])
        tails, heads = ends if kept is None else (end.take(pa.array(kept)) for end in ends)
        return Graph.from_edges(tails, heads, weight=timed.weight, **graph), origin
    except RowError as error:
        raise table.error(error.rule, error.row if kept is None else int(kept[error.row])) from None
    except InputError:
        raise
    except UserError as error:
        raise table.error(str(error)) from None


def origin_of(table: Table, ends: tuple[int, int], weight: int | None, timed: Timed) -> Origin:
    """How a table was understood."""
    used = {*ends, weight, timed.column}
    return Origin(
        table.format,
        source=table.names[ends[0]],
        target=table.names[ends[1]],
        header=table.header,
        weight=None if weight is None else table.names[weight],
        ignored=tuple(name for i, name in enumerate(table.names) if i not in used),
        remarks=(*table.remarks, *timed.remarks),
        clock=timed.clock,
    )


def header_rule(columns: EdgeColumns) -> Any:
    def is_header(first: Sequence[str], table: Table) -> bool:
        if columns.header is not None:
            return columns.header
        asked = {name for name in (columns.source, columns.target, columns.weight) if name is not None}
        if asked and asked <= set(first):
            return True
        assert isinstance(table, TextTable)
        sample = table.sample()
        kinds = [column_kind(cells) for cells in sample]
        told = told_by_types(first, kinds)
        if told is None:
            told = _told_by_ids(first, table, kinds, sample)
        if told is None:
            raise table.error(
                f"the first line, {shown(', '.join(first))}, could name the columns or be an edge: {_NAME_THEM}, "
                "or say --no-header (in Python header=False)"
            )
        return told

    return is_header


def _told_by_ids(
    first: Sequence[str], table: TextTable, kinds: Sequence[str], sample: Sequence[pa.ChunkedArray]
) -> bool | None:
    ends = likely_ends(kinds, sample) or (0, 1)
    names = [first[end] for end in ends]
    told = told_by_ids(names, table.strings(ends), [sample[end] for end in ends])
    return True if told is None and known_pair(first) else told


def find_ends(table: Table, columns: EdgeColumns = EdgeColumns()) -> tuple[int, int]:  # noqa: B008, it is frozen
    """The columns of the ends: those asked for, else those with a known pair of names, else the only two that fit."""
    if columns.source is not None and columns.target is not None:
        return _named(table, "source", columns.source), _named(table, "target", columns.target)
    pair = known_pair(table.names) if table.header is not False else None
    if pair is not None:
        found = [table.find(name) for name in pair]
        assert found[0] is not None
        assert found[1] is not None
        return found[0], found[1]
    if len(table.names) == 2:
        return 0, 1
    if table.header is False and len(table.names) == table.num_rows and _all_numbers(table):
        n = table.num_rows
        raise table.error(
            f"holds {n} × {n} numbers, which could be a matrix: save it with scipy.sparse.save_npz; or if they are "
            f"edges, {_NAME_THEM}"
        )
    if len(table.names) == table.num_rows + 1 and table.strings([0])[0].to_pylist() == list(table.names[1:]):
        raise table.error(
            "holds a matrix whose rows and columns have names: list its edges, or use Graph.from_scipy(…, ids=…)"
        )
    others = [i for i, name in enumerate(table.names) if i != _weight_place(table, columns)]
    if len(others) == 2:
        return others[0], others[1]
    ends = None
    if table.num_rows:
        sample = table.sample()
        ends = likely_ends([column_kind(sample[i]) for i in others], [sample[i] for i in others])
    if ends is None:
        there = ", ".join(shown(name) for name in table.names[:12])
        raise table.error(f"which columns are the ends of the edges is not certain: {_NAME_THEM}; there are {there}")
    return others[ends[0]], others[ends[1]]


def _all_numbers(table: Table) -> bool:
    return all(column_kind(cells) in ("whole", "number") for cells in table.sample())


def _weight_place(table: Table, columns: EdgeColumns) -> int | None:
    name = columns.weight
    return table.find("weight") if name is None else (table.names.index(name) if name in table.names else None)


def _named(table: Table, argument: str, name: str) -> int:
    if table.names.count(name) == 1:
        return table.names.index(name)
    if name in table.names:
        raise table.error(f"{argument} column {shown(name)} must be there once, got it {table.names.count(name)} times")
    without = " (it has no header)" if table.header is False else ""
    there = ", ".join(shown(each) for each in table.names[:20])
    raise table.error(f"{argument} column {shown(name)} must be one of the columns{without}: {there}")


def find_weight(table: Table, asked: str | None) -> int | None:
    """The column of the weights: the one asked for, which must be there, else one named weight, else None."""
    return table.find("weight") if asked is None else _named(table, "weight", asked)


__all__ = ["PAIRS", "WEIGHT_RULE", "EdgeColumns", "find_ends", "find_weight", "read_table_graph", "table_graph"]
