"""t-SNE in the plane, fast enough to end a command with: repulsion by a convolution on a grid.

Attraction runs over each node's nearest neighbours only. Repulsion between all pairs is a convolution with the kernel
of the Student distribution; points are spread over the four corners of their grid cell, so that a step costs a few FFTs
whatever the number of points. Everything is deterministic.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft, sparse

NEIGHBOURS = 36
FEWEST = 10  # nodes; a smaller graph has no neighbourhoods to speak of
_PERPLEXITY_SHARE = 3  # neighbours for each unit of perplexity, as t-SNE usually has it
_SIDES = (32, 192)  # of the grid, in cells: a map grows with the root of the number of points
_GROWTH = 1.25  # the grid's box is enlarged by this factor at a time, so that its kernels serve many steps
_LONGEST_STEP = 1.0  # a point thrown far out would find nothing there to bring it back
_CHUNK = 1024


@dataclass(frozen=True)
class Pace:
    """How long to move the points: steps with exaggerated attraction first, then without."""

    gathering: int
    settling: int


FROM_NOTHING = Pace(gathering=75, settling=125)
FROM_ANOTHER = Pace(gathering=0, settling=25)


def neighbour_map(
    rows: NDArray[np.floating], start: NDArray[np.floating], pace: Pace = FROM_NOTHING
) -> NDArray[np.float64]:
    """Points (n, 2) whose neighbours are those of ``rows`` (n, c), moved from ``start`` (n, 2)."""
    ends, shares = affinities(rows)
    return _descend(ends, shares, np.array(start, dtype=np.float64), pace)


def affinities(rows: NDArray[np.floating]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """t-SNE's symmetric p over pairs of nearest neighbours: pairs (E, 2) with i < j, and p (E,) of sum one half."""
    n = len(rows)
    count = min(NEIGHBOURS, n - 1)
    nearest, squares = _nearest(np.asarray(rows, dtype=np.float64), count)
    conditional = _calibrated(squares, max(1.5, count / _PERPLEXITY_SHARE))
    matrix = sparse.csr_array((conditional.ravel(), nearest.ravel(), np.arange(0, n * count + 1, count)), shape=(n, n))
    upper = sparse.triu(matrix + matrix.T, k=1).tocoo()
    return np.stack([upper.row, upper.col], axis=1).astype(np.int64), upper.data / (2 * n)


def _nearest(rows: NDArray[np.float64], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers and squared distances of each row's nearest others, (n, count) each."""
    lengths = np.einsum("ij,ij->i", rows, rows)
    numbers, squares = [], []
    for first in range(0, len(rows), _CHUNK):
        block = rows[first : first + _CHUNK]
        distance = lengths[first : first + _CHUNK, None] + lengths - 2 * (block @ rows.T)
        distance[np.arange(len(block)), first + np.arange(len(block))] = np.inf
        chosen = np.argpartition(distance, count - 1, axis=1)[:, :count]
        numbers.append(chosen)
        squares.append(np.take_along_axis(distance, chosen, axis=1))
    return np.concatenate(numbers), np.maximum(np.concatenate(squares), 0.0)


def _calibrated(squares: NDArray[np.float64], perplexity: float) -> NDArray[np.float64]:
    """``p_{j|i} ∝ exp(-b_i d²)`` with b_i such that each row has this perplexity, by bisection of all rows at once."""
    shifted = squares - squares.min(axis=1, keepdims=True)
    scale = np.maximum(shifted.mean(axis=1, keepdims=True), np.finfo(float).tiny)
    low, high = np.full_like(scale, -20.0), np.full_like(scale, 20.0)
    goal = np.log(perplexity)
    for _ in range(24):
        middle = (low + high) / 2
        p: NDArray[np.float64] = np.exp(-np.exp(middle) * shifted / scale)
        p /= p.sum(axis=1, keepdims=True)
        entropy = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1, keepdims=True)
        low, high = np.where(entropy > goal, middle, low), np.where(entropy > goal, high, middle)
    return p


def _descend(
    ends: NDArray[np.int64], shares: NDArray[np.float64], points: NDArray[np.float64], pace: Pace
) -> NDArray[np.float64]:
    n, pairs = len(points), len(shares)
    signs = np.tile(np.array([1, -1], dtype=np.float32), pairs)
    difference = sparse.csr_array((signs, ends.ravel(), np.arange(0, 2 * pairs + 1, 2)), shape=(pairs, n))
    gather = difference.T.tocsr()
    grid = _Grid(n)
    place, shares = points.astype(np.float32), shares.astype(np.float32)
    velocity, gains = np.zeros_like(place), np.ones_like(place)
    for step in range(pace.gathering + pace.settling):
        early = step < pace.gathering
        apart = difference @ place
        pull = shares / (1 + np.einsum("ij,ij->i", apart, apart))
        gradient = gather @ (apart * pull[:, None]) * (12.0 if early else 1.0) - grid.repulsion(place)
        agrees = np.sign(gradient) == np.sign(velocity)
        gains = np.maximum(np.where(agrees, gains * 0.8, gains + 0.2), 0.01)
        velocity = (0.5 if early else 0.8) * velocity - np.float32(max(n / 3, 80.0)) * gains * gradient
        velocity = np.clip(velocity, -_LONGEST_STEP, _LONGEST_STEP)
        place = place + velocity
        place -= place.mean(axis=0)
    return place.astype(np.float64)


class _Grid:
    """Convolutions with the Student kernel and its force, on a square box that grows with the points."""

    def __init__(self, points: int) -> None:
        self.side = int(np.clip(5 * np.sqrt(points), *_SIDES))
        self.half = 0.0

    def _fit(self, reach: float) -> None:
        if reach <= self.half:
            return
        self.half = max(reach, 1e-3) * _GROWTH
        self.cell = 2 * self.half / (self.side - 3)
        offset = self.cell * np.concatenate([np.arange(self.side), np.arange(-self.side, 0)])
        student = 1 / (1 + offset[:, None] ** 2 + offset[None, :] ** 2)
        kernels = [student, student**2 * offset[:, None], student**2 * offset[None, :]]
        self.kernels = fft.rfft2(np.stack(kernels).astype(np.float32))

    def repulsion(self, points: NDArray[np.float32]) -> NDArray[np.float32]:
        """``Σ_j (1 + d²)^-2 (y_i - y_j) / Σ_kl (1 + d²)^-1``, shape (n, 2)."""
        self._fit(float(np.abs(points).max()))
        place = (points + self.half) / self.cell + 1
        centre = np.rint(place).astype(np.int64)
        t = (place - centre).T
        quadratic = np.stack([t * (t - 1) / 2, 1 - t * t, t * (t + 1) / 2])
        weights = (quadratic[:, None, 0] * quadratic[None, :, 1]).reshape(9, -1)
        size = 2 * self.side
        around = (size * np.arange(-1, 2)[:, None] + np.arange(-1, 2)).reshape(9, 1)
        cells = centre[:, 0] * size + centre[:, 1] + around
        charge = np.bincount(cells.ravel(), weights.ravel(), minlength=size * size).reshape(size, size)
        fields = fft.irfft2(self.kernels * fft.rfft2(charge.astype(np.float32)), (size, size)).reshape(3, -1)
        felt: NDArray[np.float32] = (fields[:, cells] * weights).sum(axis=1)
        total = max(float(felt[0].sum()) - len(points), 1e-12)  # less the kernel of each point with itself
        return felt[1:].T / total
