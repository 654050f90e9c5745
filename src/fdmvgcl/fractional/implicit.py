"""The equation of an implicit step, ``y = known + g F(y)``: solved by iteration, differentiated at its solution."""

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

_WINDOW = 50  # pairs of vectors kept by the accelerated iteration
_DEPENDENT = 1e-6  # share of a vector below which what is left of it is rounding
_ANDERSON_ITERATIONS = 150
_NEWTON_STEPS = 40
_NEWTON_ACCURACY = 1e-2  # of the linear equation of a Newton step

Map = Callable[[Tensor], Tensor]
Iterate = tuple[Tensor, Tensor]  # a state and its residual


class ImplicitStepError(RuntimeError, FloatingPointError):
    """The equation of an implicit step was not solved: it has no solution within reach, or numbers overflowed."""


@torch.no_grad()
def fixed_point(update: Map, start: Tensor, *, tolerance: float, scale: float) -> Tensor:
    """The y of ``y = update(y)``, where ``update`` need not contract.

    Anderson acceleration with a long memory, which on a linear map is GMRES; and should the map be too far from linear
    for that, Newton's method with a line search from the best iterate, its equations solved by GMRES.

    Args:
        start: first iterate, any shape.
        tolerance: on ``max|update(y) - y|``, relative to the larger of ``scale`` and ``max|y|``.
    """

    def solved(y: Tensor, residual: Tensor) -> bool:
        return float(residual.abs().max()) <= tolerance * max(scale, float(y.abs().max()))

    y, residual = _anderson(update, start, solved)
    if not solved(y, residual):
        y, residual = _newton(update, y, residual, solved)
    if not solved(y, residual):
        raise ImplicitStepError(
            f"an implicit step did not reach its tolerance of {tolerance:g}: a residual of "
            f"{float(residual.abs().max()):.3g} is left for a state of size {max(scale, float(y.abs().max())):.3g}; "
            "use a smaller step or a larger tolerance"
        )
    return y


def _anderson(update: Map, y: Tensor, solved: Callable[[Tensor, Tensor], bool]) -> Iterate:
    """The solution, or the best iterate once the map has shown not to be linear enough, or too many are spent.

    GMRES guarantees that the residual of its minimiser never grows: where it does, pairs from afar mislead.
    """
    secants = _Secants()
    best, lowest, predicted = (y, y), math.inf, math.inf
    for _ in range(_ANDERSON_ITERATIONS):
        residual = update(y) - y
        size = _norm(residual)
        if solved(y, residual):
            return y, residual
        improved = size < lowest
        if improved or lowest == math.inf:
            best, lowest = (y, residual), size
        secants.add(y, residual)
        minimiser, remainder = secants.minimise(y, residual)
        if not improved and not _norm(remainder) <= 2 * predicted:
            break
        predicted = _norm(remainder)
        y = minimiser + remainder
    return best


def _newton(update: Map, y: Tensor, residual: Tensor, solved: Callable[[Tensor, Tensor], bool]) -> Iterate:
    """Newton's method, the derivative along a direction being a difference quotient; halves steps that do not help."""
    for _ in range(_NEWTON_STEPS):
        if solved(y, residual):
            break
        direction = _newton_direction(update, y, residual)
        length = 1.0
        while True:
            trial = y + length * direction
            trial_residual = update(trial) - trial
            if _norm(trial_residual) <= (1 - 1e-3 * length) * _norm(residual):
                break
            length /= 2
            if length < 1e-6:
                return y, residual
        y, residual = trial, trial_residual
    return y, residual


def _newton_direction(update: Map, y: Tensor, residual: Tensor) -> Tensor:
    """The d of ``d = residual + update'(y) d``, to a few digits."""
    value, goal = y + residual, _NEWTON_ACCURACY * _norm(residual)
    nudge = math.sqrt(torch.finfo(y.dtype).eps) * max(1.0, _norm(y))
    secants = _Secants()
    direction, left = torch.zeros_like(y), residual
    for _ in range(_WINDOW):
        secants.add(direction, left)
        direction, remainder = secants.minimise(direction, left)
        if _norm(remainder) <= goal:
            break
        direction = direction + remainder
        share = nudge / max(_norm(direction), torch.finfo(y.dtype).tiny)
        left = residual + (update(y + share * direction) - value) / share - direction
    return direction


def _norm(vector: Tensor) -> float:
    return float(torch.linalg.vector_norm(vector))


class _Secants:
    """Steps between iterates and the changes of the residual that they cause, the changes kept orthonormal.

    Orthonormal changes solve Anderson's least-squares problem without normal equations, so nothing is lost when they
    are nearly dependent.
    """

    def __init__(self) -> None:
        self._pairs: deque[tuple[Tensor, Tensor]] = deque(maxlen=_WINDOW)
        self._latest: tuple[Tensor, Tensor] | None = None

    def add(self, y: Tensor, residual: Tensor) -> None:
        """Add the pair from the iterate added last to this one."""
        former, self._latest = self._latest, (y, residual)
        if former is None:
            return
        step, change = y - former[0], residual - former[1]
        new_step, new_change = step, change
        for _ in range(2):  # a second pass removes what rounding left in the first
            new_step, new_change = self.minimise(new_step, new_change)
        if not _norm(new_change) > _DEPENDENT * _norm(change):
            # Of no new direction: on a linear map that comes at the solution, on any other the new pair is the truer.
            self._pairs.clear()
            new_step, new_change = step, change
        norm = _norm(new_change)
        if norm > 0:
            self._pairs.append((new_step / norm, new_change / norm))

    def minimise(self, y: Tensor, residual: Tensor) -> tuple[Tensor, Tensor]:
        """The point next to y, within the span of the steps, of least residual as the pairs predict it; and that."""
        y, residual = y.clone(), residual.clone()
        for step, change in self._pairs:
            share = -torch.dot(change.flatten(), residual.flatten())
            y.addcmul_(step, share)
            residual.addcmul_(change, share)
        return y, residual


def implicit_step(
    rhs: Map, known: Tensor, gain: Tensor, *, start: Tensor, tolerance: float, recorded: Map | None = None
) -> Tensor:
    """The y of ``y = known + gain F(y)``, differentiable in ``known``, ``gain`` and whatever F depends on.

    The iteration leaves no trace in the graph: one evaluation at the solution does, and the gradient v that enters it
    solves ``v = grad + gain (∂F/∂y)ᵀ v``.

    Args:
        rhs: F.
        recorded: F as evaluated for the graph, ``rhs`` by default; it may recompute its inside in the backward pass.
    """
    size = float(known.detach().abs().max())
    y = fixed_point(lambda z: known + gain * rhs(z), start, tolerance=tolerance, scale=size)
    if not torch.is_grad_enabled():
        return y
    image = known + gain * (recorded or rhs)(y)
    if not image.requires_grad:
        return y

    def adjoint(grad: Tensor) -> Tensor:
        pull_back = _linearise(lambda z: gain.detach() * rhs(z), y)
        scale = float(grad.abs().max())
        return fixed_point(lambda v: grad + pull_back(v), grad, tolerance=tolerance, scale=scale)

    return _Solution.apply(image, y, adjoint)  # type: ignore[no-any-return, no-untyped-call]


class _Solution(torch.autograd.Function):
    """The value is y, the solution found; the gradient goes through ``adjoint`` into y's image under the equation."""

    @staticmethod
    def forward(ctx: Any, image: Tensor, y: Tensor, adjoint: Map) -> Tensor:
        ctx.adjoint = adjoint
        return y.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return ctx.adjoint(grad), None, None


def _linearise(function: Map, y: Tensor) -> Map:
    """``v -> (∂function/∂y)ᵀ v`` at y."""
    with torch.enable_grad():
        y = y.detach().requires_grad_()
        value = function(y)

    def pull_back(v: Tensor) -> Tensor:
        if not value.requires_grad:
            return torch.zeros_like(v)
        (grad,) = torch.autograd.grad(value, y, v, retain_graph=True, allow_unused=True)
        return torch.zeros_like(v) if grad is None else grad

    return pull_back
