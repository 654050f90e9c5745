"""Linear diffusion as a scalar function of graph frequency: ``Y(T) = φ(L) Y(0)``, and φ's polynomial expansions."""

import math
import warnings
from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor

from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.fractional._checks import check_alpha, check_time, count_steps
from fdmvgcl.fractional.mittag_leffler import contour, mittag_leffler
from fdmvgcl.fractional.schemes import Scheme, find_scheme, march

EXACT = "exact"
_MAX_DEGREE = 2048
_POISSON_HALF_NODES = 48  # holds every α up to T^α = 50; more nodes would lose digits to e^μ


class StabilityWarning(UserWarning):
    """An explicit scheme runs outside its region of stability."""


@dataclass(frozen=True, eq=False)
class Filter:
    """What turns initial features into diffused ones, apart from the graph.

    Args:
        alpha: orders, shape () or (K,).
        time: diffusion time T (of one round, with skips), shape () or that of ``alpha``.
        scheme: ``"exact"`` or a time-stepping scheme's name.
        step: step h of a time-stepping scheme.
        skip: number m of skip-connection rounds, ``y ← e y + s y0``; 0 for none.
        skip_weight: the skip's weight s, shape () or that of ``alpha``.
        rate: r of the equation ``D^α y = -r λ y``, shape () or that of ``alpha``.
    """

    alpha: Tensor
    time: Tensor
    scheme: str = EXACT
    step: float | None = None
    skip: int = 0
    skip_weight: Tensor | float = 1.0
    rate: Tensor | float = 1.0

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_time(self.time)
        if self.alpha.dim() > 1:
            raise ArgumentError("alpha", f"must be a number or a vector of orders, got shape {tuple(self.alpha.shape)}")
        if self.time.dim() and self.time.shape != self.alpha.shape:
            raise ArgumentError(
                "time",
                f"must be a number or one for each of {tuple(self.alpha.shape)} orders, "
                f"got shape {tuple(self.time.shape)}",
            )
        if self.skip < 0:
            raise ArgumentError("skip", f"must be a number of rounds of at least 0, got {self.skip}")
        if bool((torch.as_tensor(self.rate).detach() <= 0).any()):
            raise ArgumentError("rate", f"must be above 0, got {torch.as_tensor(self.rate).tolist()}")
        if self.scheme == EXACT:
            if self.step is not None:
                raise ArgumentError(
                    "step", f"must be left out for scheme {EXACT!r}, which takes no steps, got {self.step}"
                )
        else:
            find_scheme(self.scheme)
            if self.step is None:
                raise ArgumentError("step", f"must be given for scheme {self.scheme!r}, got None")


def response(frequency: Tensor, spec: Filter) -> Tensor:
    """φ(λ) of the linear diffusion ``D^α y = -r λ y``, differentiable in λ, α, T, the rate r and the skip's weight.

    With e(λ) the scheme's solution at time T from y = 1 (exactly: ``E_α(-r λ T^α)``), φ is e without skips, and with m
    rounds of skip-connection ``s (1 + e + … + e^(m-1)) + e^m``.

    Args:
        frequency: λ, shape (M,), in [0, 2] for a normalised Laplacian.
        spec: the filter, with α of shape () or (K,).

    Returns:
        Shape (M,) or (K, M), float64.
    """
    values = (spec.alpha, spec.time, spec.skip_weight, spec.rate)
    alpha, time, weight, rate = (_column(value, frequency.device) for value in values)
    frequency = rate * frequency.double()
    one_round = _exact(frequency, alpha, time) if spec.scheme == EXACT else _stepped(frequency, alpha, time, spec)
    if not spec.skip:
        return one_round
    total = torch.ones_like(one_round)
    for _ in range(spec.skip):
        total = one_round * total + weight
    return total


def chebyshev_coefficients(spec: Filter, tolerance: float) -> Tensor:
    """Coefficients ``c_j`` with ``φ(λ) = Σ_j c_j T_j(λ - 1)`` on [0, 2] to ``tolerance · max(1, max|φ|)``.

    Interpolation at Chebyshev nodes, doubled in number until the coefficients have decayed, then cut: the absolute sum
    of all that is cut, a bound on the error at every λ, is below the tolerance. A view that needs fewer terms than
    another ends in zeros.

    Returns:
        Shape (J + 1,) or (K, J + 1), float64, differentiable in α, T and the skip's weight.
    """
    count = 64
    while True:
        angle = (torch.arange(count, dtype=torch.float64) + 0.5) * (math.pi / count)
        cosines = torch.cos(torch.arange(count, dtype=torch.float64)[:, None] * angle) * (2.0 / count)
        cosines[0] /= 2
        values = response((1 + torch.cos(angle)).to(spec.alpha.device), spec)
        coefficients = values @ cosines.T.to(values.device)
        allowed = tolerance * values.detach().abs().amax(-1, keepdim=True).clamp(min=1.0)
        tail = coefficients.detach().abs().flip(-1).cumsum(-1).flip(-1)
        needed = tail > allowed
        length = int(needed.sum(-1).max())
        # The last quarter must be idle: what lies beyond the nodes, and is folded back by them, is then smaller still.
        if length <= 3 * count // 4:
            return torch.where(needed, coefficients, torch.zeros_like(coefficients))[..., : max(length, 1)]
        if count >= _MAX_DEGREE:
            raise UserError(
                f"the response at alpha={spec.alpha.tolist()}, time={spec.time.tolist()}, scheme={spec.scheme!r} needs "
                f"more than {_MAX_DEGREE} Chebyshev terms for a tolerance of {tolerance:g}; use a smaller time"
            )
        count *= 2


def poisson_coefficients(spec: Filter, tolerance: float) -> Tensor:
    """Coefficients ``p_k`` with ``E_α(-r (1 - z) T^α) = Σ_k p_k z^k`` for ``|z| ≤ 1``, where the spectrum is complex.

    They are the probabilities that the fractional Poisson process makes k jumps until T: not negative, of sum one. On
    an operator whose powers have norm at most one, the mass of the tail that is cut bounds the error; it is below the
    tolerance.

    Returns:
        Shape (J + 1,) or (K, J + 1), float64, differentiable in α, T and r.
    """
    alpha, time, rate = (_column(v, spec.alpha.device) for v in (spec.alpha, spec.time, spec.rate))
    log_s, weights = (c.to(alpha.device) for c in contour(_POISSON_HALF_NODES))
    s_alpha = torch.exp(alpha * log_s)
    scaled_time = rate * time**alpha
    start = weights * torch.exp(-log_s) * s_alpha / (s_alpha + scaled_time)
    log_ratio = torch.log(scaled_time / (s_alpha + scaled_time))
    k = torch.arange(_MAX_DEGREE // 4, device=alpha.device)
    terms = (start.unsqueeze(-2) * torch.exp(k[:, None] * log_ratio.unsqueeze(-2))).real.sum(-1)
    missing = (1 - terms.detach().cumsum(-1)).abs()
    lengths = (missing > tolerance).long().cumprod(-1).sum(-1) + 1
    length = int(lengths.max())
    kept = terms[..., :length]
    if length > k.numel() or float(kept.detach().min()) < -tolerance:
        raise UserError(
            f"the directed diffusion at alpha={spec.alpha.tolist()} holds its tolerance of {tolerance:g} only up to a "
            f"time of about 50 at alpha = 1, got time={spec.time.tolist()}"
        )
    return kept


def warn_if_unstable(spec: Filter, largest_frequency: float) -> None:
    """Warn when an explicit scheme's step leaves its region of stability on a spectrum up to ``largest_frequency``."""
    scheme = None if spec.scheme == EXACT else find_scheme(spec.scheme)
    if scheme is None or scheme.stability_limit is None:
        return
    rates = torch.as_tensor(spec.rate, dtype=torch.float64, device=spec.alpha.device)
    each = torch.broadcast_tensors(spec.alpha.detach(), spec.time.detach(), rates.detach())
    for alpha, time, rate in zip(*(values.flatten().tolist() for values in each), strict=True):
        limit = scheme.stability_limit(alpha)
        step = time / _steps(time, spec)
        frequency = rate * largest_frequency
        if frequency * step**alpha > limit:
            largest_step = (limit / frequency) ** (1 / alpha)
            remedy = (
                f"use step <= {largest_step:.3g}," if largest_step > time / 1e4 else "no practical step is stable: use"
            )
            warnings.warn(
                f"scheme {scheme.name!r} is unstable at alpha={alpha:.4g}, step={step:.4g}: r λ_max h^α = "
                f"{frequency * step**alpha:.3g} exceeds {limit:.3g}, so high frequencies are amplified and the "
                f"result is another filter, not an approximation; {remedy} an implicit scheme or scheme='exact'",
                StabilityWarning,
                stacklevel=3,
            )
            return


def _exact(frequency: Tensor, alpha: Tensor, time: Tensor) -> Tensor:
    """``frequency`` is r λ here and below."""
    return mittag_leffler(alpha, frequency * time**alpha)


def _stepped(frequency: Tensor, alpha: Tensor, time: Tensor, spec: Filter) -> Tensor:
    scheme: Scheme = find_scheme(spec.scheme)
    counts = {_steps(t, spec) for t in time.detach().flatten().tolist()}
    if len(counts) > 1:
        raise ArgumentError(
            "time", f"must give every view the same number of steps, got {sorted(counts)} of step {spec.step}"
        )
    steps = counts.pop()
    start = torch.ones_like(frequency * alpha)
    states = march(
        scheme,
        lambda n, y: -frequency * y,
        start,
        alpha,
        time / steps,
        steps,
        solve=lambda n, known, gain: known / (1 + gain * frequency),
    )
    (solution,) = deque(states, maxlen=1)
    return solution


def _steps(time: float, spec: Filter) -> int:
    """Number of steps; a time that is learned keeps to whole steps by stretching the step a little."""
    assert spec.step is not None
    return max(1, round(time / spec.step)) if spec.time.requires_grad else count_steps(time, spec.step)


def _column(value: Tensor | float, device: torch.device) -> Tensor:
    """As float64 with a trailing axis for the frequencies, unless it is a scalar."""
    value = torch.as_tensor(value, dtype=torch.float64, device=device)
    return value.unsqueeze(-1) if value.dim() else value
