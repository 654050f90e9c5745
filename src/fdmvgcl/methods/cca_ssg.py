"""CCA-SSG: two augmented views whose columns agree and are not correlated with each other."""

from dataclasses import dataclass

import torch
from torch import Tensor

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.losses import CCASSG as Loss
from fdmvgcl.methods.layers import GCN, Inputs
from fdmvgcl.methods.training import Trained


@dataclass(eq=False, repr=False)
class CCASSG(Trained):
    """Zhang, Wu, Yan, Wipf & Yu, "From canonical correlation analysis to self-supervised graph neural networks",
    NeurIPS 2021: ``‖Z̃_A - Z̃_B‖² + λ (‖Z̃_AᵀZ̃_A - I‖² + ‖Z̃_BᵀZ̃_B - I‖²)``.

    The defaults are the authors' for Cora. Their program's first term is half of the paper's (but for a constant), so λ
    here is theirs and is doubled in the loss. Where they drop each direction of an edge by itself, both go or stay.
    """

    dim: int = 512
    hidden: int = 512
    layers: int = 2
    epochs: int = 50
    lr: float = 1e-3
    weight_decay: float = 0.0
    decorrelation: float = 1e-3
    drop_edges: float = 0.4
    drop_features: float = 0.1
    features: FeatureScaling = "rows"
    seed: int = 0

    def build(self, columns: int, generator: torch.Generator) -> GCN:
        return GCN([columns, *[self.hidden] * (self.layers - 1), self.dim], generator)

    def loss(self, network: GCN, inputs: Inputs, generator: torch.Generator) -> Tensor:
        views = []
        for _ in range(2):
            kept, operator = inputs.augmented(self.drop_edges, self.drop_features, generator)
            views.append(network(inputs.features, operator, kept))
        loss = Loss(2 * self.decorrelation)
        terms = loss(torch.stack(views))
        return torch.stack([weight * terms[name] for name, weight in loss.weights.items()]).sum()

    def embed(self, network: GCN, inputs: Inputs) -> Tensor:
        rows: Tensor = network(inputs.features, inputs.operator)
        return rows

    def bytes_needed(self, graph: Graph) -> int:
        return self._layer_bytes(graph, self.hidden * (self.layers - 1) + 2 * self.dim)
