"""A view's features after a time under given dynamics, step by step."""

import math

import torch
from torch import Tensor

from fdmvgcl.dynamics.base import Dynamics
from fdmvgcl.fractional import fdeint
from fdmvgcl.fractional._checks import check_time, count_steps
from fdmvgcl.fractional.response import EXACT
from fdmvgcl.graphs.operators import Operator

DEFAULT_SCHEME = "trapezoid"  # the one of highest order, stable at every order and step where the equation is
_FEWEST_STEPS = 4
_TOLERANCE = 1e-5  # of an implicit step in single precision: well below what a step of the default grid is off by

# The C library maps blocks from 32 MB on one by one; in its heap, states freed between others that stay leave holes
# that aligned blocks of the same size do not fit again. Measured on PubMed.
_MAPPED, _FRAGMENTED = 32 << 20, 2.5


def held_bytes(dynamics: Dynamics, nodes: int, dim: int, steps: int) -> int:
    """Bytes that time stepping holds: three states for each of all views' steps, and what solves one implicit step."""
    state = 4 * nodes * dynamics.start(torch.empty(1, dim)).numel()
    held = state * (3 * steps + 30)
    return int(held if state >= _MAPPED else _FRAGMENTED * held)


def stepping(scheme: str, step: float | None, time: float) -> tuple[str, float]:
    """Scheme and step of non-linear dynamics, where ``"exact"`` and None stand for the defaults.

    These are the implicit trapezoid and the largest step of at most 1 that divides the time into at least 4: on linear
    diffusion the result is then off by less than 1 % of the initial features, for every order and T ≥ 1.
    """
    check_time(torch.as_tensor(time))
    steps = max(_FEWEST_STEPS, math.ceil(time))
    return (DEFAULT_SCHEME if scheme == EXACT else scheme), (time / steps if step is None else step)


def evolve(
    dynamics: Dynamics,
    operator: Operator,
    y: Tensor,
    alpha: Tensor | float,
    time: Tensor | float,
    *,
    scheme: str,
    step: float,
    skip: int = 0,
    skip_weight: Tensor | float = 1.0,
    rate: Tensor | float = 1.0,
) -> Tensor:
    """``Y(T)`` of ``D^α S = r F(t, S)`` from projected features y (N, d), with gradients in all that is learned.

    What is inside F is recomputed in the backward pass, so that a step holds three states and no more.

    Args:
        alpha: order, a scalar.
        time: T, a scalar; of one round, with skips.
        step: step, which is stretched or squeezed to fit the time.
        skip, skip_weight: rounds m of skip-connection ``y ← Y(T; y) + s y0`` and their weight s; 0 for none.
        rate: r, a scalar.
    """
    steps = count_steps(float(torch.as_tensor(time).detach()), step, stretch=True)
    tolerance = _TOLERANCE if y.dtype == torch.float32 else None

    def one_round(start: Tensor) -> Tensor:
        state = fdeint(
            lambda t, state: rate * dynamics(t, state, operator),
            dynamics.start(start),
            alpha,
            time,
            steps=steps,
            scheme=scheme,
            checkpoint=True,
            tolerance=tolerance,
        )
        return dynamics.readout(state)

    out = one_round(y)
    for round_number in range(skip):
        out = (one_round(out) if round_number else out) + skip_weight * y
    return out
