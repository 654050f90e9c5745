"""What is attacked: anything that decides on the nodes of a graph, and, for white-box attacks, has gradients."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.attacks.budget import feature_table
from fdmvgcl.attacks.pairs import Pairs, keys_of
from fdmvgcl.graphs.graph import Graph

# From decision values (N, C) to a number that the attacker wants large.
Loss = Callable[[Tensor], Tensor]


class Victim(Protocol):
    """A model that is never trained again. A class of one's own needs nothing but these two."""

    @property
    def classes(self) -> NDArray[np.int64]:
        """The labels that the columns of the decision stand for, shape (C,), ascending."""

    def decision(self, graph: Graph) -> NDArray[np.float64]:
        """Decision values on a graph, shape (N, C); the largest of a row is predicted."""


@dataclass(frozen=True, eq=False)
class Gradients:
    """Of a loss on a graph whose weights and features may lie between 0 and 1.

    Args:
        loss: its value.
        edges: derivative by the weight of each pair that was asked for, edge or not, shape (M,).
        features: derivative by the features, shape (N, F); None if not asked for.
    """

    loss: float
    edges: NDArray[np.float64]
    features: NDArray[np.float32] | None = None


class WhiteBox(Victim, Protocol):
    """A victim whose gradients the attacker has."""

    def gradients(self, graph: Graph, loss: Loss, pairs: Pairs, *, features: bool = False) -> Gradients:
        """Derivatives of ``loss(decision)`` on a graph with weights between 0 and 1."""


def predictions(victim: Victim, graph: Graph) -> NDArray[np.int64]:
    """Predicted class of each node, shape (N,)."""
    return np.asarray(victim.classes[victim.decision(graph).argmax(axis=1)])


def accuracy(victim: Victim, graph: Graph, labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> float:
    """Share of the nodes that are predicted right."""
    return float(np.mean(predictions(victim, graph)[nodes] == labels[nodes]))


class DifferentiableVictim:
    """A victim from a function of tensors, its gradients by autograd: a graph network of one's own, for instance.

    Args:
        function: from ``edge_index`` (2, E), both directions listed, ``edge_weight`` (E,) and ``x`` (N, F) to decision
            values (N, C), differentiable in weights and features. It must draw nothing at random.
        classes: what the columns stand for, shape (C,).
    """

    def __init__(self, function: Callable[[Tensor, Tensor, Tensor], Tensor], classes: NDArray[np.int64]) -> None:
        self.function = function
        self._classes = np.asarray(classes, dtype=np.int64)

    @property
    def classes(self) -> NDArray[np.int64]:
        return self._classes

    def decision(self, graph: Graph) -> NDArray[np.float64]:
        index, weight = edge_tensors(graph)
        with torch.no_grad():
            return self.function(index, weight, dense_features(graph)).double().numpy()

    def gradients(self, graph: Graph, loss: Loss, pairs: Pairs, *, features: bool = False) -> Gradients:
        index, weight = edge_tensors(graph)
        n = graph.num_nodes
        known = index[0] < index[1]
        keys = (index[0] * n + index[1])[known].numpy()  # ascending, as rows of the adjacency are
        asked = keys_of(pairs, n)
        extra = pairs[~np.isin(asked, keys)]
        every = np.concatenate([keys, keys_of(extra, n)])
        variable = torch.cat([weight[known], weight.new_zeros(len(extra))]).requires_grad_()
        low, high = torch.from_numpy(np.stack(np.divmod(every, n)))
        x = dense_features(graph).requires_grad_(features)
        both = torch.stack([torch.cat([low, high]), torch.cat([high, low])])
        value = loss(self.function(both, torch.cat([variable, variable]), x))
        found = torch.autograd.grad(value, [variable, *([x] if features else [])])
        order = np.argsort(every)
        edges = found[0].double().numpy()[order][np.searchsorted(every[order], asked)]
        return Gradients(value.item(), edges, found[1].numpy() if features else None)


def edge_tensors(graph: Graph) -> tuple[Tensor, Tensor]:
    """Edges in both directions and their weights, as PyTorch Geometric has them: (2, 2E) int64 and (2E,) float32."""
    entries = graph.adjacency.tocoo()
    index = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    return index, torch.from_numpy(entries.data.astype(np.float32))


def dense_features(graph: Graph) -> Tensor:
    """X as a float32 tensor, shape (N, F)."""
    return torch.tensor(feature_table(graph), dtype=torch.float32)
