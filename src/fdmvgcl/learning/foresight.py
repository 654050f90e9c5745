"""How much of the features to keep undiffused, told without labels: by what foretells features best.

Half of the columns, drawn at random, are diffused with some share of themselves kept, and a ridge regression foretells
the other half's undiffused principal components from them, on nodes that it was not fitted to. Where neighbours share
what makes features what they are, diffusion averages noise away and foretells more; where they do not, it blurs, and a
node's own features foretell more. Features that foretell nothing of each other, at any share, are noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA
from torch import Tensor

from fdmvgcl.graphs.operators import table_of

SHARES = (0.0, 0.1, 0.3, 1.0, 10.0)

# The least share that foretells so much of what the best one does is kept: diffusion costs nothing there, and the edges
# tell what features cannot.
ENOUGH = 0.99

DRAWS = 4
SEEN, FORETOLD = 128, 32  # principal components of the halves
RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
FEWEST_NODES, _MOST_ROWS = 10, 20_000

# From so many nodes on, components of few columns are taken of their covariance: one pass over the rows in place of a
# decomposition of all, whose last digits nobody needs.
_MANY, _NARROW = 100_000, 1000

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Foresight:
    """What each share foretells, as a part of the variance (at most 1; 0 or less for nothing)."""

    told: tuple[float, ...]

    @property
    def best(self) -> float:
        return max(self.told)

    @property
    def share(self) -> float:
        """The least share that foretells nearly as much as any."""
        return next(share for share, told in zip(SHARES, self.told, strict=True) if told >= ENOUGH * self.best)


def foresight(x: Tensor, diffuse: Callable[[Tensor], Tensor]) -> Foresight:
    """Foresight of features X (N, F) with F ≥ 2, dense or CSR; ``diffuse`` maps (N, d) to (N, d).

    The mean of a few draws of halves, always the same: a choice for a graph must not depend on a model's seed.
    """
    table = table_of(x)
    told = np.mean([_drawn(table, diffuse, np.random.default_rng(draw)) for draw in range(DRAWS)], axis=0)
    return Foresight(tuple(told.tolist()))


def _drawn(table: Any, diffuse: Callable[[Tensor], Tensor], rng: np.random.Generator) -> list[float]:
    """What each share foretells by one draw of halves."""
    columns = rng.permutation(table.shape[1])
    halves = columns[: len(columns) // 2], columns[len(columns) // 2 :]
    seen, foretold = (_components(table[:, half], limit) for half, limit in zip(halves, (SEEN, FORETOLD), strict=True))
    blurred = diffuse(torch.from_numpy(seen)).numpy()
    rows = rng.permutation(len(seen))[:_MOST_ROWS]
    return [_foretold((blurred + share * seen)[rows], foretold[rows]) for share in SHARES]


def _components(table: Any, limit: int) -> NDArray[np.float32]:
    """The principal components (N, k) of some columns: all of them where they are few."""
    with np.errstate(invalid="ignore", divide="ignore"):  # where nothing varies it divides by no variance
        if table.shape[0] >= _MANY and table.shape[1] <= _NARROW:
            found = PCA(min(limit, table.shape[1]), svd_solver="covariance_eigh").fit_transform(table)
        elif min(table.shape) <= limit:
            found = PCA(svd_solver="full").fit_transform(table.toarray() if sparse.issparse(table) else table)
        else:
            found = PCA(limit, svd_solver="arpack", random_state=0).fit_transform(table)
    return np.ascontiguousarray(found, dtype=np.float32)


def _foretold(seen: NDArray[np.float32], goal: NDArray[np.float32]) -> float:
    """Part of the goal's variance that ridge regression on unit rows explains, each half of the nodes by the other."""
    rows = seen.astype(np.float64)
    rows -= rows.mean(axis=0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths > 0, lengths, 1)
    half = len(rows) // 2
    errors, total = np.zeros(len(RIDGES)), 0.0
    for fit, check in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        centre, level = rows[fit].mean(axis=0), goal[fit].mean(axis=0, dtype=np.float64)
        known, wanted = rows[fit] - centre, goal[fit] - level
        gram, right = known.T @ known, known.T @ wanted
        unit = gram.trace() / len(gram) or 1.0
        missed = goal[check] - level
        total += float(np.square(missed).sum())
        for i, ridge in enumerate(RIDGES):
            weights = np.linalg.solve(gram + ridge * unit * np.eye(len(gram)), right)
            errors[i] += np.square(missed - (rows[check] - centre) @ weights).sum()
    return float(1 - errors.min() / total) if total > 0 else 0.0
