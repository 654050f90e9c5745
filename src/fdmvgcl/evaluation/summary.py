"""From scores of single runs to the numbers of a table."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fdmvgcl.errors import ArgumentError, UserError

Verdict = Literal["helped", "no difference", "hurt"]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Summary:
    """Mean score of seeds × splits and its two spreads.

    Args:
        mean: mean over all runs.
        over_seeds: standard deviation over seeds of the mean over splits (the paper's ±); None for one seed.
        over_splits: standard deviation over splits of the mean over seeds; None for one split.
        seeds, splits: how many of each.
    """

    mean: float
    over_seeds: float | None
    over_splits: float | None
    seeds: int
    splits: int


@dataclass(frozen=True)
class Difference:
    """Mean of paired differences with the bounds of its interval, None where one pair says nothing of the spread."""

    mean: float
    low: float | None
    high: float | None
    pairs: int

    @property
    def verdict(self) -> Verdict:
        """``helped`` or ``hurt`` if the interval lies above or below zero."""
        if self.low is not None and self.low > 0:
            return "helped"
        if self.high is not None and self.high < 0:
            return "hurt"
        return "no difference"


def summarise(scores: ArrayLike) -> Summary:
    """Summarise scores of shape (seeds, splits)."""
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.size == 0:
        raise ArgumentError("scores", f"must have shape (seeds, splits), both at least 1, got {table.shape}")
    seeds, splits = table.shape
    return Summary(
        mean=float(table.mean()),
        over_seeds=float(table.mean(axis=1).std(ddof=1)) if seeds > 1 else None,
        over_splits=float(table.mean(axis=0).std(ddof=1)) if splits > 1 else None,
        seeds=seeds,
        splits=splits,
    )


def paired_difference(ours: ArrayLike, theirs: ArrayLike) -> Difference:
    """Mean of ``ours - theirs`` over paired runs, shape (seeds, splits) or (splits,), with its 95 % t-interval.

    Seeds and splits are both taken for draws from many: runs on one split share its luck, however many seeds they have,
    so that a hundred runs on ten splits are not a hundred witnesses. With one split the interval is for that split.
    Splits of one graph share nodes, which still leaves it somewhat too narrow: read it as a guard against claiming too
    much from noise, not as a test at an exact level.
    """
    first, second = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if first.shape != second.shape or first.size == 0:
        raise UserError(f"paired scores must have one shape and at least one pair, got {first.shape}, {second.shape}")
    differences = np.atleast_2d(first - second)
    mean, pairs = float(differences.mean()), differences.size
    if pairs == 1:
        return Difference(mean, None, None, pairs)
    from scipy.special import stdtrit  # late: slow to import

    error, freedom = _error_of_mean(differences)
    margin = float(stdtrit(freedom, 0.5 + CONFIDENCE / 2) * error)
    return Difference(mean, mean - margin, mean + margin, pairs)


def _error_of_mean(table: NDArray[np.float64]) -> tuple[float, float]:
    """Standard error of a table's mean, and its degrees of freedom, if rows and columns are random effects.

    With ``x_ij = μ + a_i + b_j + e_ij`` the mean of n × m entries has variance ``Var a / n + Var b / m + Var e / nm``.
    That is ``A + B - E``, A and B being the variances of the means of rows and of columns over n and m, and E that of
    what neither explains over nm; a negative estimate of Var a or Var b counts as 0. Degrees of freedom are
    Satterthwaite's, and not below those of rows or columns alone.
    """
    kinds = [means for means in (table.mean(axis=1), table.mean(axis=0)) if len(means) > 1]
    variances = [float(means.var(ddof=1)) / len(means) for means in kinds]
    freedoms = [len(means) - 1 for means in kinds]
    if len(kinds) == 1:
        return float(np.sqrt(variances[0])), freedoms[0]
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    unexplained = float((rest**2).sum()) / (freedoms[0] * freedoms[1]) / table.size
    variance = sum(max(each, unexplained) for each in variances) - unexplained
    if variance == 0.0:
        return 0.0, min(freedoms)
    doubt = sum(each**2 / freedom for each, freedom in zip(variances, freedoms, strict=True))
    doubt += unexplained**2 / (freedoms[0] * freedoms[1])
    return float(np.sqrt(variance)), max(variance**2 / doubt, min(freedoms))
