"""Graph neural diffusion (GRAND; Chamberlain et al., 2021), linear and with attention."""

import torch
from torch import Tensor, nn

from fdmvgcl.dynamics.base import Dynamics
from fdmvgcl.dynamics.edges import edge_dots, edge_softmax, edge_sum, entries, propagate
from fdmvgcl.graphs.operators import Operator


class Grand(Dynamics):
    """GRAND-l, ``F(Y) = Ā Y - Y``, step by step.

    The name ``"grand"`` means the same equation solved as a spectral filter, which is exact and much faster; this class
    is for comparison.

    Args:
        dim: width d of the state (N, d).
        generator: not used, as nothing is drawn.
    """

    def __init__(self, dim: int, generator: torch.Generator) -> None:
        super().__init__()

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        return propagate(operator, state) - state


class GrandAttention(Dynamics):
    """GRAND-nl: the diffusivity follows the features, ``F(Y) = A(Y) Y - Y``.

    A(Y) is the mean over heads of ``a_ij ∝ w_ij exp(⟨Q y_i, K y_j⟩ / √h)`` on edges and self-loops, each row summing to
    one; w is the edge's weight. Equal scores make it the random walk, and rows that sum to one keep every feature
    within its initial range.

    Args:
        dim: width d of the state (N, d).
        generator: draws K and Q.
        hidden: width h of a head's queries and keys.
        heads: number of heads.
    """

    normalisation = "rw"
    self_loops = 1.0

    def __init__(self, dim: int, generator: torch.Generator, *, hidden: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.query = nn.Parameter(_projections(heads, dim, hidden, generator))
        self.key = nn.Parameter(_projections(heads, dim, hidden, generator))

    def attention(self, state: Tensor, operator: Operator) -> Tensor:
        """A's entries at the operator's, shape (nnz,)."""
        prior = entries(operator)
        scale = self.query.shape[-1] ** -0.5
        return torch.stack(
            [
                edge_softmax(operator, edge_dots(operator, state @ query * scale, state @ key), prior)
                for query, key in zip(self.query, self.key, strict=True)
            ]
        ).mean(0)

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        return edge_sum(operator, self.attention(state, operator), state) - state


def _projections(heads: int, dim: int, hidden: int, generator: torch.Generator) -> Tensor:
    weights = torch.empty(heads, dim, hidden)
    for weight in weights:
        nn.init.xavier_uniform_(weight, generator=generator)
    return weights
