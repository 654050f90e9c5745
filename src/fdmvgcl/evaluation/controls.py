"""Numbers that a learned one has to beat, found by the same protocol."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from fdmvgcl.datasets import Metric, Split

from .fit import Search
from .metrics import score
from .protocol import Choice, Labels, Outcome, Trial, evaluate, hide_test, outcome
from .views import Matrix

Diffuse = Callable[[float, float], Matrix]

ALPHAS = (0.1, 0.5, 1.0)
TIMES = (1.0, 3.0, 10.0, 20.0)


def majority(
    labels: Labels, splits: Sequence[Split], *, metric: Metric = "accuracy", also: Sequence[Metric] = ()
) -> list[Outcome]:
    """Always the most frequent class of the training and validation nodes (the smallest of equals).

    Of numbers, always their mean on these nodes.
    """
    return [_majority(i, labels, split, metric, also) for i, split in enumerate(splits)]


def _majority(index: int, labels: Labels, split: Split, metric: Metric, also: Sequence[Metric]) -> Outcome:
    known = hide_test(labels, split)
    seen = known[np.concatenate([split.train, split.val])]
    if metric == "r2":
        classes, shares = np.zeros(1, np.int64), seen.mean(keepdims=True)
    else:
        classes, counts = np.unique(seen, return_counts=True)
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
    return outcome(index, choice, labels, split, metric=metric, also=also)


def raw(
    features: Mapping[str, Matrix],
    labels: Labels,
    splits: Sequence[Split],
    *,
    metric: Metric = "accuracy",
    search: Search | None = None,
    also: Sequence[Metric] = (),
) -> list[Outcome]:
    """The probe on the features themselves.

    Args:
        features: X of shape (N, F), by the name of how it was normalised; all are in one pool.
    """
    trials = [Trial({"features": name}, partial(_listed, matrix)) for name, matrix in features.items()]
    return evaluate(trials, labels, splits, metric=metric, search=search, also=also)


def diffused(
    diffusions: Mapping[str, Diffuse],
    labels: Labels,
    splits: Sequence[Split],
    *,
    metric: Metric = "accuracy",
    search: Search | None = None,
    also: Sequence[Metric] = (),
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
    return evaluate(trials, labels, splits, metric=metric, search=search, also=also)


def _listed(matrix: Matrix) -> list[Matrix]:
    return [matrix]


def _diffused(diffuse: Diffuse, alpha: float, time: float) -> list[Matrix]:
    return [diffuse(alpha, time)]
