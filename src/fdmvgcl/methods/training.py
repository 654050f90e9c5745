"""Training by steps over the whole graph."""

import time
from abc import abstractmethod
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fdmvgcl.errors import UserError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.inputs import as_graph
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.methods.base import Embedding, Fitted, Method
from fdmvgcl.methods.layers import Inputs


class Steps(Fitted):
    """A method that trains a network. Where there is a ``patience``, training ends after that many epochs without a
    lower value (the loss, unless :meth:`judged` says otherwise), and the weights of the lowest are kept.
    """

    epochs: int
    lr: float
    features: FeatureScaling
    weight_decay: float = 0.0
    patience: int | None = None
    network_: Any  # the module that build() made

    def _begin(self, graph: Graph, **others: Any) -> None:
        """Build the network and train it; ``others`` goes to ``build``."""
        self.features_ = FeatureTransform.fit(graph, self.features)
        inputs = Inputs.of(graph, self.features_)
        generator = torch.Generator().manual_seed(int(self.seed))
        self.network_ = self.build(self.features_.width, generator, **others)
        self._train(inputs, generator)
        self.network_.eval()

    def _train(self, inputs: Inputs, generator: torch.Generator) -> None:
        optimiser = self.optimiser(self.network_)
        lowest, best, since = float("inf"), None, 0
        self.network_.train(inputs.num_nodes > 1)  # batch norms know no spread of one node
        for epoch in range(self.epochs):
            started = time.perf_counter()
            self.begin_epoch(epoch, optimiser)
            optimiser.zero_grad()
            loss = self.loss(self.network_, inputs, generator)
            value = loss.item()
            if not np.isfinite(value):
                raise UserError(f"{type(self).__name__}: the loss of epoch {epoch} is {value}; a lower lr may help")
            since += 1
            if self.patience is not None:
                judged = self.judged(value, inputs)
                if judged < lowest:
                    lowest, best, since = judged, deepcopy(self.network_.state_dict()), 0
                if since >= self.patience:
                    break
            torch.autograd.backward(loss)
            optimiser.step()
            self.end_epoch(epoch)
            self.history_.append({"epoch": epoch, "loss": value, "seconds": time.perf_counter() - started})
        if best is not None:
            self.network_.load_state_dict(best)

    def optimiser(self, network: nn.Module) -> torch.optim.Optimizer:
        wanted = [parameter for parameter in network.parameters() if parameter.requires_grad]
        return torch.optim.Adam(wanted, lr=self.lr, weight_decay=self.weight_decay)

    @abstractmethod
    def build(self, columns: int, generator: torch.Generator) -> nn.Module:
        """The network for features with so many columns."""

    @abstractmethod
    def loss(self, network: Any, inputs: Inputs, generator: torch.Generator) -> Tensor:
        """What an epoch lowers."""

    def judged(self, value: float, inputs: Inputs) -> float:
        """What ``patience`` goes by, given the epoch's loss."""
        return value

    def begin_epoch(self, epoch: int, optimiser: torch.optim.Optimizer) -> None:
        """Before an epoch's step."""

    def end_epoch(self, epoch: int) -> None:
        """After it."""

    def _layer_bytes(self, graph: Graph, widths: int, passes: int = 2) -> int:
        """Rows of so many columns, kept with their gradients for so many passes, and what an augmented graph takes."""
        entries = graph.adjacency.nnz + graph.num_nodes
        dense = graph.num_nodes * graph.num_features if isinstance(graph.features, np.ndarray) else 0
        return int(4 * (3 * passes * graph.num_nodes * widths + dense) + 64 * entries)


class Trained(Steps, Method):
    """An embedder that trains a network, and embeds any graph with the same columns."""

    def _fit(self, graph: Graph) -> None:
        self._begin(graph)

    def transform(self, graph: Any) -> Embedding:
        self._check_fitted()
        with torch.no_grad():
            rows: Embedding = self.embed(self.network_, Inputs.of(as_graph(graph), self.features_)).numpy()
        return rows

    @abstractmethod
    def embed(self, network: Any, inputs: Inputs) -> Tensor:
        """Vectors (N, d) by the trained network."""
