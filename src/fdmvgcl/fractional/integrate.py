"""Time stepping of ``D^α y = F(t, y)`` for any F, differentiable in start, order, time and F's parameters."""

import math
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint as recompute

from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.fractional._checks import check_alpha, check_finite, check_time, count_steps
from fdmvgcl.fractional.history import History
from fdmvgcl.fractional.implicit import implicit_step
from fdmvgcl.fractional.schemes import Scheme, Solve, find_scheme, march

State = TypeVar("State", Tensor, tuple[Tensor, ...])


class ShortMemoryWarning(UserWarning):
    """A run recalled only its latest steps; the message states what that left out."""


@overload
def fdeint(
    func: Callable[[Tensor, State], State],
    y0: State,
    alpha: Tensor | float,
    time: Tensor | float,
    *,
    step: float | None = ...,
    steps: int | None = ...,
    scheme: str | Scheme = ...,
    trajectory: Literal[False] = ...,
    checkpoint: bool = ...,
    memory: int | None = ...,
    tolerance: float | None = ...,
) -> State: ...


@overload
def fdeint(
    func: Callable[[Tensor, State], State],
    y0: State,
    alpha: Tensor | float,
    time: Tensor | float,
    *,
    step: float | None = ...,
    steps: int | None = ...,
    scheme: str | Scheme = ...,
    trajectory: Literal[True],
    checkpoint: bool = ...,
    memory: int | None = ...,
    tolerance: float | None = ...,
) -> tuple[Tensor, State]: ...


def fdeint(
    func: Callable[[Tensor, Any], Any],
    y0: Any,
    alpha: Tensor | float,
    time: Tensor | float,
    *,
    step: float | None = None,
    steps: int | None = None,
    scheme: str | Scheme = "trapezoid",
    trajectory: bool = False,
    checkpoint: bool = False,
    memory: int | None = None,
    tolerance: float | None = None,
) -> Any:
    """Solve the Caputo equation ``D^α y = F(t, y)``, ``y(0) = y0``, on a uniform grid up to ``time``.

    The default scheme, the implicit product trapezoid, is the one of highest order and is stable at any step; the
    explicit ones evaluate F once or twice a step but blow up past their ``stability_limit``. The memory of N steps is N
    states, besides what ``func`` itself records for the backward pass. Gradients are exact for the discrete solution;
    implicit schemes do not have second derivatives.

    Args:
        func: ``func(t, y) = F(t, y)`` of the state's shape; t is a scalar tensor. With an implicit scheme or
            ``checkpoint`` it must be deterministic, as it is evaluated again in the backward pass.
        y0: initial state, a floating tensor of any shape or a tuple of such.
        alpha: order in (0, 1], scalar or broadcastable to the state (to a tuple: scalar only).
        time: end T > 0. As a tensor it may be learned: its gradient is that at a fixed number of steps.
        step: step h, which must fit the time (one that requires a gradient: is stretched to). Exactly one of ``step``
            and ``steps`` is given.
        steps: number of steps N.
        scheme: one of ``SCHEMES``, or its name.
        trajectory: return every state instead of the last.
        checkpoint: recompute what is inside ``func`` in the backward pass instead of keeping it.
        memory: recall only so many latest steps. What that leaves out is stated by a ``ShortMemoryWarning``.
        tolerance: of an implicit step's residual, relative to the state's largest entry; 1e-12, or a few units of
            rounding in less than double precision.

    Returns:
        The state at ``time``, like ``y0``; with ``trajectory``, times (N + 1,) and states (N + 1, …) or a tuple.
    """
    layout = _Layout(y0)
    start = layout.pack(y0)
    check_finite("y0", start)
    found = find_scheme(scheme)
    order = _order(alpha, start, scalar_only=layout.is_tuple)
    end, count = _grid(time, step, steps, start.device)
    # Multiples of the time, not of the step, so that the last is the time to the last digit.
    times = (end * (torch.arange(count + 1, dtype=end.dtype, device=end.device) / count)).to(start.dtype)
    grid = times.unbind()

    def rhs(n: int, y: Tensor) -> Tensor:
        return layout.pack(func(grid[n], layout.unpack(y)))

    def recorded(n: int, y: Tensor) -> Tensor:
        return recompute(rhs, n, y, use_reentrant=False) if checkpoint else rhs(n, y)

    history = History(_positive("memory", memory))
    solve = _solver(rhs, recorded, start, _tolerance(tolerance, start.dtype))
    run = march(found, recorded, start, order, end / count, count, solve=solve, history=history)
    states = [start, *run] if trajectory else deque(run, maxlen=1)
    if history.dropped > 0:
        _warn_of_short_memory(memory, history.dropped)
    return (times, layout.unpack(torch.stack(tuple(states)))) if trajectory else layout.unpack(states[-1])


class _Layout:
    """How a state, a tensor or a tuple of tensors, lies in one tensor: itself, or all entries in a row."""

    def __init__(self, y0: Any) -> None:
        parts = y0 if isinstance(y0, tuple) else (y0,)
        if not parts or not all(isinstance(part, Tensor) and part.is_floating_point() for part in parts):
            raise UserError(f"y0 must be a floating tensor or a tuple of such, got {_describe(y0)}")
        if len({(part.dtype, part.device) for part in parts}) > 1:
            raise UserError(f"y0 must have one dtype and device, got {[(p.dtype, str(p.device)) for p in parts]}")
        self.is_tuple = isinstance(y0, tuple)
        self._like = parts[0]
        self._shapes = [part.shape for part in parts]
        self._form = _describe(y0)

    def pack(self, state: Any) -> Tensor:
        """The state as one tensor of y0's dtype, after a check that it has y0's form."""
        parts = state if isinstance(state, tuple) else (state,)
        fits = isinstance(state, tuple) == self.is_tuple and all(isinstance(part, Tensor) for part in parts)
        if not fits or [part.shape for part in parts] != self._shapes:
            raise ArgumentError("func", f"must return what y0 is, {self._form}, got {_describe(state)}")
        return torch.cat([part.flatten() for part in parts]).to(self._like) if self.is_tuple else state.to(self._like)

    def unpack(self, packed: Tensor) -> Any:
        """The inverse of ``pack``; leading axes of a tuple's entries, those of a trajectory, stay in front."""
        if not self.is_tuple:
            return packed
        lead = packed.shape[:-1]
        parts = packed.split([shape.numel() for shape in self._shapes], dim=-1)
        return tuple(part.reshape(lead + shape) for part, shape in zip(parts, self._shapes, strict=True))


def _solver(
    rhs: Callable[[int, Tensor], Tensor], recorded: Callable[[int, Tensor], Tensor], start: Tensor, tolerance: float
) -> Solve:
    """Solves implicit steps one after the other, each from where the last one ended."""
    latest = start.detach()

    def solve(n: int, known: Tensor, gain: Tensor) -> Tensor:
        nonlocal latest
        y = implicit_step(
            lambda z: rhs(n, z), known, gain, start=latest, tolerance=tolerance, recorded=lambda z: recorded(n, z)
        )
        latest = y.detach()
        return y

    return solve


def _order(alpha: Tensor | float, start: Tensor, *, scalar_only: bool) -> Tensor:
    """α in float64: weights are differences of powers, which rounding to float32 must not precede."""
    order = torch.as_tensor(alpha, dtype=torch.float64, device=start.device)
    check_alpha(order)
    if scalar_only and order.dim():
        raise ArgumentError("alpha", f"must be a scalar for a tuple of states, got shape {tuple(order.shape)}")
    lead = start.dim() - order.dim()
    if lead < 0 or any(a not in (1, s) for a, s in zip(order.shape, start.shape[lead:], strict=True)):
        raise ArgumentError(
            "alpha", f"must broadcast to y0's shape {tuple(start.shape)}, got shape {tuple(order.shape)}"
        )
    return order


def _grid(time: Tensor | float, step: float | None, steps: int | None, device: torch.device) -> tuple[Tensor, int]:
    """The end time, a float64 scalar, and the number of steps."""
    end = torch.as_tensor(time, dtype=torch.float64, device=device)
    if end.numel() != 1:
        raise ArgumentError("time", f"must be a scalar, got shape {tuple(end.shape)}")
    check_time(end)
    if (step is None) == (steps is None):
        raise UserError(f"exactly one of step and steps must be given, got step={step} and steps={steps}")
    if step is not None:
        return end.reshape(()), count_steps(float(end.detach()), step, stretch=end.requires_grad)
    count = _positive("steps", steps)
    assert count is not None
    return end.reshape(()), count


def _positive(name: str, value: int | None) -> int | None:
    if value is not None and (not isinstance(value, int) or value < 1):
        raise ArgumentError(name, f"must be a whole number of at least 1, got {value}")
    return value


def _tolerance(tolerance: float | None, dtype: torch.dtype) -> float:
    if tolerance is None:
        return max(1e-12, 8 * torch.finfo(dtype).eps)
    if not 0 < tolerance < math.inf:
        raise ArgumentError("tolerance", f"must be finite and greater than 0, got {tolerance}")
    return tolerance


def _warn_of_short_memory(memory: int | None, dropped: float) -> None:
    warnings.warn(
        f"memory={memory} left at most {dropped:.3g} out of each entry of the state at each step, directly; what this "
        "changes in F at later steps comes on top",
        ShortMemoryWarning,
        stacklevel=3,
    )


def _describe(state: Any) -> str:
    if isinstance(state, tuple):
        return f"({', '.join(_describe(part) for part in state)})"
    if isinstance(state, Tensor):
        return f"a {str(state.dtype).removeprefix('torch.')} tensor of shape {tuple(state.shape)}"
    return f"a {type(state).__name__}"
