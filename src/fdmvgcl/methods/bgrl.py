"""BGRL: predict, from one augmented view, what a slowly moving copy of the encoder makes of the other."""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.losses.base import unit_rows
from fdmvgcl.methods.layers import GCN, Inputs, usual_linear
from fdmvgcl.methods.training import Trained

# Of batch norms, as PyTorch means it: nearly the last batch, which is the whole graph.
NORM_MOMENTUM = 0.99


class Network(nn.Module):
    """The trained encoder, its predictor, and the target encoder, which no gradient reaches."""

    def __init__(self, sizes: list[int], hidden: int, generator: Generator) -> None:
        super().__init__()
        self.online, self.target = (
            GCN(sizes, generator, activation="prelu", last="prelu", momentum=NORM_MOMENTUM) for _ in range(2)
        )
        self.target.requires_grad_(False)
        dim = sizes[-1]
        self.predictor = nn.Sequential(
            usual_linear(dim, hidden, generator), nn.PReLU(), usual_linear(hidden, dim, generator)
        )


def follow(target: nn.Module, online: nn.Module, momentum: float) -> None:
    """``φ ← m φ + (1 - m) θ`` for the parameters of two modules of one make."""
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), online.parameters(), strict=True):
            slow.mul_(momentum).add_(fast, alpha=1 - momentum)


def mean_cosine(a: Tensor, b: Tensor) -> Tensor:
    """Of the rows of two matrices (N, d)."""
    return (unit_rows(a) * unit_rows(b)).sum(1).mean()


def cosine_decay(step: int, warm_up: int, steps: int) -> float:
    """A line from 0 to 1 over the warm-up, then half a cosine down to 0 at the end."""
    if step < warm_up:
        return step / warm_up
    return (1 + math.cos(math.pi * (step - warm_up) / max(steps - warm_up, 1))) / 2


@dataclass(eq=False, repr=False)
class BGRL(Trained):
    """Thakoor, Tallec, Azar, Azabou, Dyer, Munos, Veličković & Valko, "Large-scale representation learning on graphs
    via bootstrapping", ICLR 2022, equation 1: ``-2/N Σ_i cos(q(h_1i), h̃_2i)``, made symmetric, h̃ being the target's.

    The defaults are the authors' for Photo, with their ten thousand epochs: the learning rate rises for ``warm_up`` of
    them and falls as a cosine; the target's momentum rises from ``momentum`` to 1 as a cosine. A warm-up that is longer
    than the training counts as a tenth of it. No negative pairs: memory is linear in the graph.
    """

    dim: int = 128
    hidden: int = 256
    layers: int = 2
    epochs: int = 10000
    warm_up: int = 1000
    lr: float = 1e-4
    weight_decay: float = 1e-5
    momentum: float = 0.99
    drop_edges: float = 0.4
    drop_edges_2: float = 0.1
    drop_features: float = 0.1
    drop_features_2: float = 0.2
    features: FeatureScaling = "rows"
    seed: int = 0

    def build(self, columns: int, generator: Generator) -> Network:
        return Network([columns, *[self.hidden] * (self.layers - 1), self.dim], 512, generator)

    def optimiser(self, network: nn.Module) -> torch.optim.Optimizer:
        wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
        return torch.optim.AdamW(wanted, lr=self.lr, weight_decay=self.weight_decay)

    def begin_epoch(self, epoch: int, optimiser: torch.optim.Optimizer) -> None:
        warm_up = self.warm_up if self.warm_up < self.epochs else self.epochs // 10
        for group in optimiser.param_groups:
            group["lr"] = self.lr * cosine_decay(epoch, warm_up, self.epochs)

    def end_epoch(self, epoch: int) -> None:
        momentum = 1 - (1 - self.momentum) * cosine_decay(epoch, 0, self.epochs)
        follow(self.network_.target, self.network_.online, momentum)

    def loss(self, network: Network, inputs: Inputs, generator: Generator) -> Tensor:
        first = inputs.augmented(self.drop_edges, self.drop_features, generator)
        second = inputs.augmented(self.drop_edges_2, self.drop_features_2, generator)
        total = torch.tensor(2.0)
        for (kept, operator), (other_kept, other) in ((first, second), (second, first)):
            predicted = network.predictor(network.online(inputs.features, operator, kept))
            with torch.no_grad():
                aim = network.target(inputs.features, other, other_kept)
            total = total - mean_cosine(predicted, aim)
        return total

    def embed(self, network: Network, inputs: Inputs) -> Tensor:
        rows: Tensor = network.online(inputs.features, inputs.operator)
        return rows

    def bytes_needed(self, graph: Graph) -> int:
        return self._layer_bytes(graph, 3 * (self.hidden * (self.layers - 1) + self.dim) + 512)
