"""Pairs of nodes: which are edges, which may be flipped, and random ones. A pair is (u, v) with u < v."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph

Pairs = NDArray[np.int64]

# Where fewer pairs than this are free for each that is wanted all are listed; else they are drawn, and drawn again.
_LISTED = 8


def num_pairs(nodes: int) -> int:
    """Pairs of distinct nodes."""
    return nodes * (nodes - 1) // 2


def all_pairs(nodes: int) -> Pairs:
    """Every pair, ascending, shape (N (N - 1) / 2, 2)."""
    return np.stack(np.triu_indices(nodes, 1), axis=1).astype(np.int64)


def edge_pairs(graph: Graph) -> Pairs:
    """Edges of an undirected graph, ascending, shape (E, 2)."""
    check_undirected(graph)
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.adjacency.indptr))
    above = rows < graph.adjacency.indices
    return np.stack([rows[above], graph.adjacency.indices[above]], axis=1).astype(np.int64)


def check_undirected(graph: Graph) -> None:
    """Attacks flip undirected edges."""
    if graph.directed:
        raise ArgumentError("graph", "must be undirected: a flip is of an undirected edge; got a directed graph")


def keys_of(pairs: Pairs, nodes: int) -> NDArray[np.int64]:
    """One number a pair, in the order of pairs, shape (M,)."""
    return pairs[:, 0] * nodes + pairs[:, 1]


def are_edges(graph: Graph, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs are edges, shape (M,)."""
    return np.isin(keys_of(pairs, graph.num_nodes), keys_of(edge_pairs(graph), graph.num_nodes))


def without_new_isolates(graph: Graph, flips: Pairs) -> Pairs:
    """The flips, in the order given, but for deletions that would take a node's last edge."""
    degrees = np.diff(graph.adjacency.indptr).tolist()
    kept = []
    for (u, v), deleted in zip(flips.tolist(), are_edges(graph, flips).tolist(), strict=True):
        if deleted:
            if min(degrees[u], degrees[v]) < 2:
                continue
            degrees[u] -= 1
            degrees[v] -= 1
        kept.append((u, v))
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def draw_pairs(nodes: int, count: int, rng: np.random.Generator, *, without: Pairs | None = None) -> Pairs:
    """``count`` distinct pairs drawn uniformly, none of them in ``without``, in the order drawn."""
    taken = np.empty(0, dtype=np.int64) if without is None else np.unique(keys_of(without, nodes))
    if count > num_pairs(nodes) - len(taken):
        free = num_pairs(nodes) - len(taken)
        raise ArgumentError("budget", f"must be at most {free}, the pairs of nodes to choose from, got {count}")
    if num_pairs(nodes) - len(taken) < _LISTED * count:
        pairs = all_pairs(nodes)
        free_pairs = pairs[~np.isin(keys_of(pairs, nodes), taken)]
        return free_pairs[rng.choice(len(free_pairs), count, replace=False)]
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        ends = np.sort(rng.integers(0, nodes, (2 * (count - len(found)) + 16, 2)), axis=1)
        keys = keys_of(ends[ends[:, 0] < ends[:, 1]], nodes)
        found = _first_of_each(np.concatenate([found, keys[~np.isin(keys, taken)]]))
    return np.stack(np.divmod(found[:count], nodes), axis=1)


def pairs_of(flips: Iterable[tuple[int, int]]) -> Pairs:
    """Any listing of pairs as an array, the smaller number first."""
    return np.sort(np.array(list(flips), dtype=np.int64).reshape(-1, 2), axis=1)


def _first_of_each(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    _, first = np.unique(keys, return_index=True)
    return keys[np.sort(first)]
