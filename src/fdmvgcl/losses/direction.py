"""The dominant direction of a view, with a gradient that does not unroll the iteration."""

from typing import Any

import torch
from torch import Tensor


def dominant_direction(x: Tensor, *, tolerance: float = 1e-4, iterations: int = 100) -> Tensor:
    """Unit vector c that maximises ``‖x c‖``: the first right singular vector of x, up to its sign.

    Power iteration on ``xᵀx`` from the mean row, to the given change of angle. The gradient solves the perturbation
    equation ``(σ₁² - xᵀx) u = (1 - c cᵀ) g`` on the complement of c, instead of unrolling the iteration.

    Args:
        x: shape (N, d).

    Returns:
        Shape (d,).
    """
    return _DominantDirection.apply(x, tolerance, iterations)  # type: ignore[no-any-return, no-untyped-call]


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
            image: Tensor = top * v - x.T @ (x @ v)
            return torch.sub(image, c * (c @ image))

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
