"""The linear probe: multinomial logistic regression with an L2 penalty, solved where it is small."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

from fdmvgcl.machine import one_blas_thread

from .span import Span, span_of
from .views import FloatArray, Rows

# Strong first: among equals on validation the simpler classifier is kept.
PENALTIES: tuple[float, ...] = tuple(float(10.0**exponent) for exponent in np.arange(1.5, -4.5, -0.5))

# Of the gradient's largest entry, in coordinates where the curvature is about one.
TOLERANCE = 1e-3

# Below this a second thread costs more than it gives.
SMALL_GRAM = 400


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """Decision values ``rows · coefficients + intercept``.

    Args:
        classes: labels seen in training, shape (C,).
        coefficients: shape (d, C).
        intercept: shape (C,).
    """

    classes: NDArray[np.int64]
    coefficients: FloatArray
    intercept: FloatArray

    def decision(self, rows: Rows) -> FloatArray:
        """Decision values, shape (n, C)."""
        return rows.product(self.coefficients) + self.intercept


def _minimise(
    span: Span, targets: FloatArray, l2: float, start: tuple[FloatArray, FloatArray], tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Minimise ``Σ_i [logsumexp(z_i) - ⟨t_i, z_i⟩] + l2/2 ‖R‖²``, ``z = coordinates · R + b``, by L-BFGS.

    In principal coordinates the curvature along axis j is near ``h s_j² + l2``, h being the mean of p(1 - p) at the
    start: dividing by its root makes the problem round, and a few dozen steps are enough for most penalties.
    """
    count, classes = targets.shape
    guess = softmax(span.coordinates.product(start[0]) + start[1], axis=1)
    spread = float(np.mean(guess * (1.0 - guess)))
    width = span.coordinates.shape[1]
    scale = np.sqrt(spread * span.energies + l2)[:, None]
    offset_scale = np.sqrt(spread * count)

    def split(flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        matrix = flat.reshape(width + 1, classes)
        return matrix[:-1] / scale, matrix[-1] / offset_scale

    bands = span.bands(classes)

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients, intercept = split(flat)
        value = 0.5 * l2 * np.vdot(coefficients, coefficients)
        gradient = np.zeros((width + 1, classes))
        gradient[:-1] = l2 * coefficients
        for part, band in bands:
            used = band.shape[1]
            scores = band.product(coefficients[:used]) + intercept
            top = scores.max(axis=1, keepdims=True)
            shares = np.exp(scores - top)
            totals = shares.sum(axis=1, keepdims=True)
            value += (top + np.log(totals)).sum() - np.vdot(targets[part], scores)
            residual = shares / totals - targets[part]
            gradient[:used] += band.adjoint(residual)
            gradient[-1] += residual.sum(axis=0)
        gradient[:-1] /= scale
        gradient[-1] /= offset_scale
        return float(value), gradient.ravel()

    flat = np.vstack([start[0] * scale, start[1] * offset_scale]).ravel()
    options = {"maxiter": 1000, "maxfun": 2000, "gtol": tolerance, "ftol": 0.0, "maxcor": 20}
    found: Any = minimize(objective, flat, jac=True, method="L-BFGS-B", options=options)
    return split(found.x)


def fit_path(
    rows: Rows,
    labels: NDArray[np.int64],
    penalties: Sequence[float] = PENALTIES,
    *,
    tolerance: float = TOLERANCE,
    axes: NDArray[np.float32] | None = None,
) -> Iterator[LinearProbe]:
    """One probe a penalty, each starting where the last two point: optima move smoothly along a path of penalties.

    Args:
        rows: prepared training rows, shape (n, d).
        labels: their classes, shape (n,), any integers.
        penalties: L2 weights relative to the mean squared norm of the centred training rows, so that a grid means the
            same at every scale of the embedding; the penalty is ``penalty · mean ‖x‖² / 2 · ‖W‖²``.
        tolerance: largest entry of the gradient, in coordinates where the curvature is about one.
        axes: orthonormal columns, shape (d, d), along which the rows are nearly uncorrelated, for more rows than
            columns: these serve in place of the rows' own principal axes, whose eigenvectors take longer than the rest.
    """
    classes, targets = np.unique(labels, return_inverse=True)
    onehot = np.eye(len(classes))[targets]
    with one_blas_thread() if min(rows.shape) < SMALL_GRAM else nullcontext():
        span = span_of(rows, axes)
    unit = _mean_square(rows)
    priors = np.log(onehot.mean(axis=0))
    found = start = np.zeros((span.coordinates.shape[1], len(classes))), priors - priors.mean()
    for step, penalty in enumerate(penalties):
        # Products this thin are slower on two threads than on one, by far on a busy machine.
        with one_blas_thread():
            if len(classes) > 1 and unit > 0:
                last, found = found, _minimise(span, onehot, penalty * unit, start, tolerance)
                start = found if step == 0 else (2 * found[0] - last[0], 2 * found[1] - last[1])
            coefficients = span.expand(found[0])
        yield LinearProbe(classes, coefficients, found[1] - span.centre @ coefficients)


def least_squares(rows: Rows, labels: NDArray[np.int64], penalties: Sequence[float]) -> Iterator[LinearProbe]:
    """The quick stand-in for :func:`fit_path`, penalties of the same meaning: ridge regression on classes."""
    classes, targets = np.unique(labels, return_inverse=True)
    return _ridge(rows, np.eye(len(classes))[targets], classes, penalties)


def ridge(rows: Rows, values: FloatArray, penalties: Sequence[float]) -> Iterator[LinearProbe]:
    """Ridge regression of numbers, shape (n,), one probe a penalty; its decision values have one column."""
    return _ridge(rows, values[:, None], np.zeros(1, np.int64), penalties)


def _ridge(
    rows: Rows, goals: FloatArray, classes: NDArray[np.int64], penalties: Sequence[float]
) -> Iterator[LinearProbe]:
    """Of goals (n, C). The Gram matrix, of rows or of columns, whichever are fewer, serves all penalties."""
    level = goals.mean(axis=0)
    goals = goals - level
    with one_blas_thread():
        block = rows.dense()
        centre = block.mean(axis=0)
        block = block - centre
        unit = np.vdot(block, block) / len(block) or 1.0  # equal rows: any penalty has the same optimum
        wide = block.shape[0] < block.shape[1]
        gram, right = (block @ block.T, goals) if wide else (block.T @ block, block.T @ goals)
    for penalty in penalties:
        with one_blas_thread():
            shifted = gram + penalty * unit * np.eye(len(gram))
            solution = scipy.linalg.solve(shifted, right, assume_a="pos", overwrite_a=True)
            coefficients = block.T @ solution if wide else solution
        yield LinearProbe(classes, coefficients, level - centre @ coefficients)


def _mean_square(rows: Rows) -> float:
    """Mean squared norm of the rows after centring."""
    count = rows.shape[0]
    mean = rows.adjoint(np.ones((count, 1)))[:, 0] / count
    return float(rows.column_squares().sum() / count - mean @ mean)
