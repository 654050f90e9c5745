"""Graph-coupled oscillators (GraphCON; Rusch et al., 2022)."""

import torch
from torch import Tensor, nn

from fdmvgcl.dynamics.base import Dynamics
from fdmvgcl.dynamics.edges import propagate
from fdmvgcl.graphs.operators import Operator


class GraphCON(Dynamics):
    """GraphCON, a damped oscillator at each node, in the fractional form of FD-MVGCL's first appendix.

    ``D^α Z = tanh(Ā Y W) - γ Y - ν Z`` and ``D^α Y = Z``, from ``Z(0) = Y(0)``. The state stacks Y and the velocity Z,
    shape (2, N, d). W (d, d) is learned, from the identity on. A bounded force and ν > 0 keep the oscillators bounded.

    Args:
        dim: width d of Y.
        generator: not used, as nothing is drawn.
        gamma: γ, the stiffness of the oscillators.
        nu: ν, their damping.
    """

    def __init__(self, dim: int, generator: torch.Generator, *, gamma: float = 1.0, nu: float = 1.0) -> None:
        super().__init__()
        self.gamma, self.nu = gamma, nu
        self.weight = nn.Parameter(torch.eye(dim))

    def start(self, y: Tensor) -> Tensor:
        return torch.stack([y, y])

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        y, velocity = state
        force = torch.tanh(propagate(operator, y @ self.weight))
        return torch.stack([velocity, force - self.gamma * y - self.nu * velocity])

    def readout(self, state: Tensor) -> Tensor:
        return state[0]
