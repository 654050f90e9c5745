"""Rows matched with a graph's nodes by their ids; ids that are no node yet become nodes without edges."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, RowError, shown
from fdmvgcl.graphs.arrays import canonical_csr
from fdmvgcl.graphs.node_ids import encode_ids, id_order

if TYPE_CHECKING:
    from fdmvgcl.graphs.graph import Graph


def matched(graph: "Graph", ids: Any, count: int, fill_missing: bool) -> tuple["Graph", NDArray[np.int64]]:
    """The graph with all of these ids as nodes, and each node's row among them, -1 for none."""
    (codes,), row_ids = encode_ids({"feature_ids": ids})
    if len(codes) != count:
        raise ArgumentError("feature_ids", f"must have {count} ids, one for each row, got {len(codes)}")
    if len(row_ids) < len(codes):
        check_distinct([row_ids[code] for code in codes], "feature_ids")
    present = set(row_ids)
    missing = [node for node in graph.ids if node not in present]
    if len(missing) == graph.num_nodes and count:
        found = f"their ids are {shown(row_ids[0])} …, those of nodes {shown(graph.ids[0])} …"
        raise ArgumentError("features", f"must have rows of the graph's nodes, got none: {found}")
    if missing and not fill_missing:
        refuse_missing(missing[0], len(missing))
    grown = with_ids(graph, row_ids)
    numbers = np.array([grown.index(node) for node in row_ids], dtype=np.int64)[codes]
    rows = np.full(grown.num_nodes, -1, dtype=np.int64)
    rows[numbers] = np.arange(count)
    counts = replace(grown.counts, filled=len(missing), added=grown.num_nodes - graph.num_nodes)
    return replace(grown, counts=counts), rows


def with_ids(graph: "Graph", nodes: Sequence[str]) -> "Graph":
    """The same edges, with these ids as nodes too, and without features."""
    known = graph._numbers
    extra = [node for node in nodes if node not in known]
    bare = replace(graph, features=None, feature_names=None, encoding=None, feature_table=None)
    if not extra:
        return bare
    ids = pa.array([*graph.ids, *extra], pa.large_string())
    order = id_order(ids)
    number = np.empty(len(ids), dtype=np.int64)
    number[order] = np.arange(len(ids))
    entries = graph.adjacency.tocoo()
    coordinates = (number[entries.row], number[entries.col])
    matrix = sparse.coo_array((entries.data, coordinates), shape=(len(ids), len(ids))).tocsr()
    named = tuple(ids.take(pa.array(order)).to_pylist())
    return replace(bare, ids=named, adjacency=canonical_csr(matrix, np.float64))


def check_distinct(ids: Sequence[str], name: str) -> None:
    """Refuse ids of which one is there twice."""
    first: dict[str, int] = {}
    for row, node in enumerate(ids):
        if first.setdefault(node, row) != row:
            raise RowError(f"{name} must be distinct, got {shown(node)} twice", row)


def refuse_missing(first: str, count: int) -> None:
    """For so many nodes without features, of which this is the first."""
    others = {0: "", 1: " and 1 other"}.get(count - 1, f" and {count - 1} others")
    have = "has" if count == 1 else "have"
    raise ArgumentError("features", f"must have a row for every node; {shown(first)}{others} {have} none")
