"""Diffused features for every order at once: functions of L, applied to X, that all responses are sums of."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from fdmvgcl.diffusion.kernels import basis_terms
from fdmvgcl.diffusion.linear import TOLERANCE
from fdmvgcl.diffusion.modes import Modes
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients
from fdmvgcl.graphs.operators import Operator

ROWS = 8192  # of a block: fixed, as the order in which numbers are added shows in their last digits
# Columns of which all terms are held at once, while modes are made or written, and the least; and rows times columns
# above which there are fewer: terms of some GB.
_WIDEST, _NARROWEST, _PANEL_NUMBERS = 32, 4, 1 << 27


class Basis(Protocol):
    """Chebyshev terms ``T_j(-Ā) X``, or modes ``φ_i(L) X``, of shape (J, N, F), wherever they are.

    Attributes:
        modes: what they are, None for Chebyshev terms.
        shape: J, N and F.
        dtype: theirs.
    """

    @property
    def modes(self) -> Modes | None: ...

    @property
    def shape(self) -> tuple[int, int, int]: ...

    @property
    def dtype(self) -> torch.dtype: ...

    def rows(self, low: int, high: int) -> "DiffusionBasis":
        """Those of some nodes, in memory."""

    def at(self, nodes: Tensor) -> "DiffusionBasis":
        """The same of nodes that are not side by side, by ascending number."""


def basis_weights(basis: Basis, spec: Filter) -> Tensor:
    """What of the first values each order of a filter takes, shape (K, J'), differentiable in α."""
    if basis.modes is not None:
        return basis.modes.weights(spec)
    weights = chebyshev_coefficients(spec, TOLERANCE[basis.dtype])
    if weights.shape[1] > basis.shape[0]:
        needed = f"must have at least {weights.shape[1]} terms for these orders, got {basis.shape[0]}"
        raise ArgumentError("basis", needed)
    return weights


def panel_columns(nodes: int) -> int:
    """How many columns a panel has: by the number of nodes alone, so that files and bytes are the same anywhere."""
    width = _WIDEST
    while width > _NARROWEST and width * nodes > _PANEL_NUMBERS:
        width //= 2
    return width


def blocks(rows: int) -> list[tuple[int, int]]:
    """Rows by first and last, a block at a time."""
    return [(low, min(low + ROWS, rows)) for low in range(0, rows, ROWS)]


@dataclass(frozen=True, eq=False)
class DiffusionBasis:
    """The basis in memory, and what each order's diffusion takes of it.

    Args:
        values: shape (J, N, F).
        similarity: of the operator: the sums are to be divided by it.
        modes: what the values are, None for Chebyshev terms.
    """

    values: Tensor
    similarity: Tensor | None = None
    modes: Modes | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.values.shape[0], self.values.shape[1], self.values.shape[2]

    @property
    def dtype(self) -> torch.dtype:
        return self.values.dtype

    def rows(self, low: int, high: int) -> "DiffusionBasis":
        """Those of some nodes."""
        return self._picked(slice(low, high))

    def at(self, nodes: Tensor) -> "DiffusionBasis":
        """The same of nodes that are not side by side."""
        return self._picked(nodes)

    def _picked(self, nodes: slice | Tensor) -> "DiffusionBasis":
        similarity = None if self.similarity is None else self.similarity[nodes]
        return DiffusionBasis(self.values[:, nodes], similarity, self.modes)

    def mixed(self, weights: Tensor) -> Tensor:
        """``Σ_j w_kj`` times the values, for weights (K, J') in their dtype, shape (K, N, F)."""
        summed = (weights @ self.values[: weights.shape[1]].flatten(1)).view(-1, *self.values.shape[1:])
        return summed if self.similarity is None else summed / self.similarity[:, None]

    def diffused(self, spec: Filter) -> Tensor:
        """``φ_k(L) X`` for each order of a filter, shape (K, N, F)."""
        return self.mixed(basis_weights(self, spec).to(self.values.dtype))


@dataclass(frozen=True, eq=False)
class HalfBasis:
    """The basis in memory, its numbers in half precision; blocks of it are float32 again.

    Args:
        values: shape (J, N, F), float16, each column divided by its scale.
        scale: of each column, shape (F,): see :func:`column_scale`.
        similarity, modes: see :class:`DiffusionBasis`.
    """

    values: Tensor
    scale: Tensor
    similarity: Tensor | None
    modes: Modes | None

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.values.shape[0], self.values.shape[1], self.values.shape[2]

    @property
    def dtype(self) -> torch.dtype:
        """Of what comes out of it."""
        return self.scale.dtype

    def rows(self, low: int, high: int) -> DiffusionBasis:
        """Those of some nodes."""
        return self._picked(slice(low, high))

    def at(self, nodes: Tensor) -> DiffusionBasis:
        """The same of nodes that are not side by side."""
        return self._picked(nodes)

    def _picked(self, nodes: slice | Tensor) -> DiffusionBasis:
        similarity = None if self.similarity is None else self.similarity[nodes]
        return DiffusionBasis(self.values[:, nodes].float() * self.scale, similarity, self.modes)


def column_scale(peak: Tensor) -> Tensor:
    """The power of two above each column's largest magnitude (F,): dividing by it rounds nothing and fits float16."""
    return torch.ldexp(torch.ones_like(peak), torch.frexp(peak).exponent)


def half_error(modes: Modes | None) -> float:
    """How far half precision puts a diffused feature off at most.

    As a part of the column's largest value times ``max(1, Σ_j |c_j|)``, the size of the expansion.
    """
    return (1.0 if modes is None else modes.largest_weight) * torch.finfo(torch.float16).eps / 2


def diffusion_basis(
    x: Tensor, operator: Operator, spec: Filter, *, smallest_alpha: float, modes: Modes | None = None
) -> DiffusionBasis:
    """Of X (N, F): the modes, or else as many Chebyshev terms as any order in [ε, 1] needs at the filter's times."""
    similarity = operator.similarity
    if similarity is not None:
        x = x * similarity[:, None]
    if modes is not None:
        return DiffusionBasis(_combined(operator, x, modes.functions.to(x)), similarity, modes)
    return DiffusionBasis(basis_terms(operator, CHEBYSHEV, x, widest(spec, x.dtype, smallest_alpha)), similarity)


def half_basis(
    x: Tensor, operator: Operator, spec: Filter, *, smallest_alpha: float, modes: Modes | None = None
) -> HalfBasis:
    """The same in half precision."""
    similarity = operator.similarity
    if similarity is not None:
        x = x * similarity[:, None]
    functions = torch.eye(widest(spec, x.dtype, smallest_alpha)) if modes is None else modes.functions
    values = x.new_empty(len(functions), *x.shape, dtype=torch.float16)
    scale = x.new_empty(x.shape[1])
    for low, high, made in _panels(operator, x, functions.to(x)):
        scale[low:high] = column_scale(made.abs().amax((0, 1)))
        values[:, :, low:high] = made / scale[low:high]
    return HalfBasis(values, scale, similarity, modes)


def widest(spec: Filter, dtype: torch.dtype, smallest_alpha: float) -> int:
    """How many terms the order that needs most of them takes."""
    orders = torch.linspace(smallest_alpha, 1.0, 33, dtype=torch.float64)
    return max(
        chebyshev_coefficients(replace(spec, alpha=orders, time=torch.as_tensor(time)), TOLERANCE[dtype]).shape[1]
        for time in set(spec.time.detach().flatten().tolist())
    )


def _combined(operator: Operator, x: Tensor, functions: Tensor) -> Tensor:
    """``Σ_j f_ij T_j(-Ā) x`` for functions (r, J), shape (r, N, F): never more terms at once than of a few columns."""
    combined = x.new_empty(len(functions), *x.shape)
    for low, high, made in _panels(operator, x, functions):
        combined[:, :, low:high] = made
    return combined


def _panels(operator: Operator, x: Tensor, functions: Tensor) -> Iterator[tuple[int, int, Tensor]]:
    """The same some columns at a time: the first, the one after the last, and the values (r, N, b)."""
    nodes, columns = x.shape
    width = panel_columns(nodes)
    for start in range(0, columns, width):
        part = x[:, start : start + width]
        panel = torch.nn.functional.pad(part, (0, width - part.shape[1]))
        terms = basis_terms(operator, CHEBYSHEV, panel, functions.shape[1])
        made = (functions @ terms.flatten(1)).view(-1, nodes, width)
        yield start, start + part.shape[1], made[:, :, : part.shape[1]]
