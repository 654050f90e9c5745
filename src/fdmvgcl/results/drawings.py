"""A small graph as points in the plane: drawn distances follow those along its edges."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

ROUNDS = 40
_TINY = 1e-9


def stress_layout(adjacency: Any, rounds: int = ROUNDS) -> NDArray[np.float64]:
    """Places (n, 2) that make ``Σ (‖x_i - x_j‖ - d_ij)² / d_ij²`` small, d_ij being the steps from i to j.

    Majorisation from Gansner, Koren & North 2005, started from classical scaling of d: the same graph gives the same
    picture, up to rounding. Parts that no edge joins are kept a step further apart than the longest way within one.
    """
    n = adjacency.shape[0]
    if n < 2:
        return np.zeros((n, 2))
    matrix = sparse.csr_array(adjacency)
    steps = shortest_path(sparse.csr_array(matrix.maximum(matrix.T)), directed=False, unweighted=True)
    within = steps[np.isfinite(steps)].max(initial=0.0)
    steps[~np.isfinite(steps)] = within + 1
    weight = np.divide(1.0, steps**2, out=np.zeros_like(steps), where=steps > 0)
    total = weight.sum(axis=1)[:, None]
    places = _classical(steps)
    for _ in range(rounds):
        apart = places[:, None] - places
        length = np.sqrt((apart**2).sum(axis=-1))
        pull = np.divide(steps * weight, length, out=np.zeros_like(length), where=length > _TINY)
        places = (weight @ places + pull.sum(axis=1)[:, None] * places - pull @ places) / total
    return np.asarray(places - places.mean(axis=0))


def _classical(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Classical scaling, and a small spiral on top, which parts nodes that have the same distances to all others."""
    squares = steps**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    top = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    top *= np.where(top[np.abs(top).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    turn = np.arange(len(steps)) * 2.399963
    return np.asarray(top + 0.05 * np.stack([np.cos(turn), np.sin(turn)], axis=1))
