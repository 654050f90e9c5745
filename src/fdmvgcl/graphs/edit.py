"""A graph changed into another: nodes and edges more or fewer, ids kept. What is changed is left as it was."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, UserError, shown
from fdmvgcl.graphs.arrays import FAINTEST, Features, as_features, assemble_adjacency, canonical_csr, check_weights
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.matching import with_ids
from fdmvgcl.graphs.node_ids import id_order, suggestion
from fdmvgcl.graphs.provenance import Counts


def numbers_of(graph: Graph, ids: Iterable[str]) -> NDArray[np.int64]:
    """Numbers of nodes, or an error that says what an unknown id was probably meant to be."""
    numbers = []
    for node in ids:
        try:
            numbers.append(graph.index(node))
        except KeyError:
            raise UserError(f"the graph has no node {shown(node)}{suggestion(node, graph.ids)}") from None
    return np.array(numbers, dtype=np.int64)


def union(first: Graph, second: Graph) -> Graph:
    """Nodes and edges of both. An edge in both counts once, with its larger weight.

    A node's features are those of ``first``, if it is there; both graphs have the same feature columns, or none.
    """
    if first.directed != second.directed:
        raise UserError("both graphs must be directed, or both undirected")
    if (first.features is None) != (second.features is None):
        raise UserError("both graphs must have features, or neither")
    known = set(first.ids)
    new = [number for number, node in enumerate(second.ids) if node not in known]
    rows = None if second.features is None else second.features[new]
    grown = with_nodes(first, [second.ids[i] for i in new], rows, second.feature_names)
    numbers = numbers_of(grown, second.ids)
    old, added = grown.adjacency.tocoo(), second.adjacency.tocoo()
    return with_adjacency(
        grown,
        np.concatenate([old.row, numbers[added.row]]),
        np.concatenate([old.col, numbers[added.col]]),
        np.concatenate([old.data, added.data]),
    )


def with_edges(graph: Graph, source: Sequence[str], target: Sequence[str], weight: Any = None) -> Graph:
    """The graph with these edges between nodes of it; one that is there already takes its new weight.

    Args:
        source, target: ids of the ends, shape (E,).
        weight: (E,) numbers, None for ones. An edge listed twice counts once, with the larger; 0 is no edge.
    """
    tails, heads = _ends(graph, source, target)
    values = np.ones(len(tails)) if weight is None else check_weights(weight, len(tails))
    row, col, data = _entries_without(graph, tails, heads)
    return with_adjacency(
        graph, np.concatenate([row, tails]), np.concatenate([col, heads]), np.concatenate([data, values])
    )


def without_edges(graph: Graph, source: Sequence[str], target: Sequence[str]) -> Graph:
    """The graph without these edges, all of which it must have; their nodes stay."""
    tails, heads = _ends(graph, source, target)
    missing = np.flatnonzero(np.asarray(graph.adjacency[tails, heads]).ravel() == 0) if len(tails) else tails
    if len(missing):
        first = int(missing[0])
        joined = "from" if graph.directed else "between"
        to = "to" if graph.directed else "and"
        raise UserError(f"the graph has no edge {joined} {shown(source[first])} {to} {shown(target[first])}")
    return without_pairs(graph, tails, heads)


def without_pairs(graph: Graph, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> Graph:
    """The graph without the edges between these node numbers, shape (E,), as far as it has them."""
    return with_adjacency(graph, *_entries_without(graph, tails, heads))


def without_any_edges(graph: Graph) -> Graph:
    """The nodes alone, with their features."""
    none = np.empty(0, np.int64)
    return with_adjacency(graph, none, none, np.empty(0))


def with_nodes(graph: Graph, ids: Sequence[str], features: Any = None, names: Sequence[str] | None = None) -> Graph:
    """The graph with these nodes, without edges where they are new.

    Args:
        ids: M distinct ids; the rows of nodes that are there already take the place of theirs.
        features: (M, F), if the graph has features, and only then.
        names: of the columns, matched with the graph's own where both have them.
    """
    if graph.features is None:
        if features is not None:
            raise ArgumentError("features", "cannot be given: the graph has none")
        return with_ids(graph, ids)
    if features is None:
        if all(node in graph._numbers for node in ids):
            return graph
        raise ArgumentError("features", f"must be given for new nodes: the graph has {graph.num_features} columns")
    rows = aligned(as_features(features), names, graph)
    if len(ids) != rows.shape[0]:
        raise ArgumentError("ids", f"must have {rows.shape[0]} ids, one for each row, got {len(ids)}")
    replaced = set(ids)
    kept = [number for number, node in enumerate(graph.ids) if node not in replaced]
    table = stacked(graph.features[kept], rows)
    made = graph.with_features(table, ids=[*(graph.ids[i] for i in kept), *ids], names=graph.feature_names)
    return replace(made, encoding=graph.encoding)


def without_nodes(graph: Graph, ids: Sequence[str]) -> Graph:
    """The graph without these nodes and their edges."""
    gone = np.zeros(graph.num_nodes, dtype=bool)
    gone[numbers_of(graph, ids)] = True
    if gone.all():
        raise UserError(f"at least one node must stay, got all {graph.num_nodes} to take away")
    return _of_numbers(graph, np.flatnonzero(~gone))


def subgraph(graph: Graph, ids: Sequence[str]) -> Graph:
    """These nodes and the edges between them."""
    return _of_numbers(graph, np.unique(numbers_of(graph, ids)))


def scaled(graph: Graph, factor: float) -> Graph:
    """The graph with all weights multiplied by a positive factor; an edge that fades away is none."""
    if not 0 < factor < np.inf:
        raise ArgumentError("factor", f"must be finite and above 0, got {factor}")
    adjacency = graph.adjacency * factor
    adjacency.data[adjacency.data < FAINTEST] = 0
    return replace(graph, adjacency=canonical_csr(adjacency, np.float64))


def at_least(graph: Graph, other: Graph) -> Graph:
    """The graph, each edge with the weight that it has in another where that is larger; nodes go by their ids."""
    numbers = np.array([other._numbers.get(node, -1) for node in graph.ids], dtype=np.int64)
    entries = graph.adjacency.tocoo()
    tails, heads = numbers[entries.row], numbers[entries.col]
    both = np.flatnonzero((tails >= 0) & (heads >= 0))
    adjacency = graph.adjacency.copy()
    if len(both):
        known = np.asarray(other.adjacency[tails[both], heads[both]]).ravel()
        adjacency.data[both] = np.maximum(adjacency.data[both], known)
    return replace(graph, adjacency=adjacency)


def aligned(values: Features, names: Sequence[str] | None, graph: Graph) -> Features:
    """Columns of features in the order of the graph's: by name, where both have names."""
    if values.shape[1] != graph.num_features:
        raise UserError(f"must have {graph.num_features} feature columns, got {values.shape[1]}")
    if names is None or graph.feature_names is None or tuple(names) == graph.feature_names:
        return values
    position = {name: i for i, name in enumerate(names)}
    missing = next((name for name in graph.feature_names if name not in position), None)
    if missing is not None:
        raise UserError(f"must have a feature column {shown(missing)}, as the training graph has")
    return values[:, [position[name] for name in graph.feature_names]]


def stacked(above: Features, below: Features) -> Features:
    """Rows above rows; sparse if either is."""
    if isinstance(above, np.ndarray) and isinstance(below, np.ndarray):
        return np.concatenate([above, below])
    return sparse.csr_array(sparse.vstack([sparse.csr_array(above), sparse.csr_array(below)]))


def _ends(graph: Graph, source: Sequence[str], target: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if len(source) != len(target):
        raise UserError(f"source and target must have the same length, got {len(source)} and {len(target)}")
    return numbers_of(graph, source), numbers_of(graph, target)


def _entries_without(
    graph: Graph, tails: NDArray[np.int64], heads: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Row, column and weight of the adjacency's entries but for those of these edges."""
    entries, n = graph.adjacency.tocoo(), graph.num_nodes
    row, col = entries.row.astype(np.int64), entries.col.astype(np.int64)
    gone = tails * n + heads if graph.directed else np.concatenate([tails * n + heads, heads * n + tails])
    kept = ~np.isin(row * n + col, gone)
    return row[kept], col[kept], entries.data[kept]


def with_adjacency(graph: Graph, row: NDArray[np.int64], col: NDArray[np.int64], data: NDArray[np.float64]) -> Graph:
    """The same nodes with other edges: numbers of their ends and weights, each of shape (E,)."""
    adjacency, _ = assemble_adjacency(row.astype(np.int64), col.astype(np.int64), data, graph.num_nodes, graph.directed)
    return replace(graph, adjacency=adjacency, counts=Counts(), origin=None)


def _of_numbers(graph: Graph, numbers: NDArray[np.int64]) -> Graph:
    names = pa.array([graph.ids[i] for i in numbers], pa.large_string())
    # Of ids that are numbers and names the numbers alone are in another order.
    kept = numbers[id_order(names)]
    features = graph.features
    if features is not None:
        features = features[kept] if isinstance(features, np.ndarray) else canonical_csr(features[kept], np.float32)
    return replace(
        graph,
        ids=tuple(graph.ids[i] for i in kept),
        adjacency=canonical_csr(graph.adjacency[kept][:, kept], np.float64),
        features=features,
        feature_table=None if graph.feature_table is None else graph.feature_table.take(pa.array(kept)),
        counts=Counts(),
        origin=None,
    )
