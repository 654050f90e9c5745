"""Supervised references: classifiers that see labels while they train. They are no embedders."""

from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from fdmvgcl.datasets import Split
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.inputs import as_graph
from fdmvgcl.graphs.operators import csr_tensor
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.methods.layers import Inputs, dropout, linear, propagate
from fdmvgcl.methods.training import Steps


@runtime_checkable
class Classifier(Protocol):
    """A way from a graph and some labels to decision values for all nodes.

    Args:
        classes_: what the columns of decision values stand for, ascending, known after a fit.
    """

    seed: int
    classes_: NDArray[np.int64]

    @property
    def settings(self) -> dict[str, Any]: ...

    def fit(self, graph: Any, labels: NDArray[np.int64], split: Split) -> Self:
        """Learn from the labels of the split's training nodes, with its validation nodes to say when to stop.

        No other label is read; hide them (:func:`fdmvgcl.evaluation.hide_test`).
        """

    def decide(self, graph: Any) -> NDArray[np.float32]:
        """Decision values (N, C) of a graph's nodes."""


class Supervised(Steps):
    """A classifier that trains a network, and keeps the weights of the lowest validation loss."""

    def fit(self, graph: Any, labels: NDArray[np.int64], split: Split) -> Self:
        given = self.check(graph)
        if len(labels) != given.num_nodes:
            raise ArgumentError("labels", f"must be {given.num_nodes}, one a node, got {len(labels)}")
        self.classes_ = np.unique(labels[split.train])
        self._nodes = {"train": torch.from_numpy(split.train), "val": torch.from_numpy(_known(self, labels, split.val))}
        self._targets = torch.from_numpy(np.searchsorted(self.classes_, labels))
        self.history_ = []
        self._begin(given, classes=len(self.classes_))
        del self._nodes, self._targets
        return self

    def decide(self, graph: Any) -> NDArray[np.float32]:
        self._check_fitted()
        with torch.no_grad():
            logits: NDArray[np.float32] = self.network_(Inputs.of(as_graph(graph), self.features_), None).numpy()
        return logits

    def loss(self, network: Any, inputs: Inputs, generator: Generator) -> Tensor:
        return self._entropy(network(inputs, generator), "train")

    def judged(self, value: float, inputs: Inputs) -> float:
        if not len(self._nodes["val"]):
            return value
        with torch.no_grad():
            return self._entropy(self.network_(inputs, None), "val").item()

    def _entropy(self, logits: Tensor, part: str) -> Tensor:
        nodes = self._nodes[part]
        return nn.functional.cross_entropy(logits[nodes], self._targets[nodes])


def _known(model: Supervised, labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the nodes whose class was seen in training."""
    return nodes[np.isin(labels[nodes], model.classes_)]


def dropped(features: FeatureMatrix, rate: float, generator: Generator | None) -> FeatureMatrix:
    """X with entries dropped, sparse where it is; X itself without a generator."""
    if generator is None or rate == 0:
        return features
    x = features.matrix
    if features.transpose is None:
        return FeatureMatrix(dropout(x, rate, generator))
    values = dropout(x.values(), rate, generator)
    return FeatureMatrix.of(csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1])))


class TwoLayers(nn.Module):
    def __init__(self, columns: int, hidden: int, classes: int, rate: float, generator: Generator) -> None:
        super().__init__()
        self.first, self.second = linear(columns, hidden, generator), linear(hidden, classes, generator)
        self.rate = rate

    def forward(self, inputs: Inputs, generator: Generator | None) -> Tensor:
        x = dropped(inputs.features, self.rate, generator).project(self.first.weight.T[None])[0]
        hidden = (propagate(inputs.operator, x) + self.first.bias).relu()
        if generator is not None:
            hidden = dropout(hidden, self.rate, generator)
        return propagate(inputs.operator, hidden @ self.second.weight.T) + self.second.bias


class Diffused(nn.Module):
    def __init__(
        self, columns: int, hidden: int, classes: int, alpha: float, time: float, rate: float, generator: Generator
    ) -> None:
        super().__init__()
        self.first, self.second = linear(columns, hidden, generator), linear(hidden, classes, generator)
        self.alpha, self.time, self.rate = alpha, time, rate

    def forward(self, inputs: Inputs, generator: Generator | None) -> Tensor:
        x = dropped(inputs.features, self.rate, generator).project(self.first.weight.T[None])[0] + self.first.bias
        hidden = diffuse(inputs.bare, x, self.alpha, self.time).relu()
        if generator is not None:
            hidden = dropout(hidden, self.rate, generator)
        logits: Tensor = self.second(hidden)
        return logits


@dataclass(eq=False, repr=False)
class GCNClassifier(Supervised):
    """Kipf & Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017, equation 9:
    ``Ā relu(Ā X W₀) W₁`` with cross-entropy on the training nodes. The defaults are the authors' for Cora; their weight
    decay, too, is of the first layer alone.
    """

    hidden: int = 16
    epochs: int = 200
    patience: int | None = 10
    lr: float = 0.01
    weight_decay: float = 5e-4
    dropout: float = 0.5
    features: FeatureScaling = "rows"
    seed: int = 0

    def build(self, columns: int, generator: Generator, classes: int = 0) -> TwoLayers:
        return TwoLayers(columns, self.hidden, classes, self.dropout, generator)

    def optimiser(self, network: Any) -> torch.optim.Optimizer:
        groups: list[dict[str, Any]] = [{"params": network.first.parameters(), "weight_decay": self.weight_decay}]
        return torch.optim.Adam([*groups, {"params": network.second.parameters()}], lr=self.lr)

    def bytes_needed(self, graph: Graph) -> int:
        return self._layer_bytes(graph, 2 * self.hidden)


@dataclass(eq=False, repr=False)
class FractionalClassifier(Supervised):
    """Like FROND with linear dynamics (Kang, Zhao, Ding, Ji, Zhao, Zhang & Tay, "Unleashing the potential of fractional
    calculus in graph neural networks with FROND", ICLR 2024): ``W₁ relu(φ(L) (X W₀))``, φ being the exact response of
    ``D^α Y = -L Y`` at ``time``. The authors tune α and the time on each data set, so these defaults are ours.
    """

    hidden: int = 64
    alpha: float = 0.9
    time: float = 5.0
    epochs: int = 200
    patience: int | None = 30
    lr: float = 0.01
    weight_decay: float = 5e-4
    dropout: float = 0.5
    features: FeatureScaling = "rows"
    seed: int = 0

    def build(self, columns: int, generator: Generator, classes: int = 0) -> Diffused:
        return Diffused(columns, self.hidden, classes, self.alpha, self.time, self.dropout, generator)

    def bytes_needed(self, graph: Graph) -> int:
        return self._layer_bytes(graph, 3 * self.hidden)
