"""Diffused features for every order at once: functions of L, applied to X, that all responses are sums of."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fdmvgcl.diffusion.kernels import basis_terms
from fdmvgcl.diffusion.linear import TOLERANCE
from fdmvgcl.diffusion.modes import Modes
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients
from fdmvgcl.graphs.operators import Operator

_PANEL = 32  # columns of which all terms are held at once while modes are made


@dataclass(frozen=True, eq=False)
class DiffusionBasis:
    """Chebyshev terms ``T_j(-Ā) X``, or modes ``φ_i(L) X``, and what each order's diffusion takes of them.

    Args:
        values: shape (J, N, F).
        similarity: of the operator: the sums are to be divided by it.
        modes: what the values are, None for Chebyshev terms.
    """

    values: Tensor
    similarity: Tensor | None = None
    modes: Modes | None = None

    def weights(self, spec: Filter) -> Tensor:
        """What of the first values each order of a filter takes, shape (K, J'), differentiable in α."""
        if self.modes is not None:
            return self.modes.weights(spec)
        weights = chebyshev_coefficients(spec, TOLERANCE[self.values.dtype])
        if weights.shape[1] > len(self.values):
            needed = f"must have at least {weights.shape[1]} terms for these orders, got {len(self.values)}"
            raise ArgumentError("basis", needed)
        return weights

    def diffused(self, spec: Filter) -> Tensor:
        """``φ_k(L) X`` for each order of a filter, shape (K, N, F)."""
        weights = self.weights(spec).to(self.values.dtype)
        summed = (weights @ self.values[: weights.shape[1]].flatten(1)).view(-1, *self.values.shape[1:])
        return summed if self.similarity is None else summed / self.similarity[:, None]


def diffusion_basis(
    x: Tensor, operator: Operator, spec: Filter, *, smallest_alpha: float, modes: Modes | None = None
) -> DiffusionBasis:
    """Of X (N, F): the modes, or else as many Chebyshev terms as any order in [ε, 1] needs at the filter's times."""
    similarity = operator.similarity
    if similarity is not None:
        x = x * similarity[:, None]
    if modes is not None:
        return DiffusionBasis(_combined(operator, x, modes.functions.to(x)), similarity, modes)
    return DiffusionBasis(basis_terms(operator, CHEBYSHEV, x, _widest(spec, x.dtype, smallest_alpha)), similarity)


def _widest(spec: Filter, dtype: torch.dtype, smallest_alpha: float) -> int:
    orders = torch.linspace(smallest_alpha, 1.0, 33, dtype=torch.float64)
    return max(
        chebyshev_coefficients(replace(spec, alpha=orders, time=torch.as_tensor(time)), TOLERANCE[dtype]).shape[1]
        for time in set(spec.time.detach().flatten().tolist())
    )


def _combined(operator: Operator, x: Tensor, functions: Tensor) -> Tensor:
    """``Σ_j f_ij T_j(-Ā) x`` for functions (r, J), shape (r, N, F): never more terms at once than of a few columns."""
    nodes, columns = x.shape
    combined = x.new_empty(len(functions), nodes, columns)
    for start in range(0, columns, _PANEL):
        part = x[:, start : start + _PANEL]
        panel = torch.nn.functional.pad(part, (0, _PANEL - part.shape[1]))
        terms = basis_terms(operator, CHEBYSHEV, panel, functions.shape[1])
        made = (functions @ terms.flatten(1)).view(-1, nodes, _PANEL)
        combined[:, :, start : start + _PANEL] = made[:, :, : part.shape[1]]
    return combined
