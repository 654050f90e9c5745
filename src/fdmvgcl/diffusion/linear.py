"""Linear fractional diffusion as a graph filter, ``Y = φ(L) X``, with an exact backward pass of constant memory."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from fdmvgcl.diffusion.kernels import Kernel, polynomial
from fdmvgcl.diffusion.recurrence import CHEBYSHEV, POWERS, Basis
from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional import fdeint
from fdmvgcl.fractional._checks import check_finite
from fdmvgcl.fractional.response import (
    EXACT,
    Filter,
    chebyshev_coefficients,
    poisson_coefficients,
    warn_if_unstable,
)
from fdmvgcl.graphs.operators import Operator

if TYPE_CHECKING:
    from fdmvgcl.graphs.graph import Graph

# Error of an expansion, relative to max(1, max|φ|), by the dtype of the features.
TOLERANCE = {torch.float32: 1e-7, torch.float64: 1e-11}
DIRECTED_TOLERANCE = {torch.float32: 1e-7, torch.float64: 1e-9}


def diffuse(
    graph: "Graph | Operator",
    x: Tensor,
    alpha: Tensor | float,
    time: Tensor | float,
    *,
    scheme: str = EXACT,
    step: float | None = None,
    skip: int = 0,
    skip_weight: Tensor | float = 1.0,
    rate: Tensor | float = 1.0,
    kernel: Kernel | None = None,
) -> Tensor:
    """Features after diffusing for a time T: the solution of ``D^α Y = -r L Y``, ``Y(0) = X``, ``L = I - Ā``.

    The scheme's response φ (``fractional.response``) is expanded in Chebyshev polynomials to within ``TOLERANCE`` and
    applied by one sparse product a degree. Gradients in x, α, T, r and the skip's weight are exact for the expansion;
    the backward pass keeps nothing but x. Where the operator's entries require gradients an ordinary autograd path
    serves, whose memory grows with the degree.

    On a directed operator the spectrum is complex. There the exact solution is expanded in powers of Ā, weighted with
    the fractional Poisson distribution, to within ``DIRECTED_TOLERANCE``; other schemes are run step by step.

    Args:
        graph: a graph (its default operator is used) or an operator of N nodes.
        x: features, shape (N, d); or (K, N, d), one block for each of K orders.
        alpha: order in (0, 1], or a vector of K orders.
        time: T > 0, or one for each order.
        scheme: ``"exact"``, or the name of a time-stepping scheme, which then needs ``step``.
        step: step of the scheme; it must divide the time.
        skip: rounds of skip-connection ``y ← e y + s y0``; 0 for none.
        skip_weight: weight s of the skip-connection.
        rate: r > 0, or one for each order.
        kernel: force an implementation; None picks the faster one.

    Returns:
        Shape (N, d) for a single order, (K, N, d) for a vector of them.
    """
    operator = graph if isinstance(graph, Operator) else graph.operator(dtype=x.dtype)
    spec = make_filter(
        alpha, time, scheme=scheme, step=step, skip=skip, skip_weight=skip_weight, rate=rate, device=x.device
    )
    _check_features(x, operator, spec)
    warn_if_unstable(spec, operator.largest_frequency if scheme != EXACT else 0.0)
    return apply_filter(operator.to(x.device, x.dtype), x, spec, kernel=kernel)


def make_filter(
    alpha: Tensor | float,
    time: Tensor | float,
    *,
    scheme: str = EXACT,
    step: float | None = None,
    skip: int = 0,
    skip_weight: Tensor | float = 1.0,
    rate: Tensor | float = 1.0,
    device: torch.device | None = None,
) -> Filter:
    """A checked ``Filter`` from numbers or tensors."""
    as_tensor = (torch.as_tensor(v, dtype=torch.float64, device=device) for v in (alpha, time, skip_weight, rate))
    alpha, time, skip_weight, rate = as_tensor
    return Filter(alpha, time, scheme, step, skip, skip_weight, rate)


def apply_filter(operator: Operator, x: Tensor, spec: Filter, *, kernel: Kernel | None = None) -> Tensor:
    """``diffuse`` without its checks, for the training loop; the operator must have x's dtype and device."""
    if operator.directed:
        return _apply_directed(operator, x, spec, kernel)
    coefficients = chebyshev_coefficients(spec, TOLERANCE[x.dtype])
    similarity = operator.similarity
    if similarity is not None:
        x = x * similarity[:, None]
    y = expand(operator, CHEBYSHEV, x, coefficients, kernel)
    return y if similarity is None else y / similarity[:, None]


def _apply_directed(operator: Operator, x: Tensor, spec: Filter, kernel: Kernel | None) -> Tensor:
    y0 = x.expand(*spec.alpha.shape, *x.shape) if x.dim() == 2 else x
    if spec.scheme == EXACT:
        coefficients = poisson_coefficients(spec, DIRECTED_TOLERANCE[x.dtype])

        def one_round(y: Tensor) -> Tensor:
            return expand(operator, POWERS, y, coefficients, kernel)
    else:

        def one_round(y: Tensor) -> Tensor:
            return _stepped(operator, y, spec)

    y = one_round(y0)
    weight = torch.as_tensor(spec.skip_weight, dtype=x.dtype, device=x.device)
    for round_number in range(spec.skip):
        y = (one_round(y) if round_number else y) + (weight[:, None, None] if weight.dim() else weight) * y0
    return y


def _stepped(operator: Operator, y: Tensor, spec: Filter) -> Tensor:
    """The scheme run step by step on ``F(y) = r (Ā y - y)``, one order after the other."""

    def run(y: Tensor, alpha: Tensor, time: Tensor, rate: Tensor) -> Tensor:
        def change(t: Tensor, state: Tensor) -> Tensor:
            return rate.to(state) * (operator.matmul(state) - state)

        return fdeint(change, y, alpha, time, step=spec.step, scheme=spec.scheme)

    rate = torch.as_tensor(spec.rate)
    if not spec.alpha.dim():
        return run(y, spec.alpha, spec.time, rate)
    each = (value.expand_as(spec.alpha) for value in (spec.alpha, spec.time, rate))
    return torch.stack([run(*parts) for parts in zip(y, *each, strict=True)])


def expand(operator: Operator, basis: Basis, x: Tensor, coefficients: Tensor, kernel: Kernel | None = None) -> Tensor:
    """``Σ_j c_j P_j(Ā) x`` with x (N, d) or (K, N, d) and c (J,) or (K, J), in the shapes of ``diffuse``.

    It differentiates in x and c; in the operator's entries only if they require it.
    """
    if operator.values.requires_grad:
        return _expand_by_autograd(operator, basis, x, coefficients)
    shared = x.dim() == 2
    blocks = x[None] if shared else x
    weights = coefficients.reshape(1, -1, coefficients.shape[-1]) if shared else coefficients[:, None]
    y: Tensor = _Expansion.apply(blocks.contiguous(), weights, operator, basis, kernel)  # type: ignore[no-untyped-call]
    return y.reshape(*coefficients.shape[:-1], *x.shape[-2:])


class _Expansion(torch.autograd.Function):
    """``y[v, r] = Σ_j c[v, r, j] P_j(Ā) x[v]`` for x (V, N, d) and c (V, R, J).

    ``P_j(Ā)`` is linear in x, so the recurrence on the incoming gradient g gives all: ``∂x = Σ_j c_j P_j(Āᵀ) g`` and
    ``∂c_j = ⟨P_j(Āᵀ) g, x⟩``. Where x needs no gradient, the recurrence on x serves all R outputs at once.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, coefficients: Tensor, operator: Operator, basis: Basis, kernel: Kernel | None
    ) -> Tensor:
        ctx.save_for_backward(x, coefficients)
        ctx.operator, ctx.basis, ctx.kernel = operator, basis, kernel
        sums, _ = polynomial(operator, basis, x, coefficients, kernel=kernel)
        assert sums is not None
        return sums

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grad = grads[0].contiguous()
        x, coefficients = ctx.saved_tensors
        wants_x, wants_coefficients = ctx.needs_input_grad[:2]
        if not wants_x:
            _, dots = polynomial(
                ctx.operator, ctx.basis, x, coefficients, want_sums=False, probes=grad, kernel=ctx.kernel
            )
            return None, dots, None, None, None
        blocks, outputs, degrees = coefficients.shape
        sums, dots = polynomial(
            ctx.operator.transposed,
            ctx.basis,
            grad.flatten(0, 1),
            coefficients.reshape(-1, 1, degrees),
            probes=x[:, None].expand_as(grad).reshape(-1, 1, *x.shape[1:]) if wants_coefficients else None,
            kernel=ctx.kernel,
        )
        assert sums is not None
        grad_x = sums.reshape(blocks, outputs, *x.shape[1:]).sum(1)
        return grad_x, None if dots is None else dots.reshape(coefficients.shape), None, None, None


def _expand_by_autograd(operator: Operator, basis: Basis, x: Tensor, coefficients: Tensor) -> Tensor:
    """The same sum by ordinary autograd, with gradients in the operator's entries; memory grows with the degree."""
    nodes = operator.num_nodes
    flat = x if x.dim() == 2 else x.permute(1, 0, 2).reshape(nodes, -1)
    inner = replace(operator, similarity=None)
    weights = coefficients.to(x.dtype)

    def weighted(term: Tensor, j: int) -> Tensor:
        if x.dim() == 3:
            term = term.reshape(nodes, x.shape[0], -1).permute(1, 0, 2)
        return weights[..., j, None, None] * term

    total, old, now = weighted(flat, 0), torch.zeros_like(flat), flat
    for j in range(1, weights.shape[-1]):
        factor, back = (basis.factor, basis.back) if j > 1 else (basis.first, 0.0)
        old, now = now, factor * inner.matmul(now) - back * old
        total = total + weighted(now, j)
    return total


def _check_features(x: Tensor, operator: Operator, spec: Filter) -> None:
    nodes, orders = operator.num_nodes, tuple(spec.alpha.shape)
    if x.dtype not in TOLERANCE:
        raise ArgumentError("x", f"must be float32 or float64, got {x.dtype}")
    if x.dim() not in (2, 3) or x.shape[-2] != nodes or (x.dim() == 3 and orders != tuple(x.shape[:1])):
        expected = f"({nodes}, d)" + (f" or ({orders[0]}, {nodes}, d)" if orders else "")
        raise ArgumentError("x", f"must have shape {expected} for this graph and these orders, got {tuple(x.shape)}")
    check_finite("x", x)
