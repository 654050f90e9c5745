"""Convection-diffusion on graphs (CDE; Zhao et al., 2023)."""

import torch
from torch import Tensor, nn

from fdmvgcl.dynamics.base import Dynamics
from fdmvgcl.dynamics.edges import convect, entries, propagate
from fdmvgcl.graphs.operators import Operator


class Cde(Dynamics):
    """CDE: diffusion, and a convection that carries features along the differences between neighbours.

    ``F(Y)_i = (Ā Y - Y)_i + Σ_j Ā_ij V_ij ⊙ y_j`` with the velocity ``V_ij = tanh(M (y_j - y_i))``. The paper sums
    ``V_ij ⊙ y_j`` plainly over the neighbours; here the edges have the weights of Ā, as those of the diffusion do, or
    the rate at which a hub's features grow would be its degree.

    Args:
        dim: width d of the state (N, d).
        generator: draws M (d, d).
    """

    def __init__(self, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.velocity = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim, dim), generator=generator))

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        convection = convect(operator, entries(operator), state @ self.velocity, state)
        return propagate(operator, state) - state + convection
