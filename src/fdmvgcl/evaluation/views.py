"""An embedding as a weighted sum of views, and its rows made ready for the probe without any label."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, UserError

Normalise = Literal["none", "centre+rows", "standardise"]
NORMALISATIONS: tuple[Normalise, ...] = ("none", "centre+rows", "standardise")

FloatArray: TypeAlias = NDArray[np.float64]
# A dense array or a scipy.sparse.csr_array, which has no type stubs.
Matrix: TypeAlias = Any

CHUNK_ROWS = 1024

# Columns that are enough to tell one β from another, at a fraction of the cost of thousands.
NARROW = 512


@dataclass(frozen=True, eq=False)
class Rows:
    """The n × d matrix ``M - u vᵀ``; M dense (then u and v are None, and it may be float32) or compressed by rows.

    Centring a sparse matrix only subtracts a matrix of rank one, so it never has to be made dense.
    """

    matrix: Matrix
    left: FloatArray | None = None
    right: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    @property
    def sparse(self) -> bool:
        return bool(sp.issparse(self.matrix))

    def product(self, weights: FloatArray) -> FloatArray:
        """``(M - u vᵀ) weights``, weights of shape (d, C)."""
        result: FloatArray = (self.matrix @ weights.astype(self.matrix.dtype, copy=False)).astype(float, copy=False)
        if self.left is not None and self.right is not None:
            result = result - np.outer(self.left, self.right @ weights)
        return result

    def adjoint(self, values: FloatArray) -> FloatArray:
        """``(M - u vᵀ)ᵀ values``, values of shape (n, C)."""
        result: FloatArray = (self.matrix.T @ values.astype(self.matrix.dtype, copy=False)).astype(float, copy=False)
        if self.left is not None and self.right is not None:
            result = result - np.outer(self.right, self.left @ values)
        return result

    def column_squares(self) -> FloatArray:
        """Sum of squares of each column, shape (d,)."""
        if not self.sparse:
            return np.asarray(np.einsum("ij,ij->j", self.matrix, self.matrix))
        squares: FloatArray = np.asarray(self.matrix.power(2).sum(axis=0)).ravel()
        if self.left is not None and self.right is not None:
            squares = squares - 2 * self.right * (self.matrix.T @ self.left) + self.right**2 * (self.left @ self.left)
        return np.maximum(squares, 0.0)

    def dense(self) -> FloatArray:
        """The matrix itself, shape (n, d)."""
        if not self.sparse:
            return np.asarray(self.matrix)
        full: FloatArray = self.matrix.toarray()
        return full if self.left is None or self.right is None else full - np.outer(self.left, self.right)


class Views:
    """K views of one embedding, each of shape (N, d). ``Z(β) = Σ_k β_k Y_k``.

    Column means and covariances between views are taken over all nodes once, so preparing ``Z(β)`` for some rows
    costs those rows only. Arrays may be memory maps. A sparse matrix stands alone (K = 1), and is kept in float64.
    """

    def __init__(self, arrays: Sequence[Matrix]) -> None:
        if not arrays:
            raise UserError("an embedding needs at least one view, got none")
        if len({array.shape for array in arrays}) > 1:
            raise ArgumentError("views", f"must have one shape, got {[array.shape for array in arrays]}")
        if len(arrays) > 1 and any(sp.issparse(array) for array in arrays):
            raise UserError("a sparse view must be the only one")
        self.arrays = tuple(sp.csr_array(a, dtype=np.float64) if sp.issparse(a) else a for a in arrays)
        self._axes: dict[Normalise, NDArray[np.float32]] = {}

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def sparse(self) -> bool:
        return bool(sp.issparse(self.arrays[0]))

    @cached_property
    def narrow(self) -> "Views":
        """The first 512 columns: a smaller embedding of the same kind, since projections have no order of columns."""
        return self if self.arrays[0].shape[1] <= NARROW else Views([array[:, :NARROW] for array in self.arrays])

    @cached_property
    def means(self) -> FloatArray:
        """Column means of each view, shape (K, d)."""
        return np.stack([np.asarray(array.mean(axis=0, dtype=np.float64)).ravel() for array in self.arrays])

    @cached_property
    def covariances(self) -> FloatArray:
        """Covariance of each column between views, shape (K, K, d)."""
        count, width = self.means.shape
        if self.sparse:
            squares = np.asarray(self.arrays[0].power(2).mean(axis=0, dtype=np.float64)).ravel()
            return np.reshape(squares - self.means[0] ** 2, (1, 1, width))
        total = np.zeros((count, count, width))
        nodes = self.arrays[0].shape[0]
        for start in range(0, nodes, CHUNK_ROWS):
            blocks = [a[start : start + CHUNK_ROWS] - m for a, m in zip(self.arrays, self.means, strict=True)]
            for k in range(count):
                for other in range(k, count):
                    total[k, other] += np.einsum("nj,nj->j", blocks[k], blocks[other])
        lower = np.tril_indices(count, -1)
        total[lower] = total[lower[::-1]]
        return np.asarray(total / nodes)

    def mean(self, beta: FloatArray) -> FloatArray:
        """Column means of Z(β), shape (d,)."""
        return beta @ self.means

    def deviation(self, beta: FloatArray) -> FloatArray:
        """Column standard deviations of Z(β), shape (d,)."""
        variance: FloatArray = np.einsum("k,klj,l->j", beta, self.covariances, beta)
        return np.sqrt(np.maximum(variance, 0.0))

    def combine(self, beta: FloatArray, index: NDArray[np.int64]) -> Matrix:
        """Rows ``index`` of Z(β) in float64."""
        if self.sparse:
            return self.arrays[0][index] * beta[0]
        result = np.zeros((len(index), self.arrays[0].shape[1]))
        for weight, array in zip(beta, self.arrays, strict=True):
            if weight != 0.0:
                result += weight * np.asarray(array[index], dtype=np.float64)
        return result

    def rows(self, beta: FloatArray, normalise: Normalise, index: NDArray[np.int64]) -> Rows:
        """Rows ``index`` of Z(β), normalised with statistics of all nodes:

        - ``none``: ``z_i``;
        - ``centre+rows``: ``(z_i - μ) / ‖z_i - μ‖``, where μ is the mean row (a zero row stays zero);
        - ``standardise``: ``(z_ij - μ_j) / σ_j`` (a constant column becomes zero).
        """
        if normalise not in NORMALISATIONS:
            raise ArgumentError("normalise", f"must be one of {', '.join(NORMALISATIONS)}, got {normalise!r}")
        block = self.combine(beta, index)
        if normalise == "none":
            return Rows(block)
        mean = self.mean(beta)
        if normalise == "standardise":
            scale = reciprocal(self.deviation(beta), relative_to=np.abs(mean))
            if self.sparse:
                return Rows(block @ sp.diags_array(scale), np.ones(len(index)), mean * scale)
            return Rows((block - mean) * scale)
        if self.sparse:
            squares = block.power(2).sum(axis=1) - 2 * (block @ mean) + mean @ mean
            left = reciprocal(np.sqrt(np.maximum(squares, 0.0)), relative_to=np.linalg.norm(mean))
            return Rows(sp.diags_array(left) @ block, left, mean)
        block -= mean
        norms = np.linalg.norm(block, axis=1)
        return Rows(block * reciprocal(norms, relative_to=np.linalg.norm(mean))[:, None])

    def axes(self, normalise: Normalise) -> NDArray[np.float32]:
        """Principal axes of all nodes' rows with uniform β, shape (d, d), orthonormal columns; found once.

        Those of the many training rows of a split are near them, so they spare the probes of all splits their own. Not
        those of other β: one view may be longer than all others by orders of magnitude.
        """
        if normalise not in self._axes:
            (nodes, width), beta = self.arrays[0].shape, np.full(len(self), 1.0 / len(self))
            gram = np.zeros((width, width), np.float32)
            for start in range(0, nodes, CHUNK_ROWS):
                index = np.arange(start, min(start + CHUNK_ROWS, nodes))
                block = self.rows(beta, normalise, index).dense().astype(np.float32)
                gram += block.T @ block
            self._axes[normalise] = scipy.linalg.eigh(gram, driver="evd")[1]
        return self._axes[normalise]


def reciprocal(values: FloatArray, *, relative_to: Any) -> FloatArray:
    """1 / values, and 0 where a value is only the rounding error of a float32 difference."""
    real = values > np.finfo(np.float32).eps * relative_to
    return np.divide(1.0, values, out=np.zeros_like(values), where=real)
