"""InfoGraph: a graph's vector shall tell its own nodes from those of other graphs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn

from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.methods.base import check_settings

_BATCH_NODES = 50_000


class Encoder(nn.Module):
    """Layers of GIN, ``h ← BN(relu(MLP(h + Σ_j h_j)))``; a node is all its layers side by side (N, layers · dim)."""

    def __init__(self, columns: int, dim: int, layers: int) -> None:
        super().__init__()
        from torch_geometric.nn import GINConv  # late: it takes a second to import

        widths = [columns, *(dim,) * (layers - 1)]
        self.convolutions = nn.ModuleList(
            GINConv(nn.Sequential(nn.Linear(width, dim), nn.ReLU(), nn.Linear(dim, dim))) for width in widths
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(dim) for _ in widths)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        found = []
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = norm(convolution(x, edges).relu())
            found.append(x)
        return torch.cat(found, dim=1)


class Critic(nn.Module):
    """``h ← MLP(h) + W h``, before two vectors are compared by their product."""

    def __init__(self, width: int) -> None:
        super().__init__()
        layers = [layer for _ in range(3) for layer in (nn.Linear(width, width), nn.ReLU())]
        self.block, self.shortcut = nn.Sequential(*layers), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.block(x) + self.shortcut(x)
        return found


def mutual_information(scores: Tensor, owner: Tensor) -> Tensor:
    """The Jensen-Shannon estimate ``E[-sp(-T)] - E'[sp(T)]`` for scores T (N, G) of nodes with graphs; sp is softplus.

    E is over nodes with their own graph (``owner``, shape (N,)), E' over nodes with the others.
    """
    own = torch.zeros_like(scores, dtype=torch.bool)
    own[torch.arange(len(owner)), owner] = True
    others = nn.functional.softplus(scores[~own]).mean() if scores.shape[1] > 1 else scores.new_zeros(())
    return -nn.functional.softplus(-scores[own]).mean() - others


@dataclass(eq=False)
class InfoGraph(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Sun, Hoffmann, Verma & Tang, "InfoGraph: Unsupervised and Semi-supervised Graph-Level Representation Learning via
    Mutual Information Maximization", ICLR 2020, equations 3 to 5: with node vectors h_i of all layers and
    ``H = Σ_i h_i``, the mean over nodes of ``T(h_i, H)`` by :func:`mutual_information` is made large, T being the
    product of two small networks' outputs.

    Features go in as FD-MVGCL takes them, with marks of structure, columns standardised. A vector has
    ``layers · dim`` numbers. A graph without nodes has zeros.

    Args:
        dim: width of a layer.
        layers: of the encoder.
        epochs, lr: of Adam.
        batch: graphs in a step, those that a node is told apart from.
        seed: of weights and batches.
    """

    dim: int = 32
    layers: int = 4
    epochs: int = 20
    lr: float = 1e-3
    batch: int = 128
    seed: int = 0

    def fit(self, graphs: GraphSet, y: None = None) -> Self:
        """Train on the graphs that have nodes."""
        check_settings({name: value for name, value in asdict(self).items() if name != "batch"})
        described = GraphSet(graphs.ids, graphs.marked)
        self.features_ = FeatureTransform.fit(described.block, "columns").centred(described.block)
        rng = np.random.default_rng(self.seed)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)  # layers of PyTorch Geometric draw from the global generator
            self.encoder_ = Encoder(self.features_.width, self.dim, self.layers)
            local, whole = Critic(self.dim * self.layers), Critic(self.dim * self.layers)
        modules = nn.ModuleList([self.encoder_, local, whole])
        optimiser = torch.optim.Adam(modules.parameters(), lr=self.lr)
        self.history_: list[dict[str, Any]] = []
        for epoch in range(self.epochs):
            losses = []
            for part in _drawn(described, self.batch, rng):
                x, edges, owner = self._inputs(part)
                h = self.encoder_(x, edges)
                scores = local(h) @ whole(_summed(h, owner, part.num_graphs)).T
                loss = -mutual_information(scores, owner)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
            self.history_.append({"epoch": epoch, "loss": float(np.mean(losses))})
        self.encoder_.eval()
        return self

    def transform(self, graphs: GraphSet) -> NDArray[np.float32]:
        """One row a graph, (G, layers · dim)."""
        if not hasattr(self, "encoder_"):
            raise NotFittedError("this InfoGraph must be fitted first")
        found = np.zeros((graphs.num_graphs, self.layers * self.dim), dtype=np.float32)
        for places, part in GraphSet(graphs.ids, graphs.marked).batches(_BATCH_NODES):
            x, edges, owner = self._inputs(part)
            with torch.no_grad():
                found[places] = _summed(self.encoder_(x, edges), owner, part.num_graphs).numpy()
        return found

    def _inputs(self, graphs: GraphSet) -> tuple[Tensor, Tensor, Tensor]:
        table, centre = self.features_.apply(graphs.block)
        x = table.to_dense() if table.layout != torch.strided else table
        entries = graphs.block.adjacency.tocoo()
        edges = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
        return x if centre is None else x - centre, edges, torch.from_numpy(graphs.owner)


def _drawn(graphs: GraphSet, batch: int, rng: np.random.Generator) -> Iterator[GraphSet]:
    """All graphs that have nodes, in random order, ``batch`` at a time; a last one alone would have no other."""
    order = rng.permutation(np.flatnonzero(graphs.sizes))
    for start in range(0, len(order), batch):
        part = order[start : start + batch]
        if len(part) > 1 or len(order) == 1:
            yield graphs.take(part)


def _summed(rows: Tensor, owner: Tensor, graphs: int) -> Tensor:
    return rows.new_zeros(graphs, rows.shape[1]).index_add(0, owner, rows)
