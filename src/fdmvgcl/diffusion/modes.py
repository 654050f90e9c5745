"""A few orders that every other order's diffusion is an interpolation of.

For a fixed time, scheme and skip the responses φ_α of all orders nearly span a space of eight to twelve dimensions,
fewer than the Chebyshev terms that one of them needs. So features diffused at well-chosen orders, ``M_i = φ_i(L) X``,
serve for all: ``φ_α(L) X ≈ Σ_i w_i(α) M_i``, with weights that are smooth in α and of the size of the responses.
"""

from dataclasses import dataclass, replace

import scipy.linalg
import torch
from torch import Tensor

from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients

_FINE = 1e-12  # of the expansions that orders are chosen and weighed by: far below any tolerance
_CANDIDATES, _CHECKED = 97, 160  # orders to choose from, and others to check what was chosen
_SLOPE_TOLERANCE = 1e-4  # of ∂φ/∂α, relative to its size or 1


@dataclass(frozen=True, eq=False)
class Modes:
    """Responses at r chosen orders, each divided by its size if that is above 1, and the weights of all others.

    Args:
        spec: the filter at the r orders, ascending.
        functions: Chebyshev coefficients of the responses, shape (r, J).
        solve: what turns coefficients of any order into its weights, shape (J', r).
        error: ``max |φ_α(λ) - Σ_i w_i(α) φ_i(λ)|`` over orders apart from those to choose from, relative to the size
            ``max(1, Σ_j |c_j|)`` of an expansion; a bound for every λ in [0, 2].
        slope_error: the same of ``∂φ_α/∂α``.
        largest_weight: ``max Σ_i |w_i(α)|``, relative to the same: what rounding of the modes is multiplied by.
        smallest_alpha: the least order that they serve.
    """

    spec: Filter
    functions: Tensor
    solve: Tensor
    error: float
    slope_error: float
    largest_weight: float
    smallest_alpha: float

    def __len__(self) -> int:
        return len(self.functions)

    def weights(self, spec: Filter) -> Tensor:
        """``w_i(α)`` for each order of a filter, shape (K, r), float64, differentiable in α."""
        for name in ("scheme", "step", "skip"):
            if getattr(spec, name) != getattr(self.spec, name):
                made, given = getattr(self.spec, name), getattr(spec, name)
                raise ArgumentError(name, f"must be {made!r}, which the modes were made for, got {given!r}")
        for name in ("time", "skip_weight", "rate"):
            made, given = (torch.as_tensor(getattr(each, name)).detach() for each in (self.spec, spec))
            if bool((made != given).any()):
                raise ArgumentError(name, f"must be {made.item()}, which the modes were made for, got {given.tolist()}")
        if bool((spec.alpha < self.smallest_alpha).any()):
            raise ArgumentError("alpha", f"must be at least {self.smallest_alpha:g}, got {float(spec.alpha.min()):g}")
        return _weights(chebyshev_coefficients(spec, _FINE), self.solve)


def choose_modes(spec: Filter, *, smallest_alpha: float, tolerance: float) -> Modes | None:
    """As few orders as hold the tolerance for all from ``smallest_alpha`` to 1; the orders of ``spec`` mean nothing.

    The orders are the rows that a QR decomposition with pivoting takes first from the responses of many. None where
    they would be no fewer than the Chebyshev terms that they stand for.
    """
    if spec.time.dim():
        raise ArgumentError("time", f"must be one number for all orders to share modes, got {spec.time.tolist()}")
    candidates = _at(spec, _spaced(smallest_alpha, _CANDIDATES))
    coefficients = chebyshev_coefficients(candidates, _FINE)
    scaled = coefficients / _size(coefficients)
    _, _, picked = scipy.linalg.qr(scaled.T.numpy(), mode="economic", pivoting=True)
    terms = chebyshev_coefficients(candidates, tolerance).shape[1]
    known = _Checked.of(_at(spec, _spaced(smallest_alpha, _CHECKED)))
    for count in range(1, terms):
        rows = torch.from_numpy(picked[:count]).sort().values
        functions = scaled[rows]
        solve = torch.linalg.pinv(functions, rtol=1e-15)
        kept = functions[:, : _length(functions, tolerance / 4)]
        error, slope_error, weight = known.errors(kept, solve)
        if error <= tolerance and slope_error <= _SLOPE_TOLERANCE:
            chosen = replace(candidates, alpha=candidates.alpha[rows])
            return Modes(chosen, kept, solve, error, slope_error, weight, smallest_alpha)
    return None


@dataclass(frozen=True, eq=False)
class _Checked:
    """Expansions (M, J) of orders that are not chosen from, and their slopes in α."""

    values: Tensor
    slopes: Tensor

    @classmethod
    @torch.enable_grad()
    def of(cls, spec: Filter) -> "_Checked":
        alpha = spec.alpha.clone().requires_grad_()
        values = chebyshev_coefficients(replace(spec, alpha=alpha), _FINE)
        columns = [torch.autograd.grad(column.sum(), alpha, retain_graph=True)[0] for column in values.unbind(1)]
        return cls(values.detach(), torch.stack(columns, 1))

    def errors(self, functions: Tensor, solve: Tensor) -> tuple[float, float, float]:
        """Of values and slopes, relative; and the largest sum of weights."""
        found = [self._gap(each, functions, solve) for each in (self.values, self.slopes)]
        weights = _weights(self.values, solve).abs().sum(1) / _size(self.values)[:, 0]
        return found[0], found[1], float(weights.max())

    @staticmethod
    def _gap(wanted: Tensor, functions: Tensor, solve: Tensor) -> float:
        """The absolute sum of what is missing bounds the gap at every λ, as each |T_j| ≤ 1."""
        gap = wanted.clone()
        made = _weights(wanted, solve) @ functions
        width = min(gap.shape[1], made.shape[1])
        gap[:, :width] -= made[:, :width]
        beyond = made[:, width:].abs().sum(1)
        return float(((gap.abs().sum(1) + beyond) / _size(wanted)[:, 0]).max())


def _weights(coefficients: Tensor, solve: Tensor) -> Tensor:
    terms = min(coefficients.shape[-1], len(solve))
    return coefficients[..., :terms] @ solve[:terms].to(coefficients)


def _at(spec: Filter, orders: Tensor) -> Filter:
    return replace(spec, alpha=orders, time=spec.time.detach())


def _spaced(smallest: float, count: int) -> Tensor:
    """Orders from ``smallest`` to 1, denser towards both ends, which are among them."""
    angle = torch.linspace(0, torch.pi, count, dtype=torch.float64)
    return (smallest + (1 - smallest) * (1 - torch.cos(angle)) / 2).clamp(smallest, 1.0)


def _size(coefficients: Tensor) -> Tensor:
    """``max(1, Σ_j |c_j|)``, shape (M, 1)."""
    return coefficients.abs().sum(1, keepdim=True).clamp(min=1.0)


def _length(functions: Tensor, tolerance: float) -> int:
    """Terms up to which all tails are above the tolerance."""
    tails = functions.abs().flip(1).cumsum(1).flip(1).amax(0)
    return max(1, int((tails > tolerance).sum()))
