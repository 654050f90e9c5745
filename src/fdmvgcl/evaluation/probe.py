"""The linear probe: multinomial logistic regression with an L2 penalty, solved where it is small."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax
from threadpoolctl import ThreadpoolController

from .views import FloatArray, Rows

# Strong first: among equals on validation the simpler classifier is kept.
PENALTIES: tuple[float, ...] = tuple(float(10.0**exponent) for exponent in np.arange(1.5, -4.5, -0.5))

# Of the gradient's largest entry, in coordinates where the curvature is about one.
TOLERANCE = 1e-3

# Above this the eigenvectors of the smaller Gram matrix cost more than the iterations that they save; sooner where rows
# are sparse and an iteration is cheap.
LARGEST_GRAM = 6000
LARGEST_SPARSE_GRAM = 3000

# Coordinates with more entries than this are kept in single precision: they no longer fit into a cache, and the
# rounding of a gradient, about 1e-5, is far below the tolerance.
LARGEST_DOUBLE = 1_000_000

# With more rows than this, and more columns still, the Gram matrix is factored in single precision: half the time.
LARGEST_DOUBLE_GRAM = 3000

# Below this a second thread costs more than it gives.
SMALL_GRAM = 400


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[Any]:
    return _libraries().limit(limits=1, user_api="blas")


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


@dataclass(frozen=True, eq=False)
class _Span:
    """Training rows in principal coordinates: ``rows - 1 centreᵀ = coordinates · basisᵀ``, basis orthonormal.

    An optimal coefficient lies in the span of the centred training rows (its penalty would only grow outside it, and
    the free intercept absorbs the centre), so the same penalised problem in ``coordinates`` has the same optimum.
    ``energies`` are the sums of squares of the coordinates. Rows too large for this are kept: centre 0, basis I.
    """

    coordinates: Rows
    energies: FloatArray
    centre: FloatArray
    expand: Callable[[FloatArray], FloatArray]


def _span(rows: Rows, axes: NDArray[np.float32] | None) -> _Span:
    count, width = rows.shape
    if min(count, width) > (LARGEST_SPARSE_GRAM if rows.sparse else LARGEST_GRAM):
        return _Span(rows, rows.column_squares(), np.zeros(width), lambda r: r)
    block = rows.dense()
    centre = block.mean(axis=0)
    block = block - centre
    if count > width:
        tall = _in_precision(block)
        basis = scipy.linalg.eigh(tall.T @ tall, driver="evd")[1] if axes is None else axes.astype(tall.dtype)
        turned = Rows(tall @ basis)
        return _Span(turned, turned.column_squares().astype(float), centre, lambda r: Rows(basis).product(r))
    if count > LARGEST_DOUBLE_GRAM:
        return _triangular(block.astype(np.float32), centre)
    energies, vectors = scipy.linalg.eigh(block @ block.T, driver="evd")
    kept = energies > count * np.finfo(float).eps * max(energies[-1], np.finfo(float).tiny)
    energies, vectors = energies[kept], vectors[:, kept]
    singular = np.sqrt(energies)
    coordinates = Rows(_in_precision(vectors * singular))
    return _Span(coordinates, energies, centre, lambda r: block.T @ (vectors @ (r / singular[:, None])))


def _triangular(block: NDArray[np.float32], centre: FloatArray) -> _Span:
    """``_span`` of many, and wider, rows by ``rows · rowsᵀ = L Lᵀ``: a third more steps, and no eigenvectors."""
    lower = _factor(block @ block.T)
    coordinates = Rows(lower)

    def expand(r: FloatArray) -> FloatArray:
        dual = scipy.linalg.solve_triangular(lower, r.astype(np.float32), lower=True, trans="T")
        return Rows(block.T).product(dual)

    return _Span(coordinates, coordinates.column_squares().astype(float), centre, expand)


def _factor(gram: NDArray[np.float32]) -> NDArray[np.float32]:
    """L, the diagonal raised as little as rounding errors need: as if each row had a short column of its own."""
    share, mean = 1e-5, max(float(gram.trace()) / len(gram), float(np.finfo(np.float32).tiny))
    while True:
        raised = gram + np.diag(np.full(len(gram), share * mean, np.float32))
        try:
            return scipy.linalg.cholesky(raised, lower=True, overwrite_a=True)
        except scipy.linalg.LinAlgError:
            share *= 10


def _in_precision(block: FloatArray) -> NDArray[np.floating[Any]]:
    return block if block.size <= LARGEST_DOUBLE else block.astype(np.float32)


def _minimise(
    span: _Span, targets: FloatArray, l2: float, start: tuple[FloatArray, FloatArray], tolerance: float
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

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients, intercept = split(flat)
        scores = span.coordinates.product(coefficients) + intercept
        top = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - top)
        totals = shares.sum(axis=1, keepdims=True)
        value = (top + np.log(totals)).sum() - np.vdot(targets, scores) + 0.5 * l2 * np.vdot(coefficients, coefficients)
        residual = shares / totals - targets
        gradient = np.empty((width + 1, classes))
        gradient[:-1] = (span.coordinates.adjoint(residual) + l2 * coefficients) / scale
        gradient[-1] = residual.sum(axis=0) / offset_scale
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
    with _one_thread() if min(rows.shape) < SMALL_GRAM else nullcontext():
        span = _span(rows, axes)
    unit = _mean_square(rows)
    priors = np.log(onehot.mean(axis=0))
    found = start = np.zeros((span.coordinates.shape[1], len(classes))), priors - priors.mean()
    for step, penalty in enumerate(penalties):
        # Products this thin are slower on two threads than on one, by far on a busy machine.
        with _one_thread():
            if len(classes) > 1 and unit > 0:
                last, found = found, _minimise(span, onehot, penalty * unit, start, tolerance)
                start = found if step == 0 else (2 * found[0] - last[0], 2 * found[1] - last[1])
            coefficients = span.expand(found[0])
        yield LinearProbe(classes, coefficients, found[1] - span.centre @ coefficients)


def least_squares(rows: Rows, labels: NDArray[np.int64], penalties: Sequence[float]) -> Iterator[LinearProbe]:
    """The quick stand-in for :func:`fit_path`, penalties of the same meaning: ridge regression on classes.

    The Gram matrix, of rows or of columns, whichever are fewer, serves all penalties.
    """
    classes, targets = np.unique(labels, return_inverse=True)
    goals = np.eye(len(classes))[targets]
    shares = goals.mean(axis=0)
    goals -= shares
    with _one_thread():
        block = rows.dense()
        centre = block.mean(axis=0)
        block = block - centre
        unit = np.vdot(block, block) / len(block) or 1.0  # equal rows: any penalty has the same optimum
        wide = block.shape[0] < block.shape[1]
        gram, right = (block @ block.T, goals) if wide else (block.T @ block, block.T @ goals)
    for penalty in penalties:
        with _one_thread():
            shifted = gram + penalty * unit * np.eye(len(gram))
            solution = scipy.linalg.solve(shifted, right, assume_a="pos", overwrite_a=True)
            coefficients = block.T @ solution if wide else solution
        yield LinearProbe(classes, coefficients, shares - centre @ coefficients)


def _mean_square(rows: Rows) -> float:
    """Mean squared norm of the rows after centring."""
    count = rows.shape[0]
    mean = rows.adjoint(np.ones((count, 1)))[:, 0] / count
    return float(rows.column_squares().sum() / count - mean @ mean)
