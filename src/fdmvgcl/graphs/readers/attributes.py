"""What a user knows of nodes: features, labels, splits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.arrays import Features, as_features
from fdmvgcl.graphs.feature_tables import with_table
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.readers.graphml import read_node_attributes
from fdmvgcl.graphs.readers.header import column_kind, told_by_ids, told_by_types
from fdmvgcl.graphs.readers.matrices import ids_of_rows, read_matrix
from fdmvgcl.graphs.readers.opening import content, form_of
from fdmvgcl.graphs.readers.tables import Table, open_table
from fdmvgcl.graphs.readers.text import is_number

PARTS = ("train", "val", "test")
_IDS = [frozenset({"id"}), frozenset({":id"})]


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """M rows of features: what a file holds, not yet encoded.

    Args:
        ids: M distinct ids, in the file's order.
        columns: M rows of columns of any kind; None where the file is a matrix.
        matrix: (M, F) numbers of a file that is a matrix.
        decimal_comma: whether ``1,5`` may be a number.
        where: tells a row as the file does.
    """

    ids: tuple[str, ...]
    columns: pa.Table | None
    matrix: Features | None = None
    decimal_comma: bool = True
    where: Callable[[int], str] | None = None

    def on(self, graph: Graph, *, fill_missing: bool = False, **encoding: Any) -> Graph:
        """The graph with these features; see :func:`~fdmvgcl.graphs.feature_tables.with_table`."""
        if self.matrix is not None:
            if encoding.get("columns") or encoding.get("drop"):
                raise ArgumentError("columns", "is for columns with names, and a matrix has none")
            return graph.with_features(self.matrix, ids=self.ids, fill_missing=fill_missing)
        return with_table(
            graph,
            self.columns,
            self.ids,
            fill_missing=fill_missing,
            decimal_comma=self.decimal_comma,
            where=self.where,
            **encoding,
        )


def read_features(path: StrPath, encoding: str | None = None) -> FeatureTable:
    """Features from delimited text, Parquet, Arrow or JSON lines: a column ``id``, else the first, and any others.

    A text's first line is a header if it has a cell ``id``, or a word above numbers or dates, or one that looks like
    no id. Of GraphML the attributes of nodes are taken. A SciPy ``.npz`` or Matrix Market matrix is read too; its rows
    belong to the ids ``"0"``, ``"1"``, … or ``"1"``, ``"2"``, …

    Args:
        encoding: of a text; None is UTF-8, or what a byte-order mark says.
    """
    data = content(path)
    form = form_of(path, data)
    if form in ("npz", "Matrix Market"):
        return _from_matrix(path, data, form)
    if form == "GraphML":
        ids, columns = read_node_attributes(path, data)
        return FeatureTable(ids, columns)
    table = open_table(path, _IDS, "id and a feature", _feature_header, encoding=encoding, data=data)
    key = next((place for name in ("id", ":id") if (place := table.find(name)) is not None), 0)
    columns = [i for i in range(len(table.names)) if i != key]
    names = [table.names[i] for i in columns]
    if len(set(names)) < len(names):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise table.error(f"column names must be distinct, got {repeated!r} twice")
    if not table.num_rows:
        raise table.error("holds no features")
    ids = table.ids(key)
    found = pa.table(table.values(columns), names=names)
    return FeatureTable(ids, found, None, table.decimal_comma, table.where)


def _feature_header(first: Sequence[str], table: Table) -> bool:
    if not table.num_rows:
        return any(cell and not is_number(cell) for cell in first[1:])
    sample = table.sample()
    told = told_by_types(first, [column_kind(cells) for cells in sample])
    if told is None:
        told = told_by_ids(first[:2], sample[:2], sample[:2])
    if told is None:
        named = shown(", ".join(first))
        raise table.error(f"the first line, {named}, could name the columns or be a node: call the column of ids id")
    return told


def _from_matrix(path: StrPath, data: bytes, form: str) -> FeatureTable:
    matrix = read_matrix(path, data, form)
    try:
        return FeatureTable(ids_of_rows(matrix.shape[0], form), None, as_features(matrix))
    except UserError as error:
        raise InputError(path, str(error)) from None


def read_labels(path: StrPath, encoding: str | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids and labels, as strings, in the file's order.

    Columns ``id`` (else the first) and ``label`` (else the only other); a text that names one of them has a header.
    """
    table = open_table(path, [frozenset({"id"}), frozenset({"label"})], "id and label", encoding=encoding)
    label = table.find("label")
    key = table.find("id")
    if key is None:
        key = 1 if label == 0 else 0
    if label is None:
        if len(table.names) > 2:
            there = ", ".join(shown(name) for name in table.names[:12])
            raise table.error(f"which column holds the labels is not certain: call it label; there are {there}")
        label = 1 if key == 0 else 0
    if not table.num_rows:
        raise table.error("holds no labels")
    ids = table.ids(key)
    codes, known = table.encoded(label, "label")
    return ids, tuple(known[code] for code in codes)


def read_splits(path: StrPath, encoding: str | None = None) -> dict[str, dict[str, tuple[str, ...]]]:
    """Node ids by split and part: ``splits["0"]["train"]``. Splits in the order of ids, nodes in the file's order.

    Columns ``id``, ``split``, ``part``, by name or in this order; part is train, val or test, and each split has all.
    """
    table = open_table(path, [frozenset({"id", "split", "part"})], "id, split and part", encoding=encoding)
    if len(table.names) < 3:
        raise table.error(f"has {len(table.names)} columns; expected id, split and part")
    found = [column for name in ("id", "split", "part") if (column := table.find(name)) is not None]
    key, split, part = found if len(found) == 3 else (0, 1, 2)
    if not table.num_rows:
        raise table.error("holds no splits")
    (nodes, node_ids), (splits, split_ids), (parts, part_ids) = (
        table.encoded(column, name) for column, name in ((key, "id"), (split, "split"), (part, "part"))
    )
    for row, code in enumerate(parts):
        if part_ids[code] not in PARTS:
            raise table.error(f"part must be train, val or test, got {part_ids[code]!r:.60}", row)
    _check_once(table, nodes, splits, node_ids, split_ids)
    out: dict[str, dict[str, list[str]]] = {name: {kind: [] for kind in PARTS} for name in split_ids}
    for node, name, kind in zip(nodes, splits, parts, strict=True):
        out[split_ids[name]][part_ids[kind]].append(node_ids[node])
    for name, by_part in out.items():
        empty = next((kind for kind in PARTS if not by_part[kind]), None)
        if empty is not None:
            raise table.error(f"split {name!r:.60} must have train, val and test nodes, got no {empty} nodes")
    return {name: {kind: tuple(ids) for kind, ids in by_part.items()} for name, by_part in out.items()}


def _check_once(
    table: Table, nodes: NDArray[np.int64], splits: NDArray[np.int64], node_ids: Sequence[str], split_ids: Sequence[str]
) -> None:
    """A node has one part in a split, or a test node could be a training node."""
    pairs = nodes * len(split_ids) + splits
    _, first = np.unique(pairs, return_index=True)
    repeated = np.setdiff1d(np.arange(len(pairs)), first)
    if len(repeated):
        row = int(repeated[0])
        node, split = node_ids[nodes[row]], split_ids[splits[row]]
        raise table.error(f"id {node!r:.60} must have one part in split {split!r:.60}, got another", row)
