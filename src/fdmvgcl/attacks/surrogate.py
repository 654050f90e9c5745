"""Graph networks trained with labels: what a black-box attack has for its victim, and victims to compare with."""

import copy
import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from fdmvgcl.attacks.budget import feature_table
from fdmvgcl.attacks.victim import DifferentiableVictim, edge_tensors
from fdmvgcl.datasets import Split
from fdmvgcl.diffusion.linear import apply_filter, make_filter
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator

HIDDEN, EPOCHS, RATE, DECAY, DROPOUT = 64, 200, 0.01, 5e-4, 0.5
ALPHA, TIME = 0.5, 3.0


class SurrogateGCN(nn.Module):
    """Two layers of graph convolution (Kipf & Welling 2017) on features whose rows are divided by their sums."""

    def __init__(self, features: int, classes: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.first = GCNConv(features, hidden)
        self.second = GCNConv(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        x = _dropped(_shares(x), self.training)
        x = self.first(x, edge_index, edge_weight).relu()
        x = nn.functional.dropout(x, DROPOUT, self.training)
        found: Tensor = self.second(x, edge_index, edge_weight)
        return found


class SupervisedDiffusion(nn.Module):
    """A layer, linear fractional diffusion, a layer, trained with labels: FROND (Kang et al. 2024) at its plainest."""

    def __init__(self, features: int, classes: int, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.into, self.out = nn.Linear(features, hidden), nn.Linear(hidden, classes)
        self.spec = make_filter(ALPHA, TIME)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        x = _dropped(_shares(x), self.training)
        operator = Operator.from_edges(edge_index, edge_weight, len(x))
        x = apply_filter(operator, self.into(x), self.spec).relu()
        found: Tensor = self.out(nn.functional.dropout(x, DROPOUT, self.training))
        return found


class TrainedVictim(DifferentiableVictim):
    """A trained network as a victim."""

    def __init__(self, network: nn.Module, classes: NDArray[np.int64]) -> None:
        super().__init__(lambda index, weight, x: network(x, index, weight), classes)
        self.network = network


def train_supervised(
    graph: Graph,
    labels: NDArray[np.int64],
    split: Split,
    *,
    make: Callable[[int, int], nn.Module] = SurrogateGCN,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> TrainedVictim:
    """A network trained on the split's training nodes; of its epochs the validation nodes choose the best.

    Args:
        graph: with features.
        labels: class of each node, shape (N,).
        split: its test nodes' labels are not read.
        make: from the numbers of features and classes to a network ``(x, edge_index, edge_weight) -> (N, C)``.
        epochs: steps of Adam.
        seed: of weights and dropout; the global generator is left as it was.
    """
    classes, goals = np.unique(labels[split.train], return_inverse=True)
    index, weight = edge_tensors(graph)
    x, train, val = compressed(graph), torch.from_numpy(split.train), torch.from_numpy(split.val)
    wanted, held = torch.from_numpy(goals), torch.from_numpy(labels[split.val])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make(feature_table(graph).shape[1], len(classes))
        optimiser = torch.optim.Adam(network.parameters(), lr=RATE, weight_decay=DECAY)
        best, kept = -1.0, network.state_dict()
        for _ in range(epochs):
            network.train()
            optimiser.zero_grad()
            nn.functional.cross_entropy(network(x, index, weight)[train], wanted).backward()
            optimiser.step()
            network.eval()
            with torch.no_grad():
                guess = torch.from_numpy(classes)[network(x, index, weight)[val].argmax(1)]
            score = float((guess == held).double().mean())
            if score > best:
                best, kept = score, copy.deepcopy(network.state_dict())
    network.load_state_dict(kept)
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    return TrainedVictim(network.eval(), classes)


def compressed(graph: Graph) -> Tensor:
    """X without its zeros: a training step is then as long as there are entries."""
    x = sparse.csr_array(feature_table(graph))
    indptr, columns, values = (torch.from_numpy(each) for each in (x.indptr, x.indices, x.data))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Sparse CSR tensor support is in beta.*")
        return torch.sparse_csr_tensor(indptr, columns, values, x.shape, check_invariants=False)


def _shares(x: Tensor) -> Tensor:
    """Rows divided by their sums."""
    if x.layout is torch.strided:
        return x / x.abs().sum(1, keepdim=True).clamp(min=1e-12)
    rows = torch.arange(len(x)).repeat_interleave(x.crow_indices().diff())
    sums = torch.zeros(len(x)).index_add(0, rows, x.values().abs())
    return _with_values(x, x.values() / sums[rows].clamp(min=1e-12))


def _dropped(x: Tensor, training: bool) -> Tensor:
    if x.layout is torch.strided:
        return nn.functional.dropout(x, DROPOUT, training)
    return _with_values(x, nn.functional.dropout(x.values(), DROPOUT, training))


def _with_values(x: Tensor, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, x.shape, check_invariants=False)
