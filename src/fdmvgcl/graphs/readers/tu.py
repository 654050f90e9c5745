"""The TU collection's text files: many graphs in one folder, with a label each."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, RowError
from fdmvgcl.files import StrPath, file_size
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.provenance import Origin, counted


@dataclass(frozen=True, eq=False)
class TUGraphs:
    """A folder's graphs, their ids being their numbers there, from ``"1"``, and their labels, None without any."""

    graphs: GraphSet
    labels: tuple[str, ...] | None


def is_tu_folder(path: StrPath) -> bool:
    """Whether the folder, or ``raw`` in it, holds a file ``NAME_A.txt``."""
    return any(Path(folder).is_dir() and any(Path(folder).glob("*_A.txt")) for folder in _places(path))


def read_tu(path: StrPath, *, attributes: bool = True) -> TUGraphs:
    """Read ``NAME_A.txt``, ``NAME_graph_indicator.txt`` and what there is of labels and attributes.

    Rows of the edges may stand in any order. Node labels become columns of zeros and ones, one for each value that
    occurs; edge labels and edge attributes are left out.

    Args:
        path: the folder, or the one that holds it as ``raw``.
        attributes: take the columns of ``NAME_node_attributes.txt`` as features too, after those of the labels.
    """
    stem = _stem(path)
    owner = _column(f"{stem}_graph_indicator.txt") - 1
    if not len(owner):
        raise InputError(f"{stem}_graph_indicator.txt", "must name the graph of at least one node")
    labels = _column(f"{stem}_graph_labels.txt") if Path(f"{stem}_graph_labels.txt").exists() else None
    count = int(owner.max()) + 1 if labels is None else len(labels)
    _check_owner(f"{stem}_graph_indicator.txt", owner, count)
    ends = _edges(f"{stem}_A.txt", len(owner))
    features, names = _features(stem, len(owner), attributes)
    try:
        graphs = GraphSet.from_numbers(
            [str(i + 1) for i in range(count)],
            owner,
            ends[:, 0],
            ends[:, 1],
            nodes=[str(i + 1) for i in range(len(owner))],
            features=features,
            feature_names=names,
        )
    except RowError as error:
        raise InputError(f"{stem}_A.txt", error.rule, error.row + 1) from None
    unused = tuple(kind for kind in _unused(stem, attributes) if Path(f"{stem}_{kind}.txt").exists())
    remarks = (f"not used: {', '.join(kind.replace('_', ' ') for kind in unused)}",) if unused else ()
    made = GraphSet(graphs.ids, graphs.block, Origin("TU collection", remarks=remarks))
    return TUGraphs(made, None if labels is None else tuple(map(str, labels.tolist())))


def _places(path: StrPath) -> tuple[Path, Path]:
    return Path(path), Path(path) / "raw"


def _stem(path: StrPath) -> str:
    """The files' names up to ``_A.txt``."""
    if not Path(path).is_dir():
        raise InputError(path, "must be a folder of the TU collection's files")
    found = [file for folder in _places(path) for file in sorted(folder.glob("*_A.txt"))]
    if len(found) != 1:
        raise InputError(path, f"must hold one file NAME_A.txt, got {counted(len(found), 'such file', 'such files')}")
    return os.fspath(found[0]).removesuffix("_A.txt")


def _unused(stem: str, attributes: bool) -> tuple[str, ...]:
    return ("edge_labels", "edge_attributes", *(() if attributes else ("node_attributes",)))


def _table(path: str, dtype: type[np.generic], *, may_be_empty: bool = False) -> NDArray[Any]:
    """Rows of numbers, separated by commas, shape (rows, columns)."""
    if may_be_empty and Path(path).is_file() and not Path(path).stat().st_size:
        return np.empty((0, 2), dtype)
    file_size(path)
    try:
        with open(path, encoding="utf-8") as lines:
            return np.loadtxt(lines, dtype, delimiter=",", ndmin=2, comments=None)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(path, f"must hold lines of numbers ({' '.join(str(error).split())[:120]})") from None


def _column(path: str) -> NDArray[np.int64]:
    found = _table(path, np.int64)
    if found.shape[1] != 1:
        raise InputError(path, f"must hold one number a line, got {found.shape[1]}")
    return found[:, 0]


def _check_owner(path: str, owner: NDArray[np.int64], count: int) -> None:
    outside = np.flatnonzero((owner < 0) | (owner >= count))
    if len(outside):
        line = int(outside[0]) + 1
        raise InputError(path, f"must hold graph numbers from 1 to {count}, got {owner[outside[0]] + 1}", line)
    without = np.flatnonzero(np.bincount(owner, minlength=count) == 0)
    if len(without):
        raise InputError(path, f"must name a node of every graph; graph {without[0] + 1} has none")


def _edges(path: str, nodes: int) -> NDArray[np.int64]:
    ends = _table(path, np.int64, may_be_empty=True) - 1
    if ends.shape[1] != 2:
        raise InputError(path, f"must hold two node numbers a line, got {ends.shape[1]}")
    outside = np.flatnonzero(((ends < 0) | (ends >= nodes)).any(axis=1))
    if len(outside):
        row = int(outside[0])
        told = ", ".join(str(end + 1) for end in ends[row])
        raise InputError(path, f"must hold node numbers from 1 to {nodes}, got {told}", row + 1)
    return ends


def _features(stem: str, nodes: int, attributes: bool) -> tuple[NDArray[np.float32] | None, tuple[str, ...] | None]:
    """Labels as columns of zeros and ones, then attributes as they are."""
    tables: list[NDArray[np.float32]] = []
    names: list[str] = []
    if Path(f"{stem}_node_labels.txt").exists():
        labels = _rows_of_nodes(f"{stem}_node_labels.txt", np.int64, nodes)
        for column, values in enumerate(labels.T):
            known, codes = np.unique(values, return_inverse=True)
            tables.append(np.eye(len(known), dtype=np.float32)[codes])
            prefix = "label" if labels.shape[1] == 1 else f"label{column}"
            names += [f"{prefix}={value}" for value in known]
    if attributes and Path(f"{stem}_node_attributes.txt").exists():
        values = _rows_of_nodes(f"{stem}_node_attributes.txt", np.float64, nodes).astype(np.float32)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
            raise InputError(f"{stem}_node_attributes.txt", "must hold finite numbers (in float32)", row + 1)
        tables.append(values)
        names += [f"attribute{column}" for column in range(values.shape[1])]
    return (np.concatenate(tables, axis=1), tuple(names)) if tables else (None, None)


def _rows_of_nodes(path: str, dtype: type[np.generic], nodes: int) -> NDArray[Any]:
    found = _table(path, dtype)
    if len(found) != nodes:
        raise InputError(path, f"must have a line for each of {nodes} nodes, got {len(found)}")
    return found
