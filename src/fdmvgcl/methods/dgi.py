"""DGI: tell the nodes of a graph from those of a corrupted one by a summary of the graph."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.methods.layers import GCN, Inputs
from fdmvgcl.methods.training import Trained


class Network(nn.Module):
    """An encoder and a bilinear discriminator ``hᵀ W s + b``."""

    def __init__(self, columns: int, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.encoder = GCN([columns, dim], generator, last="prelu")
        weight = nn.init.xavier_uniform_(torch.empty(1, dim, dim), generator=generator)[0]  # a bilinear layer's: small
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.zeros(1))

    def judge(self, rows: Tensor, summary: Tensor) -> Tensor:
        """A logit for each row (N, d)."""
        return rows @ (self.weight @ summary) + self.bias


def told_apart(real: Tensor, corrupted: Tensor) -> Tensor:
    """Mean cross-entropy of logits that should be positive and of logits that should be negative."""
    wrong = torch.cat([nn.functional.softplus(-real), nn.functional.softplus(corrupted)])
    return wrong.mean()


@dataclass(eq=False, repr=False)
class DGI(Trained):
    """Veličković, Fedus, Hamilton, Liò, Bengio & Hjelm, "Deep Graph Infomax", ICLR 2019, equation 1:
    ``-1/2N Σ_i [log D(h_i, s) + log(1 - D(h̃_i, s))]``, the summary s being the sigmoid of the mean row and h̃ the rows
    of the graph with its features shuffled between nodes.

    The defaults are the authors' for Cora. Features are shuffled after the projection, which is the same and cheaper.
    """

    dim: int = 512
    epochs: int = 10000
    patience: int | None = 20
    lr: float = 1e-3
    weight_decay: float = 0.0
    features: FeatureScaling = "rows"
    seed: int = 0

    def build(self, columns: int, generator: torch.Generator) -> Network:
        return Network(columns, self.dim, generator)

    def loss(self, network: Network, inputs: Inputs, generator: torch.Generator) -> Tensor:
        order = torch.randperm(inputs.num_nodes, generator=generator)
        rows = network.encoder(inputs.features, inputs.operator)
        corrupted = network.encoder(inputs.features, inputs.operator, order=order)
        summary = rows.mean(0).sigmoid()
        return told_apart(network.judge(rows, summary), network.judge(corrupted, summary))

    def embed(self, network: Network, inputs: Inputs) -> Tensor:
        rows: Tensor = network.encoder(inputs.features, inputs.operator)
        return rows

    def bytes_needed(self, graph: Graph) -> int:
        return self._layer_bytes(graph, 2 * self.dim)
