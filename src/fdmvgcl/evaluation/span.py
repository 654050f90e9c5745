"""Training rows in the coordinates of their own span, where the probe's problem is small and round."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .views import FloatArray, Rows

# Above this the eigenvectors of the smaller Gram matrix cost more than the iterations that they save; sooner where rows
# are sparse and an iteration is cheap.
LARGEST_GRAM = 6000
LARGEST_SPARSE_GRAM = 3000

# Coordinates with more entries than this are kept in single precision: they no longer fit into a cache, and the
# rounding of a gradient, about 1e-5, is far below the tolerance.
LARGEST_DOUBLE = 1_000_000

# With more rows than this, and more columns still, the Gram matrix is factored in single precision: half the time.
LARGEST_DOUBLE_GRAM = 3000

# Multiply-adds of one product. OpenBLAS packs the operands of larger ones, which with a few classes takes longer than
# the product; and what stays in cache serves the adjoint too (``benchmarks/probe.py``).
BAND = 950_000
_FEWEST_ROWS = 16


@dataclass(frozen=True, eq=False)
class Span:
    """Training rows in principal coordinates: ``rows - 1 centreᵀ = coordinates · basisᵀ``, basis orthonormal.

    An optimal coefficient lies in the span of the centred training rows (its penalty would only grow outside it, and
    the free intercept absorbs the centre), so the same penalised problem in ``coordinates`` has the same optimum.
    ``energies`` are the sums of squares of the coordinates. Rows too large for this are kept: centre 0, basis I.

    ``expand`` takes coefficients in coordinates, shape (r, C), to those of the rows, (d, C). Where ``triangular``, row
    i of the coordinates ends at column i.
    """

    coordinates: Rows
    energies: FloatArray
    centre: FloatArray
    expand: Callable[[FloatArray], FloatArray]
    triangular: bool = False

    def bands(self, classes: int) -> list[tuple[slice, Rows]]:
        """The coordinates by a few rows at a time, without the columns that are zero in all of them."""
        count, width = self.coordinates.shape
        if self.coordinates.sparse:
            return [(slice(0, count), self.coordinates)]
        step = max(_FEWEST_ROWS, BAND // max(1, width * classes))
        bands = [slice(start, min(start + step, count)) for start in range(0, count, step)]
        return [(b, Rows(self.coordinates.matrix[b, : b.stop if self.triangular else width])) for b in bands]


def span_of(rows: Rows, axes: NDArray[np.float32] | None = None) -> Span:
    """The span of training rows; ``axes`` as :func:`fdmvgcl.evaluation.probe.fit_path` takes them."""
    count, width = rows.shape
    if min(count, width) > (LARGEST_SPARSE_GRAM if rows.sparse else LARGEST_GRAM):
        return Span(rows, rows.column_squares(), np.zeros(width), lambda r: r)
    block = rows.dense()
    centre = block.mean(axis=0)
    block = block - centre
    if count > width:
        tall = _in_precision(block)
        basis = scipy.linalg.eigh(tall.T @ tall, driver="evd")[1] if axes is None else axes.astype(tall.dtype)
        turned = Rows(tall @ basis)
        return Span(turned, turned.column_squares().astype(float), centre, lambda r: Rows(basis).product(r))
    if count > LARGEST_DOUBLE_GRAM:
        return _triangular(block.astype(np.float32), centre)
    energies, vectors = scipy.linalg.eigh(block @ block.T, driver="evd")
    kept = energies > count * np.finfo(float).eps * max(energies[-1], np.finfo(float).tiny)
    energies, vectors = energies[kept], vectors[:, kept]
    singular = np.sqrt(energies)
    coordinates = Rows(np.ascontiguousarray(_in_precision(vectors * singular)))
    return Span(coordinates, energies, centre, lambda r: block.T @ (vectors @ (r / singular[:, None])))


def _triangular(block: NDArray[np.float32], centre: FloatArray) -> Span:
    """``span_of`` many, and wider, rows by ``rows · rowsᵀ = L Lᵀ``: a third more steps, and no eigenvectors."""
    lower = np.ascontiguousarray(_factor(block @ block.T))
    coordinates = Rows(lower)

    def expand(r: FloatArray) -> FloatArray:
        return Rows(block.T).product(scipy.linalg.solve_triangular(lower.T, r.astype(np.float32)))

    return Span(coordinates, coordinates.column_squares().astype(float), centre, expand, triangular=True)


def _factor(gram: NDArray[np.float32]) -> NDArray[np.float32]:
    """L, the diagonal raised as little as rounding errors need: as if each row had a short column of its own."""
    share, mean = 1e-5, max(float(gram.trace()) / len(gram), float(np.finfo(np.float32).tiny))
    while True:
        raised = gram + np.diag(np.full(len(gram), share * mean, np.float32))
        try:
            return np.asarray(scipy.linalg.cholesky(raised, lower=True, overwrite_a=True))
        except scipy.linalg.LinAlgError:
            share *= 10


def _in_precision(block: FloatArray) -> NDArray[np.floating[Any]]:
    return block if block.size <= LARGEST_DOUBLE else block.astype(np.float32)
