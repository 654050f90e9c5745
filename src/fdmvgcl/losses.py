"""Contrastive losses between consecutive views: pure terms, and thin modules that name them.

A loss takes the views, shape (K, N, d), and returns its named terms, each summed over the ring of consecutive pairs,
and their weights in the total. The trainer adds and logs them.
"""

from typing import Any

import torch
from torch import Tensor, nn


def ring(views: int) -> list[tuple[int, int]]:
    """Consecutive pairs, closed to a ring: (0, 1), …, (K-1, 0); for two views the one pair counts once."""
    if views < 2:
        raise ValueError(f"views must be at least 2 to be contrasted, got {views}")
    return [(0, 1)] if views == 2 else [(k, (k + 1) % views) for k in range(views)]


def unit_rows(x: Tensor) -> Tensor:
    """Rows divided by their norm; a zero row stays zero and gets no gradient. Shape (…, N, d)."""
    square = x.square().sum(-1, keepdim=True)
    return torch.where(square > 0, x * torch.where(square > 0, square, torch.ones_like(square)).rsqrt(), 0.0)


def cosmean(first: Tensor, second: Tensor) -> Tensor:
    """``1 - (1/N) Σ_i ⟨a_i, b_i⟩ / (‖a_i‖ ‖b_i‖)`` for (N, d) and (N, d); the cosine of a zero row is 0."""
    return _Cosmean.apply(first, second)


class _Cosmean(torch.autograd.Function):
    """The gradient in closed form: autograd's own takes three times as many passes over the views, most of an epoch."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        inverse = [_reciprocal(torch.linalg.vector_norm(x, dim=-1)) for x in (first, second)]
        cosine = torch.linalg.vecdot(first, second) * inverse[0] * inverse[1]
        ctx.save_for_backward(first, second, *inverse, cosine)
        return 1 - cosine.mean()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        first, second, inverse_first, inverse_second, cosine = ctx.saved_tensors
        scale = -grads[0] / len(cosine)
        across = (scale * inverse_first * inverse_second)[:, None]

        def gradient(own: Tensor, other: Tensor, inverse: Tensor) -> Tensor:
            return (other * across).addcmul_(own, (-scale * cosine * inverse.square())[:, None])

        return (
            gradient(first, second, inverse_first) if ctx.needs_input_grad[0] else None,
            gradient(second, first, inverse_second) if ctx.needs_input_grad[1] else None,
        )


def _reciprocal(norm: Tensor) -> Tensor:
    return torch.where(norm > 0, 1 / torch.where(norm > 0, norm, torch.ones_like(norm)), 0.0)


def dominant_direction(x: Tensor, *, tolerance: float = 1e-4, iterations: int = 100) -> Tensor:
    """Unit vector c that maximises ``‖x c‖``: the first right singular vector of x, up to its sign.

    Power iteration on ``xᵀx`` from the mean row, to the given change of angle. The gradient solves the perturbation
    equation ``(σ₁² - xᵀx) u = (1 - c cᵀ) g`` on the complement of c, instead of unrolling the iteration.

    Args:
        x: shape (N, d).

    Returns:
        Shape (d,).
    """
    return _DominantDirection.apply(x, tolerance, iterations)


class _DominantDirection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, tolerance: float, iterations: int) -> Tensor:
        direction = _start(x)
        for _ in range(iterations):
            image = x.T @ (x @ direction)
            length = image.norm()
            if length == 0:
                break
            image = image / length
            change = (image - direction).norm()
            direction = image
            if change < tolerance:
                break
        ctx.save_for_backward(x, direction)
        ctx.tolerance, ctx.iterations = tolerance, iterations
        return direction

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, None]:
        x, c = ctx.saved_tensors
        projected = x @ c
        top = projected.square().sum()
        if top == 0:
            return torch.zeros_like(x), None, None
        right = grads[0] - c * (c @ grads[0])

        def shifted(v: Tensor) -> Tensor:
            image = top * v - x.T @ (x @ v)
            return image - c * (c @ image)

        u = _conjugate_gradients(shifted, right, ctx.tolerance, ctx.iterations)
        return torch.outer(projected, u) + torch.outer(x @ u, c), None, None


def _start(x: Tensor) -> Tensor:
    """The mean row, or the longest row where the mean vanishes."""
    mean = x.mean(0)
    start = mean if mean.norm() > 1e-3 * x.norm() / max(1, x.shape[0]) else x[x.square().sum(-1).argmax()]
    length = start.norm()
    return start / length if length > 0 else torch.nn.functional.one_hot(torch.tensor(0), x.shape[1]).to(x)


def _conjugate_gradients(apply: Any, right: Tensor, tolerance: float, iterations: int) -> Tensor:
    """Solve ``apply(u) = right`` for a symmetric, positive semi-definite map."""
    u, residual = torch.zeros_like(right), right
    direction, square = residual, residual.square().sum()
    goal = tolerance**2 * square
    for _ in range(iterations):
        if square <= goal:
            break
        image = apply(direction)
        curvature = direction @ image
        if curvature <= 0:
            break
        u = u + (square / curvature) * direction
        residual = residual - (square / curvature) * image
        previous, square = square, residual.square().sum()
        direction = residual + (square / previous) * direction
    return u


class Loss(nn.Module):
    """A loss over views (K, N, d): ``forward`` returns named terms, ``weights`` says how they add up."""

    weights: dict[str, float]


class RegularisedCosmean(Loss):
    """``Σ_pairs cosmean(Y_k, Y_k') + η |⟨c_k, c_k'⟩|`` with c_k the dominant direction of Y_k.

    Args:
        eta: weight η of the alignment of dominant directions; 0 leaves plain cosmean.
    """

    def __init__(self, eta: float = 0.05) -> None:
        super().__init__()
        self.weights = {"cosmean": 1.0, "direction": eta}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """Terms ``cosmean`` and ``direction`` of views (K, N, d)."""
        pairs = ring(len(views))
        each = views.unbind()  # one by one: the backward of views[k] would fill a tensor of all views each time
        terms = {"cosmean": torch.stack([cosmean(each[a], each[b]) for a, b in pairs]).sum()}
        if self.weights["direction"]:
            directions = [dominant_direction(view) for view in each]
            terms["direction"] = torch.stack([(directions[a] @ directions[b]).abs() for a, b in pairs]).sum()
        return terms
