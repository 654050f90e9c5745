"""The class shares of the nodes at large, for a probe whose training nodes were drawn by class."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from .metrics import columns_of
from .probe import LinearProbe
from .views import FloatArray

# Of the factor s, in units of the spread of the decision values: from hardly any confidence to certainty.
_SMALLEST, _LARGEST = -3.0, 7.0


def log_shares(labels: NDArray[np.int64], classes: NDArray[np.int64]) -> FloatArray:
    """Logarithms of the shares of ``classes`` among the labels that are one of them, shape (C,).

    Half a node is added to each class, so that one which happens to be missing is rare and not impossible.
    """
    columns, seen = columns_of(classes, labels)
    counts = np.bincount(columns[seen], minlength=len(classes)) + 0.5
    return np.log(counts / counts.sum())


def with_shares(
    probe: LinearProbe, decision: FloatArray, labels: NDArray[np.int64], trained: NDArray[np.int64]
) -> LinearProbe:
    """``s z + log π - log π'`` in place of the decision values ``z``: Bayes' rule for other class shares.

    ``π'`` are the shares of the classes among the training nodes and ``π`` those among validation nodes. A penalised
    probe is less sure than it could be, so that ``z`` is first multiplied by the ``s > 0`` that makes the validation
    nodes likeliest (their log-likelihood is concave in s). Two things are read off the validation nodes, their class
    shares and s; the directions of the classes are those of the training nodes.

    Args:
        probe: fitted on the training nodes.
        decision: its values on the validation nodes, shape (n, C).
        labels: classes of the validation nodes, shape (n,).
        trained: classes of the training nodes.
    """
    shift = log_shares(labels, probe.classes) - log_shares(trained, probe.classes)
    columns, seen = columns_of(probe.classes, labels)
    values, goals = decision[seen], columns[seen]
    spread = float(np.std(values - values.mean(axis=1, keepdims=True))) if len(values) else 0.0
    if spread == 0.0:
        return LinearProbe(probe.classes, probe.coefficients, probe.intercept + shift)

    def surprise(exponent: float) -> float:
        sure = log_softmax(np.exp(exponent) / spread * values + shift, axis=1)
        return -float(sure[np.arange(len(goals)), goals].mean())

    found = minimize_scalar(surprise, bounds=(_SMALLEST, _LARGEST), method="bounded")
    s = np.exp(found.x) / spread
    return LinearProbe(probe.classes, s * probe.coefficients, s * probe.intercept + shift)
