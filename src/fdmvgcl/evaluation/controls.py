"""Numbers that a learned one has to beat, found by the same protocol."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Metric, Split

from .fit import Search
from .metrics import score
from .protocol import Choice, Outcome, Trial, evaluate, final_score, hide_test
from .views import Matrix

Diffuse = Callable[[float, float], Matrix]

ALPHAS = (0.1, 0.5, 1.0)
TIMES = (1.0, 3.0, 10.0, 20.0)


def majority(labels: NDArray[np.int64], splits: Sequence[Split], *, metric: Metric = "accuracy") -> list[Outcome]:
    """Always the most frequent class of the training and validation nodes (the smallest of equals)."""
    return [_majority(i, labels, split, metric) for i, split in enumerate(splits)]


def _majority(index: int, labels: NDArray[np.int64], split: Split, metric: Metric) -> Outcome:
    known = hide_test(labels, split)
    classes, counts = np.unique(known[np.concatenate([split.train, split.val])], return_counts=True)
    shares = counts / counts.sum()
    validation = score(metric, np.tile(shares, (len(split.val), 1)), classes, known[split.val])
    choice = Choice(
        trial=0,
        settings={},
        beta=(),
        normalise="none",
        penalty=0.0,
        validation=validation,
        criterion=validation,
        classes=classes,
        decision=np.tile(shares, (len(split.test), 1)),
    )
    return Outcome(index, choice, final_score(choice, labels, split, metric=metric))


def raw(
    features: Mapping[str, Matrix],
    labels: NDArray[np.int64],
    splits: Sequence[Split],
    *,
    metric: Metric = "accuracy",
    search: Search | None = None,
) -> list[Outcome]:
    """The probe on the features themselves.

    Args:
        features: X of shape (N, F), by the name of how it was normalised; all are in one pool.
    """
    trials = [Trial({"features": name}, partial(_listed, matrix)) for name, matrix in features.items()]
    return evaluate(trials, labels, splits, metric=metric, search=search)


def diffused(
    diffusions: Mapping[str, Diffuse],
    labels: NDArray[np.int64],
    splits: Sequence[Split],
    *,
    metric: Metric = "accuracy",
    search: Search | None = None,
    alphas: Sequence[float] = ALPHAS,
    times: Sequence[float] = TIMES,
) -> list[Outcome]:
    """The probe on diffused features without projection, α and T chosen on validation.

    Args:
        diffusions: functions ``(alpha, time) -> φ(L) X`` of shape (N, F), by the name of how X was normalised; all are
            in one pool, since that choice decides whole data sets.
    """
    trials = [
        Trial({"features": name, "alpha": alpha, "time": time}, partial(_diffused, diffuse, alpha, time))
        for (name, diffuse), alpha, time in product(diffusions.items(), alphas, times)
    ]
    return evaluate(trials, labels, splits, metric=metric, search=search)


def _listed(matrix: Matrix) -> list[Matrix]:
    return [matrix]


def _diffused(diffuse: Diffuse, alpha: float, time: float) -> list[Matrix]:
    return [diffuse(alpha, time)]
