"""Edges that are hidden, to see whether vectors that were made without them know them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import TooSmall
from fdmvgcl.graphs.edit import without_pairs
from fdmvgcl.graphs.graph import Graph

SHARE = 0.1  # of the edges, hidden in each draw
MOST_HIDDEN = 20_000
_TRIES = 20

Pairs = NDArray[np.int64]


def joined_pairs(graph: Graph) -> sparse.csr_array:
    """1 where there is an edge in either direction, else 0, shape (N, N)."""
    pattern = graph.adjacency.copy()
    pattern.data = np.ones_like(pattern.data)
    return pattern.maximum(pattern.T).tocsr() if graph.directed else pattern


def hide_edges(graph: Graph, seed: int) -> tuple[Graph, Pairs, Pairs]:
    """The graph without a tenth of its edges, these (m, 2), and about as many pairs of the same ends with no edge.

    At most 20 000 are hidden. The pairs without an edge have the degrees of the hidden ones, so that a score that only
    tells popular nodes from others gains nothing.
    """
    joined = joined_pairs(graph)
    upper = sparse.triu(joined, k=1).tocoo()
    pairs = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    generator = np.random.default_rng(seed)
    many = min(max(round(SHARE * len(pairs)), 1), MOST_HIDDEN)
    if len(pairs) <= many:
        raise TooSmall(f"the graph has too few edges to hide any, {len(pairs)}")
    hidden = pairs[np.sort(generator.choice(len(pairs), many, replace=False))]
    others = _mixed(hidden, joined, generator)
    if not len(others):
        raise TooSmall(f"the graph has too few pairs without an edge to compare with, and {len(pairs)} edges")
    ends = np.concatenate([hidden, hidden[:, ::-1]])  # a directed edge may run either way
    return without_pairs(graph, ends[:, 0], ends[:, 1]), hidden, others


def cosines(rows: NDArray[np.floating[Any]], pairs: Pairs) -> NDArray[np.float64]:
    """Cosine of the two rows of each pair, shape (n,); 0 with a row of zeros."""
    first, second = (rows[pairs[:, end]].astype(np.float64) for end in (0, 1))
    products = np.einsum("ij,ij->i", first, second)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))


def _mixed(hidden: Pairs, joined: sparse.csr_array, generator: np.random.Generator) -> Pairs:
    """Pairs without an edge, distinct, whose ends are those of the hidden ones; fewer where there are not enough."""
    n = joined.shape[0]
    ends, found = generator.permuted(hidden, axis=1), np.empty(0, np.int64)
    for _ in range(_TRIES):
        mixed = np.sort(np.stack([ends[:, 0], generator.permutation(ends[:, 1])], axis=1), axis=1)
        free = np.asarray(joined[mixed[:, 0], mixed[:, 1]]).ravel() == 0
        free &= mixed[:, 0] != mixed[:, 1]
        found = np.unique(np.concatenate([found, mixed[free] @ np.array([n, 1])]))
        if len(found) >= len(hidden):
            break
    chosen = np.sort(generator.permutation(found)[: len(hidden)])
    return np.stack(np.divmod(chosen, n), axis=1)
