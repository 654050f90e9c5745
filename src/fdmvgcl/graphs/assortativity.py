"""How much neighbours resemble each other: what the graph tells, without labels, about how it should be treated."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.graphs.graph import Graph

# A dense array or a scipy.sparse.csr_array, which has no type stubs.
Table: TypeAlias = Any


def assortativity(graph: Graph, signal: Table) -> float:
    """Newman's coefficient for rows x_i of a signal (N, F): the correlation of the two ends of an edge.

    ``(Σ_ij a_ij ⟨x_i, x_j⟩ / Σ a - ‖μ‖²) / (Σ_i p_i ‖x_i‖² - ‖μ‖²)`` with ``p_i`` the share of node i's degree and
    ``μ = Σ p_i x_i``. It is 1 where neighbours are alike, 0 where they are as alike as two ends of random edges with
    the same degrees, negative where they differ; 0 for a constant signal or a graph without edges.
    """
    adjacency = graph.adjacency
    degrees = (np.asarray(adjacency.sum(axis=0)).ravel() + np.asarray(adjacency.sum(axis=1)).ravel()).astype(np.float64)
    total = degrees.sum()
    if total == 0:
        return 0.0
    share = degrees / total
    x = sparse.csr_array(signal, dtype=np.float64) if sparse.issparse(signal) else np.asarray(signal, dtype=np.float64)
    mean = x.T @ share
    along = _inner(x, adjacency @ x) / (total / 2)
    spread = share @ _squares(x) - mean @ mean
    return float((along - mean @ mean) / spread) if spread > 1e-12 * max(1.0, float(mean @ mean)) else 0.0


def _inner(first: Table, second: Table) -> float:
    return float(first.multiply(second).sum()) if sparse.issparse(first) else float(np.vdot(first, second))


def _squares(x: Table) -> NDArray[np.float64]:
    return np.asarray(x.power(2).sum(axis=1)).ravel() if sparse.issparse(x) else np.einsum("ij,ij->i", x, x)


def magnitude_assortativity(graph: Graph, table: Table) -> float:
    """Of ``log(1 + Σ_j |x_ij|)``: whether neighbours have features of like magnitude."""
    magnitude = np.log1p(np.asarray(abs(table).sum(axis=1), dtype=np.float64).reshape(-1, 1))
    return assortativity(graph, magnitude)
