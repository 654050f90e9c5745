"""PolyGCL: a low-pass and a high-pass view by learnable polynomials, both told from shuffled features."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn

from fdmvgcl.diffusion.linear import expand
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.methods.dgi import told_apart
from fdmvgcl.methods.layers import Activation, Inputs, dropout, make_activation, usual_linear
from fdmvgcl.methods.training import Trained


def chebyshev_nodes(degree: int) -> Tensor:
    """``cos((K - j + 1/2) π / (K + 1))`` for j = 0 … K: ascending, shape (K + 1,)."""
    steps = torch.arange(degree, -1, -1, dtype=torch.float64)
    return torch.cos((steps + 0.5) * math.pi / (degree + 1))


def interpolation(degree: int) -> Tensor:
    """The matrix (K + 1, K + 1) that takes values at the nodes to coefficients of ``Σ_i c_i T_i``."""
    orders = torch.arange(degree + 1, dtype=torch.float64)
    matrix = 2 / (degree + 1) * torch.cos(orders[:, None] * chebyshev_nodes(degree).acos())
    matrix[0] /= 2
    return matrix


def _uniform(shape: tuple[int, ...], bound: float, generator: Generator) -> Tensor:
    return nn.init.uniform_(torch.empty(shape), -bound, bound, generator=generator)


class Network(nn.Module):
    """Two monotone filters of L, one projection for both, weights of the sum, and a bilinear discriminator."""

    def __init__(
        self, columns: int, dim: int, degree: int, activation: Activation, batch_norm: bool, generator: Generator
    ) -> None:
        super().__init__()
        self.falls = nn.Parameter(torch.full((degree,), 2 / degree, dtype=torch.float64))
        self.rises = nn.Parameter(torch.full((degree,), 2 / degree, dtype=torch.float64))
        self.register_buffer("interpolation", interpolation(degree))
        self.norm = nn.BatchNorm1d(columns, momentum=0.01) if batch_norm else nn.Identity()
        self.projection = usual_linear(columns, dim, generator)
        self.activation = make_activation(activation)
        self.shares = nn.Parameter(torch.tensor([0.5, 0.5]))
        self.weight = nn.Parameter(_uniform((dim, dim), dim**-0.5, generator))
        self.bias = nn.Parameter(_uniform((1,), dim**-0.5, generator))

    def responses(self) -> Tensor:
        """Values at the nodes of the low pass, falling from 2, and of the high pass, rising from 0, (2, K + 1)."""
        start = self.falls.new_zeros(1)
        low = 2 - torch.cat([start, self.falls.relu().cumsum(0)])
        return torch.stack([low, torch.cat([start, self.rises.relu().cumsum(0)])])

    def filtered(self, x: Tensor, operator: Operator) -> Tensor:
        """``p_low(L) X`` and ``p_high(L) X``, shape (2, N, F), by one recurrence."""
        coefficients = self.responses() @ self.get_buffer("interpolation").T
        return expand(operator, CHEBYSHEV, x, coefficients)

    def project(self, filtered: Tensor) -> Tensor:
        views = [self.activation(self.projection(self.norm(each))) for each in filtered]
        return torch.stack(views)


@dataclass(eq=False, repr=False)
class PolyGCL(Trained):
    """Chen, Lei & Wei, "PolyGCL: graph contrastive learning via learnable spectral polynomial filters", ICLR 2024:
    the two views ``Z = σ(p(L) X W)`` of each node are told from those of shuffled features by a bilinear
    discriminator against the mean of their sum. p interpolates values at the Chebyshev nodes that only fall (low pass,
    from 2) or only rise (high pass, from 0).

    The defaults are the authors' for Cora: ``filter_lr`` and ``filter_weight_decay`` are of the filters and of the
    sum's weights. ``feature_dropout`` is of X, ``dropout`` of the filtered X; both views share the former's mask, where
    the authors' program draws one for each.
    """

    dim: int = 512
    degree: int = 10
    epochs: int = 500
    patience: int | None = 20
    lr: float = 2e-3
    weight_decay: float = 0.0
    filter_lr: float = 5e-4
    filter_weight_decay: float = 1e-3
    feature_dropout: float = 0.3
    dropout: float = 0.3
    activation: Activation = "relu"
    batch_norm: bool = False
    features: FeatureScaling = "rows"
    seed: int = 0

    def build(self, columns: int, generator: Generator) -> Network:
        return Network(columns, self.dim, self.degree, self.activation, self.batch_norm, generator)

    def optimiser(self, network: nn.Module) -> torch.optim.Optimizer:
        filters = [network.falls, network.rises, network.shares]
        ids = {id(each) for each in filters}
        others = [each for each in network.parameters() if id(each) not in ids]
        groups: list[dict[str, Any]] = [{"params": others}, {"params": filters, "lr": self.filter_lr}]
        groups[1]["weight_decay"] = self.filter_weight_decay
        return torch.optim.Adam(groups, lr=self.lr, weight_decay=self.weight_decay)

    def loss(self, network: Network, inputs: Inputs, generator: Generator) -> Tensor:
        x = inputs.features.dense()
        order = torch.randperm(inputs.num_nodes, generator=generator)
        views = []
        for given in (x, x[order]):
            filtered = network.filtered(dropout(given, self.feature_dropout, generator), inputs.bare)
            views.append(network.project(dropout(filtered, self.dropout, generator)))
        summary = (network.shares @ views[0].mean(1)).relu()
        real, wrong = (view.flatten(0, 1) @ (network.weight @ summary) + network.bias for view in views)
        return told_apart(real, wrong)

    def embed(self, network: Network, inputs: Inputs) -> Tensor:
        views = network.project(network.filtered(inputs.features.dense(), inputs.bare))
        return torch.einsum("v,vnd->nd", network.shares, views)

    def bytes_needed(self, graph: Graph) -> int:
        columns = max(graph.num_features, 128)
        return self._layer_bytes(graph, 4 * self.dim) + 4 * 14 * graph.num_nodes * columns
