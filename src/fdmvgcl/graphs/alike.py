"""Joins between nodes of like features, beside a graph's own edges: what someone who flips edges cannot touch.

Each node is joined to those whose features are most like its own. A flipped edge then stands beside many joins that
stay where they are, since they come from features alone. No label is read, and a graph that was never seen before gets
its joins in the same way.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler, normalize

from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.arrays import Features, canonical_csr
from fdmvgcl.graphs.graph import Graph

# How many nodes each is joined to, and the principal components of the features in which these are looked for.
NEAREST, COMPONENTS = 15, 30

_BLOCK = 2048  # rows that are compared with all others at a time


def with_joins(graph: Graph, weight: float) -> Graph:
    """The graph with joins beside its edges, of this weight where two nodes are among each other's nearest, else half.

    Args:
        graph: undirected, with features.
        weight: of a join, beside edges of weight 1; 0 leaves the graph as it is.
    """
    if not weight:
        return graph
    if graph.features is None:
        raise ArgumentError("joins", f"must be 0 for a graph without features: they join like nodes; got {weight}")
    if graph.directed:
        raise ArgumentError("joins", f"must be 0 for a directed graph: they have no direction; got {weight}")
    joined = graph.adjacency + weight * joins_of(graph.features)
    return replace(graph, adjacency=canonical_csr(sparse.csr_array(joined), np.float64))


def joins_of(features: Features) -> sparse.csr_array:
    """1 for two nodes among each other's nearest, 1/2 where only one is the other's, symmetric, shape (N, N)."""
    return _joins(_Table(features))


@dataclass(frozen=True, eq=False)
class _Table:
    """Features that are told apart by which object they are: graphs with other edges share theirs."""

    features: Features

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Table) and self.features is other.features

    def __hash__(self) -> int:
        return id(self.features)


@lru_cache(maxsize=1)
def _joins(table: _Table) -> sparse.csr_array:
    rows = principal_rows(table.features, COMPONENTS)
    low, high = nearest(rows, min(NEAREST, len(rows) - 1))
    half = sparse.coo_array((np.full(len(low), 0.5), (low, high)), shape=(len(rows), len(rows))).tocsr()
    return sparse.csr_array(half + half.T)


def principal_rows(features: Features, components: int) -> NDArray[np.float32]:
    """Unit rows in which rare and frequent columns count alike, on their principal components, shape (N, r).

    Columns are divided by their deviations, rows by their lengths, the mean row is subtracted, and what is left of a
    row after projection gets unit length again. A row of zeros is like no other.
    """
    table = normalize(StandardScaler(with_mean=False).fit_transform(features)).astype(np.float32)
    if min(table.shape) > components + 1:
        found = PCA(components, svd_solver="arpack", random_state=0).fit_transform(table)
    else:
        dense = np.asarray(table.toarray() if sparse.issparse(table) else table)
        found = dense - dense.mean(axis=0)
    found[np.asarray(abs(table).sum(axis=1)).ravel() == 0] = 0
    return np.asarray(normalize(found), dtype=np.float32)


def nearest(rows: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Each row with the ``count`` others of largest product above 0, shape (2, ≤ N count)."""
    ends = [np.empty((2, 0), dtype=np.int64)]
    for first in range(0, len(rows) if count else 0, _BLOCK):
        near = rows[first : first + _BLOCK] @ rows.T
        own = np.arange(len(near))
        near[own, first + own] = -np.inf
        chosen = np.argpartition(-near, count - 1, axis=1)[:, :count]
        alike = np.take_along_axis(near, chosen, axis=1) > 0
        ends.append(np.stack([np.repeat(first + own, count)[alike.ravel()], chosen[alike]]))
    return np.concatenate(ends, axis=1)
