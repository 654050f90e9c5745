"""What a user knows of nodes: features, labels, splits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.arrays import Features, as_features
from fdmvgcl.graphs.readers.matrices import read_matrix
from fdmvgcl.graphs.readers.tables import Table, open_table
from fdmvgcl.graphs.readers.text import is_number

PARTS = ("train", "val", "test")
_FEATURE_RULE = "features must be finite numbers (in float32)"


@dataclass(frozen=True)
class FeatureTable:
    """M rows of features: ``ids`` (M distinct ids, in the file's order), ``values`` (M, F), ``names`` (F, or None)."""

    ids: tuple[str, ...]
    values: Features
    names: tuple[str, ...] | None


def read_features(path: StrPath) -> FeatureTable:
    """Features from delimited text or Parquet: a column ``id``, else the first, and numbers.

    The first line of a text is a header if it has a cell ``id``, or a cell past the first that is neither empty nor a
    number. A SciPy ``.npz`` matrix is read too; its rows belong to the ids ``"0"``, ``"1"``, …
    """
    if str(path).lower().endswith(".npz"):
        return _from_matrix(path)
    table = open_table(path, [frozenset({"id"})], "id and a number", _has_word)
    key = table.find("id") or 0
    columns = [i for i in range(len(table.names)) if i != key]
    names = tuple(table.names[i] for i in columns)
    if len(set(names)) < len(names):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise table.error(f"column names must be distinct, got {repeated!r} twice")
    if not table.num_rows:
        raise table.error("holds no features")
    ids = table.ids(key)
    numbers = table.numbers(columns, _FEATURE_RULE)
    _check_finite(table, columns, numbers)
    return FeatureTable(ids, as_features(numbers), None if table.header is False else names)


def _has_word(cells: Sequence[str]) -> bool:
    return any(cell and not is_number(cell) for cell in cells[1:])


def _check_finite(table: Table, columns: Sequence[int], numbers: NDArray[np.float64]) -> None:
    with np.errstate(over="ignore"):
        finite = np.isfinite(numbers.astype(np.float32))
    if not finite.all():
        row, position = np.argwhere(~finite)[0]
        raise table.number_error(_FEATURE_RULE, int(row), columns[position], float(numbers[row, position]))


def _from_matrix(path: StrPath) -> FeatureTable:
    matrix = read_matrix(path)
    try:
        return FeatureTable(tuple(map(str, range(matrix.shape[0]))), as_features(matrix), None)
    except ValueError as error:
        raise InputError(path, str(error)) from None


def read_labels(path: StrPath) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids and labels, as strings, in the file's order.

    Columns ``id`` (else the first) and ``label`` (else the first other); a text that names one of them has a header.
    """
    table = open_table(path, [frozenset({"id"}), frozenset({"label"})], "id and label")
    label = table.find("label")
    key = table.find("id")
    if key is None:
        key = 1 if label == 0 else 0
    if label is None:
        label = 1 if key == 0 else 0
    if not table.num_rows:
        raise table.error("holds no labels")
    ids = table.ids(key)
    codes, known = table.encoded(label, "label")
    return ids, tuple(known[code] for code in codes)


def read_splits(path: StrPath) -> dict[str, dict[str, tuple[str, ...]]]:
    """Node ids by split and part: ``splits["0"]["train"]``. Splits in the order of ids, nodes in the file's order.

    Columns ``id``, ``split``, ``part``, by name or in this order; part is train, val or test, and each split has all.
    """
    table = open_table(path, [frozenset({"id", "split", "part"})], "id, split and part")
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
