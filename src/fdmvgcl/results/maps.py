"""Embeddings as points in the plane: principal components, and neighbourhoods by t-SNE, one map like the next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, orthogonal_procrustes
from sklearn.utils.extmath import randomized_svd

from fdmvgcl.results.neighbour_map import FEWEST, FROM_ANOTHER, FROM_NOTHING, neighbour_map

COMPONENTS = 50
_EXACT_SIDE = 1200  # shorter side up to which the Gram matrix is decomposed; past it, randomised iteration is quicker
_NOTHING = 1e-12  # share of a row's square length below which a variance is rounding


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of rows scaled to unit length.

    Args:
        scores: (n, c), c ≤ 50, columns by falling variance.
        shares: (c,) of the whole variance; zeros where all rows are the same.
    """

    scores: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def constant(self) -> bool:
        return not self.shares.any()


def principal_components(rows: NDArray[np.floating], count: int = COMPONENTS) -> Components:
    """The first components of rows (n, d), each divided by its length first, as similarity is a cosine here."""
    x = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    x = np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)
    x -= x.mean(axis=0)
    n, d = x.shape
    count = min(count, n, d)
    total = float(np.einsum("ij,ij->", x, x))
    if total <= _NOTHING * n:
        return Components(np.zeros((n, count)), np.zeros(count))
    if min(n, d) <= _EXACT_SIDE:
        gram = x.T @ x if d <= n else x @ x.T
        side = len(gram)
        squares, vectors = eigh(gram, subset_by_index=(side - count, side - 1))
        squares, vectors = np.maximum(squares[::-1], 0.0), vectors[:, ::-1]
        scores = x @ vectors if d <= n else vectors * np.sqrt(squares)
    else:
        left, singular, _ = randomized_svd(x, count, n_iter=4, random_state=0)
        squares, scores = singular**2, left * singular
    return Components(scores * _signs(scores), squares / total)


def _signs(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """A component's sign is free: its largest entry is made positive."""
    largest = np.abs(scores).argmax(axis=0)
    return np.where(scores[largest, np.arange(scores.shape[1])] < 0, -1.0, 1.0)


def component_maps(each: Sequence[Components]) -> list[NDArray[np.float64]]:
    """The first two components of each, turned (or mirrored) to lie on those of the one before; (n, 2) each."""
    maps: list[NDArray[np.float64]] = []
    for components in each:
        points = _sized(_plane(components.scores))
        maps.append(_aligned(points, maps[-1]) if maps else points)
    return maps


def neighbour_maps(each: Sequence[Components]) -> list[NDArray[np.float64]] | None:
    """t-SNE of each, started from the one before, so that points move little; None where there are too few nodes."""
    if not each or len(each[0].scores) < FEWEST:
        return None
    maps: list[NDArray[np.float64]] = []
    moved: NDArray[np.float64] | None = None
    for components in each:
        if components.constant:
            maps.append(np.zeros((len(components.scores), 2)))
            continue
        start = 0.01 * _sized(_plane(components.scores)) if moved is None else moved
        moved = neighbour_map(components.scores, start, FROM_NOTHING if moved is None else FROM_ANOTHER)
        maps.append(_sized(moved))
    return maps


def _plane(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.pad(scores[:, :2], ((0, 0), (0, 2 - min(2, scores.shape[1]))))


def _sized(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centred, with a mean square of 1: maps side by side show shapes, not lengths."""
    points = points - points.mean(axis=0)
    size = float(np.sqrt((points**2).sum(axis=1).mean()))
    return points / size if size > 0 else points


def _aligned(points: NDArray[np.float64], to: NDArray[np.float64]) -> NDArray[np.float64]:
    turn, _ = orthogonal_procrustes(points, to)
    return np.asarray(points @ turn)
