"""Scores of decision values, in [0, 1]; R² may be below."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from fdmvgcl.datasets import Metric
from fdmvgcl.errors import ArgumentError

from .views import FloatArray

METRICS: dict[Metric, str] = {"accuracy": "accuracy", "roc_auc": "ROC AUC", "macro_f1": "macro-F1", "r2": "R²"}


def score(metric: Metric, decision: FloatArray, classes: NDArray[np.int64], labels: NDArray[Any]) -> float:
    """Score ``decision`` (n, C), whose columns stand for ``classes`` (C,), against ``labels`` (n,).

    - ``accuracy``: share of rows whose largest value is in the column of their label;
    - ``macro_f1``: mean of F1 over the classes that are there, or are said to be;
    - ``roc_auc``: area under the curve of the larger of two labels; 0.5 if only one class was seen in training;
    - ``r2``: part of the variance of numeric ``labels`` that ``decision`` (n, 1) explains.
    """
    if metric == "accuracy":
        return float(np.mean(classes[decision.argmax(axis=1)] == labels))
    if metric == "macro_f1":
        return _macro_f1(classes[decision.argmax(axis=1)], labels)
    if metric == "r2":
        return _explained(decision[:, 0], labels)
    if metric != "roc_auc":
        raise ArgumentError("metric", f"must be one of {', '.join(METRICS)}, got {metric!r}")
    seen = np.unique(labels)
    if len(seen) != 2 or len(classes) > 2:
        raise ArgumentError(
            "roc_auc", f"needs exactly two classes, got {len(seen)} in scoring and {len(classes)} in training"
        )
    if len(classes) == 1:
        return 0.5

    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels == classes[1], decision[:, 1] - decision[:, 0]))


def _macro_f1(found: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(labels, found, average="macro", zero_division=0.0))


def _explained(found: FloatArray, values: FloatArray) -> float:
    """1 - squared error / variance; 0 for what does not vary."""
    total = float(np.square(values - values.mean()).sum())
    return 1 - float(np.square(values - found).sum()) / total if total > 0 else 0.0


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
