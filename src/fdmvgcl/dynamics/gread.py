"""Reaction-diffusion on graphs (GREAD; Choi et al., 2023)."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from fdmvgcl.dynamics.base import Dynamics
from fdmvgcl.dynamics.edges import propagate
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.operators import Operator

Reaction = Literal["bs", "fisher", "allen-cahn", "zeldovich"]

# r(Y) as a function of Y, L Y and the product with Ā.
REACTIONS: dict[str, Callable[[Tensor, Tensor, Callable[[Tensor], Tensor]], Tensor]] = {
    "bs": lambda y, rough, smooth: smooth(rough),
    # y (1 - y) of a negative y runs to -∞ in finite time, and projected features have both signs: taken as odd.
    "fisher": lambda y, rough, smooth: y * (1 - y.abs()),
    "allen-cahn": lambda y, rough, smooth: y * (1 - y.square()),
    "zeldovich": lambda y, rough, smooth: y.square() * (1 - y),
}


class Gread(Dynamics):
    """GREAD, ``F(Y) = -a L Y + b r(Y)`` with ``L = I - Ā`` and learnable a, b in (0, 1), both 1/2 at the start.

    | reaction     | r(Y)                                                  |
    | ------------ | ----------------------------------------------------- |
    | `bs`         | `Ā L Y`, blurring-sharpening                          |
    | `fisher`     | `Y (1 - |Y|)`, entry by entry; GREAD's for 0 ≤ Y      |
    | `allen-cahn` | `Y (1 - Y²)`                                          |
    | `zeldovich`  | `Y² (1 - Y)`                                          |

    Args:
        dim: width d of the state (N, d).
        generator: not used, as nothing is drawn.
        reaction: r.
    """

    def __init__(self, dim: int, generator: torch.Generator, *, reaction: Reaction = "bs") -> None:
        super().__init__()
        if reaction not in REACTIONS:
            raise ArgumentError("reaction", f"must be one of {', '.join(REACTIONS)}, got {reaction!r}")
        self.reaction = REACTIONS[reaction]
        self.diffusion_logit = nn.Parameter(torch.zeros(()))
        self.reaction_logit = nn.Parameter(torch.zeros(()))

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        smooth = partial(propagate, operator)
        rough = state - smooth(state)
        reaction = self.reaction(state, rough, smooth)
        return self.reaction_logit.sigmoid() * reaction - self.diffusion_logit.sigmoid() * rough
