"""From scores of single runs to the numbers of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t

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
        raise ValueError(f"scores must have shape (seeds, splits), both at least 1, got {table.shape}")
    seeds, splits = table.shape
    return Summary(
        mean=float(table.mean()),
        over_seeds=float(table.mean(axis=1).std(ddof=1)) if seeds > 1 else None,
        over_splits=float(table.mean(axis=0).std(ddof=1)) if splits > 1 else None,
        seeds=seeds,
        splits=splits,
    )


def paired_difference(ours: Sequence[float] | ArrayLike, theirs: Sequence[float] | ArrayLike) -> Difference:
    """Mean of ``ours - theirs`` over paired runs (splits × seeds) with its 95 % t-interval.

    Splits share nodes, so pairs are not independent and the interval is somewhat too narrow: read it as a guard against
    claiming too much from noise, not as a test at an exact level.
    """
    first, second = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if first.shape != second.shape or first.size == 0:
        raise ValueError(f"paired scores must have one shape and at least one pair, got {first.shape}, {second.shape}")
    differences = (first - second).ravel()
    mean, pairs = float(differences.mean()), differences.size
    if pairs == 1:
        return Difference(mean, None, None, pairs)
    error = differences.std(ddof=1) / np.sqrt(pairs)
    margin = float(student_t.ppf(0.5 + CONFIDENCE / 2, pairs - 1) * error)
    return Difference(mean, mean - margin, mean + margin, pairs)
