"""Where a graph's frequencies lie: the share of eigenvalues of its Laplacian in each part of [0, 2]."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.graphs.operators import Operator

BINS = 41  # odd: the eigenvalue 1, often a multiple one, lies within a bin and not on an edge
EXACT_NODES = 1200
_MOMENTS = 256
_PROBED_ENTRIES = 4_000_000  # entries of the matrix times probe vectors in one product
_PROBES = 16


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A histogram of eigenvalues.

    Args:
        edges: of the bins, ascending from 0 to 2, shape (B + 1,).
        shares: of the eigenvalues in each bin, sum 1, shape (B,).
        method: ``"exact"``, or ``"estimate"`` by the kernel polynomial method, which blurs by about 0.01.
    """

    edges: NDArray[np.float64]
    shares: NDArray[np.float64]
    method: Literal["exact", "estimate"]


def graph_spectrum(operator: Operator, bins: int = BINS) -> Spectrum | None:
    """Of ``L = I - Ā``; None for a directed operator, whose eigenvalues are complex."""
    if operator.directed:
        return None
    rows, columns, values = operator.arrays(np.dtype(np.float64))
    matrix = sparse.csr_array((values, columns, rows), shape=(operator.num_nodes,) * 2)
    edges = np.linspace(0, 2, bins + 1)
    if operator.num_nodes <= EXACT_NODES:
        frequencies = np.clip(1 - np.linalg.eigvalsh(matrix.toarray()), 0, 2)
        return Spectrum(edges, np.histogram(frequencies, edges)[0] / operator.num_nodes, "exact")
    return Spectrum(edges, _estimated(matrix, edges), "estimate")


def _estimated(matrix: sparse.csr_array, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares in bins from Chebyshev moments of ``-Ā``, damped by Jackson's kernel, each bin integrated exactly."""
    moments = _moments(matrix) * _jackson(_MOMENTS)
    order = np.arange(1, _MOMENTS)
    angle = np.arccos(np.clip(edges - 1, -1, 1))
    below = 1 - angle / np.pi - 2 / np.pi * (np.sin(order * angle[:, None]) @ (moments[1:] / order))
    shares: NDArray[np.float64] = np.maximum(np.diff(below), 0.0)
    return np.asarray(shares / shares.sum())


def _moments(matrix: sparse.csr_array) -> NDArray[np.float64]:
    """``tr T_k(-Ā) / N`` by random signs; two moments from each product, as ``2 T_k² = T_2k + 1``."""
    n = matrix.shape[0]
    probes = int(np.clip(_PROBED_ENTRIES // max(1, matrix.nnz), 1, _PROBES))
    start = np.random.default_rng(0).choice([-1.0, 1.0], size=(n, probes))
    moments = np.empty(_MOMENTS)
    previous, current = start, -(matrix @ start)
    moments[0], moments[1] = 1.0, np.vdot(start, current) / start.size
    for k in range(1, _MOMENTS // 2):
        moments[2 * k] = 2 * np.vdot(current, current) / start.size - 1
        previous, current = current, -2 * (matrix @ current) - previous
        moments[2 * k + 1] = 2 * np.vdot(current, previous) / start.size - moments[1]
    return moments


def _jackson(count: int) -> NDArray[np.float64]:
    k, step = np.arange(count), np.pi / (count + 1)
    return np.asarray((count - k + 1) * np.cos(k * step) + np.sin(k * step) / np.tan(step)) / (count + 1)
