"""Average ranks of methods over data sets, with intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc

from fdmvgcl.errors import ArgumentError

CONFIDENCE = 0.95
DRAWS = 10_000


@dataclass(frozen=True)
class Ranks:
    """Average ranks of methods, 1 being the best, shape (M,), and how sure they are.

    Args:
        mean: over the data sets.
        low, high: 95 % intervals by drawing data sets with replacement.
        p_value: of Friedman's test, in the form of Iman and Davenport, that all methods are alike.
        critical: Nemenyi's difference: two methods whose average ranks are further apart differ at the 5 % level.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_value: float
    critical: float


def average_ranks(scores: ArrayLike, *, seed: int = 0) -> Ranks:
    """Of scores (data sets, methods), the larger the better; equals share their mean rank.

    Tests are those that Demšar (2006, "Statistical comparisons of classifiers over multiple data sets") recommends.
    They take data sets for independent draws from many.
    """
    from scipy.stats import rankdata, studentized_range  # late: slow to import

    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or min(table.shape) < 2 or not np.isfinite(table).all():
        rule = "must be finite, of shape (data sets, methods), both at least 2"
        raise ArgumentError("scores", f"{rule}, got shape {table.shape}")
    ranks = rankdata(-table, axis=1)
    count, methods = ranks.shape
    drawn = np.random.default_rng(seed).integers(count, size=(DRAWS, count))
    low, high = np.quantile(ranks[drawn].mean(axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    spread = float(studentized_range.ppf(CONFIDENCE, methods, np.inf)) / np.sqrt(2)
    critical = spread * np.sqrt(methods * (methods + 1) / (6 * count))
    return Ranks(ranks.mean(axis=0), low, high, _friedman(ranks), float(critical))


def _friedman(ranks: NDArray[np.float64]) -> float:
    """Of ranks (data sets, methods): as an analysis of variance of the ranks, which allows for ties."""
    count, methods = ranks.shape
    centred = ranks - (methods + 1) / 2
    between = count * float(np.square(centred.mean(axis=0)).sum())
    within = float(np.square(centred).sum()) - between
    if within <= 1e-12 * max(between, 1.0):
        return 0.0 if between > 0 else 1.0
    statistic = between * (count - 1) / within
    return float(fdtrc(methods - 1, (methods - 1) * (count - 1), statistic))
