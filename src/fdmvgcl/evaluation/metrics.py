"""Scores of decision values, in [0, 1]."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from fdmvgcl.datasets import Metric
from fdmvgcl.errors import ArgumentError

from .views import FloatArray


def score(metric: Metric, decision: FloatArray, classes: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Score ``decision`` (n, C), whose columns stand for ``classes`` (C,), against ``labels`` (n,).

    - ``accuracy``: share of rows whose largest value is in the column of their label;
    - ``roc_auc``: area under the curve of the larger of two labels; 0.5 if only one class was seen in training.
    """
    if metric == "accuracy":
        return float(np.mean(classes[decision.argmax(axis=1)] == labels))
    if metric != "roc_auc":
        raise ArgumentError("metric", f"must be 'accuracy' or 'roc_auc', got {metric!r}")
    seen = np.unique(labels)
    if len(seen) != 2 or len(classes) > 2:
        raise ArgumentError(
            "roc_auc", f"needs exactly two classes, got {len(seen)} in scoring and {len(classes)} in training"
        )
    if len(classes) == 1:
        return 0.5

    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels == classes[1], decision[:, 1] - decision[:, 0]))


def likelihood(decision: FloatArray, classes: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Mean of ``log softmax(decision)`` at the label, over the rows whose label is one of ``classes``; 0 if none is."""
    columns, seen = columns_of(classes, labels)
    return _settled(log_softmax(decision, axis=1)[seen, columns[seen]])


def closeness(decision: FloatArray, classes: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """Minus the mean squared distance of ``decision`` from the label's unit vector: what least squares raises."""
    columns, seen = columns_of(classes, labels)
    return _settled(-np.square(decision[seen] - np.eye(len(classes))[columns[seen]]).sum(axis=1))


def _settled(values: FloatArray) -> float:
    """The mean to nine digits, so that rounding errors decide between no two equals; 0 of nothing."""
    return round(float(values.mean()), 9) if len(values) else 0.0


def columns_of(classes: NDArray[np.int64], labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Each label's column, and whether it has one. ``classes`` ascend."""
    columns = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return columns, classes[columns] == labels
