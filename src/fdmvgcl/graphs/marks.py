"""Marks of nodes that mean the same in every graph: numbers from the structure alone, never from ids.

Pure functions of an adjacency (N, N), which may be block-diagonal: a node's marks depend on its own graph only, and not
on how nodes are numbered. Of a directed graph the marks are those of the graph without directions.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError

Adjacency: TypeAlias = sparse.csr_array
RETURN_STEPS = 8
# Names of the columns of structural_marks().
MARKS = (
    *(f"structure: {name}" for name in ("degree", "least", "greatest", "mean", "deviation")),
    *(f"structure: return {t}" for t in range(2, RETURN_STEPS + 1)),
)
# Numbers in a panel of return probabilities: 64 MB.
_PANEL = 8_000_000


def undirected(adjacency: Any) -> Adjacency:
    """Of an asymmetric pair of entries the larger one."""
    matrix = sparse.csr_array(adjacency, dtype=np.float64)
    return sparse.csr_array(matrix.maximum(matrix.T))


def local_degree_profile(adjacency: Any) -> NDArray[np.float64]:
    """Degree, then least, greatest, mean and deviation of the neighbours' degrees, shape (N, 5).

    Degrees are sums of weights. All but the first are 0 for a node without edges (Cai & Wang 2018).
    """
    matrix = undirected(adjacency)
    degree = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    profile = np.zeros((len(degree), 5))
    profile[:, 0] = degree
    count = np.diff(matrix.indptr)
    reached = count > 0
    if not reached.any():
        return profile
    starts = matrix.indptr[:-1][reached]
    near = degree[matrix.indices]
    profile[reached, 1] = np.minimum.reduceat(near, starts)
    profile[reached, 2] = np.maximum.reduceat(near, starts)
    mean = np.add.reduceat(near, starts) / count[reached]
    profile[reached, 3] = mean
    off = near - np.repeat(mean, count[reached])
    profile[reached, 4] = np.sqrt(np.add.reduceat(off**2, starts) / count[reached])
    return profile


def return_probabilities(
    adjacency: Any, owner: NDArray[np.int64] | None = None, steps: int = RETURN_STEPS
) -> NDArray[np.float64]:
    """Probability that a random walk from a node is back after 2, …, ``steps`` steps, shape (N, steps - 1).

    The diagonals of ``P^t``, exact. P is similar to the symmetric ``S = D^(-1/2) A D^(-1/2)``, so with the powers up to
    ``steps / 2`` of S all are known: ``diag(S^2a)_i = Σ_j (S^a)_ij²`` and ``diag(S^(2a+1))_i = Σ_j (S^a)_ij
    (S^(a+1))_ij``. A node without edges stays where it is: probability 1. Time grows with the sum over graphs of nodes
    times edges, so this is for many small graphs: seconds for a thousand nodes, minutes for a hundred thousand in one.

    Args:
        adjacency: (N, N), block-diagonal by ``owner``.
        owner: number of each node's graph, shape (N,); None for one graph.
        steps: the last of the walk's steps, at least 2.
    """
    if steps < 2:
        raise ArgumentError("steps", f"must be at least 2, got {steps}")
    walk = _symmetric_walk(undirected(adjacency))
    n = walk.shape[0]
    graph = np.zeros(n, dtype=np.int64) if owner is None else np.asarray(owner)
    sizes = np.bincount(graph) if n else np.zeros(0, dtype=np.int64)
    order = np.lexsort((np.arange(n), graph))
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.zeros((n, steps - 1))
    band = np.floor(np.log2(np.maximum(sizes, 1))).astype(np.int64)[graph]
    for each in np.unique(band):  # graphs of like size, so that their powers are panels of like width
        numbers = np.flatnonzero(band == each)
        found[numbers] = _diagonals(walk[numbers][:, numbers], place[numbers], steps)
    return np.clip(found, 0.0, 1.0)


def structural_marks(adjacency: Any, owner: NDArray[np.int64]) -> NDArray[np.float32]:
    """The local degree profile on a logarithmic scale, and return probabilities: the columns :data:`MARKS`, (N, 12)."""
    profile = np.log1p(local_degree_profile(adjacency))
    return np.concatenate([profile, return_probabilities(adjacency, owner)], axis=1).astype(np.float32)


def _symmetric_walk(matrix: Adjacency) -> Adjacency:
    degree = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    scale = sparse.diags_array(root)
    return sparse.csr_array(scale @ matrix @ scale + sparse.diags_array((degree == 0).astype(np.float64)))


def _diagonals(walk: Adjacency, place: NDArray[np.int64], steps: int) -> NDArray[np.float64]:
    """Diagonals of the powers 2 to ``steps`` of a block-diagonal matrix, shape (N, steps - 1).

    Column c of a panel belongs to the c-th node of every block at once, as blocks do not mix: row i of ``S^a`` times it
    is row i of its own block's power.
    """
    n, width = len(place), int(place.max()) + 1
    found = np.zeros((n, steps - 1))
    for start in range(0, width, max(1, _PANEL // n)):
        inside = np.flatnonzero((place >= start) & (place < start + max(1, _PANEL // n)))
        panel = np.zeros((n, min(width - start, max(1, _PANEL // n))))
        panel[inside, place[inside] - start] = 1.0
        power = walk @ panel
        for t in range(2, steps + 1, 2):
            found[:, t - 2] += np.einsum("ij,ij->i", power, power)
            if t == steps:
                break
            following = walk @ power
            found[:, t - 1] += np.einsum("ij,ij->i", power, following)
            power = following
    return found
