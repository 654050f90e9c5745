"""The dominant direction of a view, with a gradient that does not unroll the iteration."""

from collections.abc import Callable
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


def gram_direction(gram: Tensor, row: Tensor, *, tolerance: float = 1e-4, iterations: int = 100) -> Tensor:
    """The same by ``xᵀx``, which is a sum over rows; the gradient goes to it.

    Args:
        gram: ``xᵀx``, shape (d, d).
        row: the sum of the rows of x, shape (d,), to begin with; where it vanishes, a column of the Gram matrix.
    """
    return _GramDirection.apply(gram, row, tolerance, iterations)  # type: ignore[no-any-return, no-untyped-call]


Map = Callable[[Tensor], Tensor]


class _DominantDirection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, tolerance: float, iterations: int) -> Tensor:
        direction = _iterated(lambda v: x.T @ (x @ v), _start(x), tolerance, iterations)
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
        u = _perturbed(lambda v: x.T @ (x @ v), top, c, grads[0], ctx.tolerance, ctx.iterations)
        return torch.outer(projected, u) + torch.outer(x @ u, c), None, None


class _GramDirection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gram: Tensor, row: Tensor, tolerance: float, iterations: int) -> Tensor:
        start = row if row.norm() > 1e-3 * gram.trace().sqrt() else gram[gram.diagonal().argmax()]
        direction = _iterated(gram.mv, _unit(start), tolerance, iterations)
        ctx.save_for_backward(gram, direction)
        ctx.tolerance, ctx.iterations = tolerance, iterations
        return direction

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, None, None]:
        gram, c = ctx.saved_tensors
        top = c @ (gram @ c)
        if top == 0:
            return torch.zeros_like(gram), None, None, None
        u = _perturbed(gram.mv, top, c, grads[0], ctx.tolerance, ctx.iterations)
        return torch.outer(c, u), None, None, None


def _iterated(apply: Map, direction: Tensor, tolerance: float, iterations: int) -> Tensor:
    """Power iteration of a symmetric map, until the direction changes by less than the tolerance."""
    for _ in range(iterations):
        image = apply(direction)
        length = image.norm()
        if length == 0:
            break
        image = image / length
        change = (image - direction).norm()
        direction = image
        if change < tolerance:
            break
    return direction


def _perturbed(apply: Map, top: Tensor, c: Tensor, grad: Tensor, tolerance: float, iterations: int) -> Tensor:
    """u of ``(σ₁² - xᵀx) u = (1 - c cᵀ) g``."""
    right = grad - c * (c @ grad)

    def shifted(v: Tensor) -> Tensor:
        image: Tensor = top * v - apply(v)
        return torch.sub(image, c * (c @ image))

    return _conjugate_gradients(shifted, right, tolerance, iterations)


def _start(x: Tensor) -> Tensor:
    """The mean row, or the longest row where the mean vanishes."""
    mean = x.mean(0)
    start = mean if mean.norm() > 1e-3 * x.norm() / max(1, x.shape[0]) else x[x.square().sum(-1).argmax()]
    return _unit(start)


def _unit(start: Tensor) -> Tensor:
    length = start.norm()
    return start / length if length > 0 else torch.nn.functional.one_hot(torch.tensor(0), len(start)).to(start)


def _conjugate_gradients(apply: Map, right: Tensor, tolerance: float, iterations: int) -> Tensor:
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
