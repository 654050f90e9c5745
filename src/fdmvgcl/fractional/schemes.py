"""Time-stepping schemes for the Caputo equation ``D^α y = F(t, y)``, ``y(0) = y0``, and the one loop that runs them.

On the grid ``t_n = n h`` every scheme here has the form

    y_n = y0 + Σ_{j<n} w_{n,j} m_j + g F(t_n, y_n)

where the memory m_j is either the right-hand side ``F(t_j, y_j)`` (schemes that discretise the equivalent integral
equation) or the displacement ``y_j - y0`` (schemes that discretise the derivative). A scheme is therefore its weights,
what it remembers, whether g = 0, and the order of convergence that it declares and that the tests measure.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from scipy.special import gamma, zeta
from torch import Tensor

from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional.history import History, Weights


@dataclass(frozen=True)
class Scheme:
    """A time-stepping scheme.

    Args:
        name: what users call it.
        remembers: ``"rhs"`` or ``"state"``, the memory that ``weights`` apply to.
        implicit: whether a step solves an equation for y_n.
        weights: ``(alpha, step, steps) -> Weights``, differentiable in ``alpha`` and ``step``.
        order: observed order at a fixed time where F along the solution is smooth, as a function of α.
        singular_order: the same for solutions that start like t^α, as those of linear equations do.
        predictor: for a predictor-corrector, the explicit scheme whose y_n enters the right-hand side.
        stability_limit: for explicit schemes, the largest stable ``λ h^α`` of ``D^α y = -λ y`` as a function of α.
    """

    name: str
    remembers: Literal["rhs", "state"]
    implicit: bool
    weights: Callable[[Tensor, Tensor, int], Weights]
    order: Callable[[float], float]
    singular_order: Callable[[float], float]
    predictor: "Scheme | None" = None
    stability_limit: Callable[[float], float] | None = None


class Solve(Protocol):
    """``solve(n, known, gain)`` returns the y that satisfies ``y = known + gain F(t_n, y)``."""

    def __call__(self, n: int, known: Tensor, gain: Tensor) -> Tensor: ...


def march(
    scheme: Scheme,
    rhs: Callable[[int, Tensor], Tensor],
    y0: Tensor,
    alpha: Tensor,
    step: Tensor,
    steps: int,
    *,
    solve: Solve | None = None,
    history: History | None = None,
) -> Iterator[Tensor]:
    """Yield y_1, …, y_steps.

    Args:
        rhs: ``rhs(n, y) = F(t_n, y)``.
        y0: initial state, any shape.
        alpha: orders, broadcastable to the state's shape.
        step: step h, a scalar tensor or broadcastable to ``alpha``.
        solve: solves the equation of an implicit step.
        history: where the memory goes, one with a window for short memory; unbounded by default.
    """
    # In α's dtype, best float64: the trapezoid's weights are second differences, in float32 off by 1e-4 at 400 steps.
    weights = scheme.weights(alpha, step, steps).to(y0.dtype)
    predictor = scheme.predictor.weights(alpha, step, steps).to(y0.dtype) if scheme.predictor else None
    history = history or History()
    history.append(rhs(0, y0) if scheme.remembers == "rhs" else torch.zeros_like(y0))
    for n in range(1, steps + 1):
        y = y0 + history.recall(weights, n)
        if scheme.implicit:
            assert solve is not None
            y = solve(n, y, weights.now)
        elif predictor is not None:
            y = y + weights.now * rhs(n, y0 + history.recall(predictor, n))
        yield y
        if n < steps:
            history.append(rhs(n, y) if scheme.remembers == "rhs" else y - y0)


def _counts(alpha: Tensor, start: int, stop: int) -> Tensor:
    """``start, …, stop - 1`` as a column that broadcasts against α, shape (stop - start, 1, …)."""
    k = torch.arange(start, stop, dtype=alpha.dtype, device=alpha.device)
    return k.reshape(-1, *[1] * alpha.dim())


def _powers(alpha: Tensor, exponent: Tensor, count: int) -> Tensor:
    """``0^e, 1^e, …, count^e`` for e > 0; the zero is a constant, since autograd's 0^e has a NaN derivative."""
    tail = _counts(alpha, 1, count + 1) ** exponent
    return torch.cat([torch.zeros_like(tail[:1]), tail])


def _gamma(x: Tensor) -> Tensor:
    return torch.exp(torch.lgamma(x))


def _rectangle(alpha: Tensor, step: Tensor, steps: int) -> Weights:
    """Product rectangle rule on the left end: ``h^α/Γ(α+1) · (k^α - (k-1)^α)``."""
    scale = step**alpha / _gamma(alpha + 1)
    return Weights(past=scale * _powers(alpha, alpha, steps).diff(dim=0), now=torch.zeros_like(scale))


def _trapezoid(alpha: Tensor, step: Tensor, steps: int) -> Weights:
    """Product trapezoid rule: ``h^α/Γ(α+2) · ((k+1)^(α+1) - 2 k^(α+1) + (k-1)^(α+1))``, and its first-node weight."""
    scale = step**alpha / _gamma(alpha + 2)
    power = _powers(alpha, alpha + 1, steps + 1)
    n = _counts(alpha, 1, steps + 1)
    first = power[:steps] - (n - 1 - alpha) * n**alpha
    return Weights(past=scale * power.diff(dim=0).diff(dim=0), now=scale, first=scale * first)


def _l1(alpha: Tensor, step: Tensor, steps: int) -> Weights:
    """Piecewise linear y under the derivative: ``b_k = (k+1)^(1-α) - k^(1-α)``, memory weights ``b_{k-1} - b_k``.

    ``b_0 = 1`` for every α, which ``_powers`` (0^e = 0) keeps true at α = 1.
    """
    b = _powers(alpha, 1 - alpha, steps + 1).diff(dim=0)
    return Weights(past=-b.diff(dim=0), now=step**alpha * _gamma(2 - alpha))


def _grunwald_letnikov(alpha: Tensor, step: Tensor, steps: int) -> Weights:
    """Binomial weights ``g_k = g_{k-1} (1 - (α+1)/k)`` of the displacement ``y - y0``."""
    ratio = 1 - (alpha + 1) / _counts(alpha, 1, steps + 1)
    return Weights(past=-torch.cumprod(ratio, dim=0), now=step**alpha)


def _rectangle_limit(alpha: float) -> float:
    """λ h^α at which the predictor's characteristic equation has the root -1: ``Γ(α+1) / (2 η(-α))``, η Dirichlet's."""
    eta = (1 - 2 ** (1 + alpha)) * zeta(-alpha)
    return float(gamma(alpha + 1) / (2 * eta))


def _pece_limit(alpha: float) -> float:
    """λ h^α at which the predictor-corrector's slowest mode stops decaying: ``Γ(α+2)``."""
    return float(gamma(alpha + 2))


PREDICTOR = Scheme(
    name="predictor",
    remembers="rhs",
    implicit=False,
    weights=_rectangle,
    order=lambda alpha: 1.0,
    singular_order=lambda alpha: 1.0,
    stability_limit=_rectangle_limit,
)
PECE = Scheme(
    name="pece",
    remembers="rhs",
    implicit=False,
    weights=_trapezoid,
    order=lambda alpha: 1.0 + alpha,
    singular_order=lambda alpha: 1.0 + alpha,
    predictor=PREDICTOR,
    stability_limit=_pece_limit,
)
L1 = Scheme(
    name="l1",
    remembers="state",
    implicit=True,
    weights=_l1,
    order=lambda alpha: 2.0 - alpha,
    singular_order=lambda alpha: 1.0,
)
GRUNWALD_LETNIKOV = Scheme(
    name="gl",
    remembers="state",
    implicit=True,
    weights=_grunwald_letnikov,
    order=lambda alpha: 1.0,
    singular_order=lambda alpha: 1.0,
)
TRAPEZOID = Scheme(
    name="trapezoid",
    remembers="rhs",
    implicit=True,
    weights=_trapezoid,
    order=lambda alpha: 2.0,
    singular_order=lambda alpha: 1.0 + alpha,
)

SCHEMES = {scheme.name: scheme for scheme in (PREDICTOR, PECE, L1, GRUNWALD_LETNIKOV, TRAPEZOID)}


def find_scheme(scheme: str | Scheme) -> Scheme:
    """A scheme by its name, or itself."""
    if isinstance(scheme, Scheme):
        return scheme
    if scheme not in SCHEMES:
        raise ArgumentError("scheme", f"must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    return SCHEMES[scheme]
