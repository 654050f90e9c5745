"""What the trained methods are built of: a graph as they take it, its augmentations, and graph convolutions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from fdmvgcl.diffusion.kernels import sparse_product
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.marks import undirected
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.learning.features import FeatureTransform

Activation = Literal["relu", "prelu", "identity"]
ACTIVATIONS: tuple[Activation, ...] = ("relu", "prelu", "identity")


@dataclass(frozen=True, eq=False)
class WeightedEdges:
    """The entries of ``A + I`` by rows, columns ascending, directions of edges ignored; A may be weighted.

    Args:
        rows, columns: of each entry, shape (nnz,), int64.
        weights: of each entry, shape (nnz,), float32.
        edge: the number of the undirected edge that an entry belongs to, E for the loops, shape (nnz,).
        num_nodes, num_edges: N and E.
    """

    rows: Tensor
    columns: Tensor
    weights: Tensor
    edge: Tensor
    num_nodes: int
    num_edges: int

    @classmethod
    def of(cls, graph: Graph) -> "WeightedEdges":
        n = graph.num_nodes
        entries = sparse.csr_array(undirected(graph.adjacency) + sparse.eye_array(n)).sorted_indices().tocoo()
        low, high = np.minimum(entries.row, entries.col), np.maximum(entries.row, entries.col)
        between = low < high
        edges, number = np.unique(low[between].astype(np.int64) * n + high[between], return_inverse=True)
        edge = np.full(len(low), len(edges), dtype=np.int64)
        edge[between] = number
        parts = (torch.from_numpy(each.astype(np.int64)) for each in (entries.row, entries.col, edge))
        rows, columns, edge_of_entry = parts
        weights = torch.from_numpy(entries.data.astype(np.float32))
        return cls(rows, columns, weights, edge_of_entry, n, len(edges))

    @cached_property
    def operator(self) -> Operator:
        """``D^(-1/2) (A + I) D^(-1/2)``, D being the degrees of ``A + I``."""
        return self._operator(slice(None))

    @cached_property
    def bare(self) -> Operator:
        """``D^(-1/2) A D^(-1/2)``; a node without edges keeps its loop."""
        lonely = torch.bincount(self.rows, minlength=self.num_nodes) == 1
        return self._operator((self.edge < self.num_edges) | lonely[self.rows])

    def dropped(self, rate: float, generator: torch.Generator) -> Operator:
        """The operator of the graph without a share of its edges, each left out by itself; loops stay."""
        kept = torch.rand(self.num_edges + 1, generator=generator) >= rate
        kept[-1] = True
        return self._operator(kept[self.edge])

    def _operator(self, kept: Tensor | slice) -> Operator:
        rows, columns, weights = self.rows[kept], self.columns[kept], self.weights[kept]
        root = torch.zeros(self.num_nodes).index_add(0, rows, weights).sqrt()
        ends = torch.bincount(rows, minlength=self.num_nodes).cumsum(0)
        pointer = torch.cat([ends.new_zeros(1), ends])
        return Operator(pointer, columns, weights / (root[rows] * root[columns]), None, False, "sym", 1.0)


@dataclass(frozen=True, eq=False)
class Inputs:
    """A graph as the trained methods take it: X of shape (N, F), and its links."""

    features: FeatureMatrix
    links: WeightedEdges

    @classmethod
    def of(cls, graph: Graph, transform: FeatureTransform) -> "Inputs":
        return cls(FeatureMatrix.of(*transform.apply(graph)), WeightedEdges.of(graph))

    @property
    def operator(self) -> Operator:
        return self.links.operator

    @property
    def bare(self) -> Operator:
        return self.links.bare

    @property
    def num_nodes(self) -> int:
        return self.links.num_nodes

    def augmented(self, edges: float, columns: float, generator: torch.Generator) -> tuple[Tensor, Operator]:
        """Which feature columns are kept (a mask, shape (F,)), and the operator of the edges that are."""
        kept = torch.rand(self.features.matrix.shape[1], generator=generator) >= columns
        return kept.to(torch.float32), self.links.dropped(edges, generator)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, operator: Operator) -> Tensor:
        ctx.operator = operator
        return sparse_product(operator.csr, x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return sparse_product(ctx.operator.csr, grads[0]), None


def propagate(operator: Operator, x: Tensor) -> Tensor:
    """``Ā x`` for a symmetric Ā that is constant, and x (N, d)."""
    y: Tensor = _Product.apply(x, operator)  # type: ignore[no-untyped-call]
    return y


def linear(inputs: int, outputs: int, generator: torch.Generator, bias: bool = True) -> nn.Linear:
    """A linear layer with Glorot's uniform weights and no offset at first."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs, bias=bias)
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def usual_linear(inputs: int, outputs: int, generator: torch.Generator) -> nn.Linear:
    """A linear layer as PyTorch begins one, which the authors of heads and predictors leave it at."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)
    bound = inputs**-0.5
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return layer


def make_activation(name: Activation) -> nn.Module:
    made: dict[Activation, type[nn.Module]] = {"relu": nn.ReLU, "prelu": nn.PReLU, "identity": nn.Identity}
    return made[name]()


def dropout(x: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Entries set to 0 with this probability, the others scaled up to keep the mean."""
    if rate == 0:
        return x
    return x * (torch.rand(x.shape, generator=generator) >= rate) / (1 - rate)


class GCN(nn.Module):
    """Graph convolutions ``H ← σ(norm(Ā H W + b))`` (Kipf & Welling 2017), ``Ā = D^(-1/2) (A + I) D^(-1/2)``.

    Args:
        sizes: columns of the features and of each layer.
        generator: source of the weights.
        activation: σ.
        last: σ of the last layer, which has no norm where this is ``"identity"``.
        momentum: of batch norms after each layer, as PyTorch means it; None for no norms.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        generator: torch.Generator,
        *,
        activation: Activation = "relu",
        last: Activation = "identity",
        momentum: float | None = None,
    ) -> None:
        super().__init__()
        count = len(sizes) - 1
        self.layers = nn.ModuleList(linear(*pair, generator) for pair in pairwise(sizes))
        names = [*(activation for _ in range(count - 1)), last]
        self.activations = nn.ModuleList(make_activation(name) for name in names)
        bare = [momentum is None or name == "identity" for name in names]
        self.norms = nn.ModuleList(
            nn.Identity() if none else nn.BatchNorm1d(size, momentum=momentum)
            for none, size in zip(bare, sizes[1:], strict=True)
        )

    def forward(
        self, features: FeatureMatrix, operator: Operator, kept: Tensor | None = None, order: Tensor | None = None
    ) -> Tensor:
        """Rows of shape (N, d).

        Args:
            features: X (N, F).
            operator: Ā.
            kept: mask of feature columns, shape (F,); masking X's columns is masking the first weights' rows.
            order: a permutation of the nodes that X's rows are put in, shape (N,).
        """
        layers = cast("list[nn.Linear]", list(self.layers))
        weight = layers[0].weight.T
        hidden = features.project((weight if kept is None else weight * kept[:, None])[None])[0]
        if order is not None:
            hidden = hidden[order]
        for number, (layer, norm, act) in enumerate(zip(layers, self.norms, self.activations, strict=True)):
            if number:
                hidden = hidden @ layer.weight.T
            hidden = act(norm(propagate(operator, hidden) + layer.bias))
        return hidden
