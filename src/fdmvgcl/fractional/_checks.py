"""Checks of arguments, made once at the edge: each names the argument, the rule and the value."""

import math

from torch import Tensor

from fdmvgcl.errors import ArgumentError


def check_all(name: str, rule: str, value: Tensor, allowed: Tensor) -> None:
    """Raise unless every entry of ``value`` is ``allowed``; the message shows the first that is not."""
    if not bool(allowed.all()):
        raise ArgumentError(name, f"must {rule}, got {value.detach()[~allowed].flatten()[0].item()}")


def check_alpha(alpha: Tensor) -> None:
    check_all("alpha", "lie in (0, 1]", alpha, (alpha > 0) & (alpha <= 1))


def check_time(time: Tensor) -> None:
    check_all("time", "be finite and greater than 0", time, (time > 0) & time.isfinite())


def check_finite(name: str, value: Tensor) -> None:
    check_all(name, "be finite", value, value.isfinite())


def count_steps(time: float, step: float, *, stretch: bool = False) -> int:
    """How many steps make up the time; the step must fit it, unless it may ``stretch`` to, as for a learned time."""
    if not 0 < step < math.inf:
        raise ArgumentError("step", f"must be finite and greater than 0, got {step}")
    steps = round(time / step)
    if stretch:
        return max(1, steps)
    if steps < 1 or abs(steps * step - time) > 1e-6 * time:
        raise ArgumentError("step", f"must divide the time {time:g} into whole steps, got {step:g}")
    return steps
