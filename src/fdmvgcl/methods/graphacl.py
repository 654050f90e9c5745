"""GraphACL: a node predicts its neighbours' slowly moving vectors, and keeps away from all other nodes."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn

from fdmvgcl.diffusion.kernels import sparse_product
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator, csr_tensor
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.losses.base import unit_rows
from fdmvgcl.methods.bgrl import follow
from fdmvgcl.methods.contrast import own_similarity_sums, pair_bytes
from fdmvgcl.methods.layers import GCN, Inputs, usual_linear
from fdmvgcl.methods.training import Trained

# Entries whose rows are gathered at a time.
GATHERED = 1 << 14


class _EntryProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, u: Tensor, operator: Operator) -> Tensor:
        ctx.u, ctx.operator = u, operator
        pairs = zip(operator.entry_rows.split(GATHERED), operator.columns.split(GATHERED), strict=True)
        return torch.cat([(q[rows] * u[columns]).sum(1) for rows, columns in pairs])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        operator = ctx.operator
        matrix = csr_tensor(operator.rows, operator.columns, grads[0].contiguous(), (operator.num_nodes,) * 2)
        return sparse_product(matrix, ctx.u), None, None


def entry_products(q: Tensor, u: Tensor, operator: Operator) -> Tensor:
    """``⟨q_i, u_j⟩`` for each entry (i, j) of an operator, shape (nnz,), q and u of shape (N, d); differentiable in q.

    Its gradient is a sparse product, so that no matrix of entries by columns is kept.
    """
    products: Tensor = _EntryProducts.apply(q, u, operator)  # type: ignore[no-untyped-call]
    return products


def asymmetric_loss(
    rows: Tensor, predicted: Tensor, target: Tensor, operator: Operator, temperature: float, chunk: int | None = None
) -> Tensor:
    """``1/N Σ_v 1/|N(v)| Σ_{u ∈ N(v)} -log e^(θ(q_v, t_u)/τ) / (e^(θ(q_v, t_u)/τ) + Σ_w e^(θ(h_v, h_w)/τ))``.

    N(v) are the columns of the operator's row v, h its rows, q the predicted and t the target's, each (N, d); θ is the
    cosine.
    """
    near = entry_products(unit_rows(predicted), unit_rows(target), operator) / temperature
    unit = unit_rows(rows)
    all_pairs = own_similarity_sums(unit, temperature, chunk)
    each = (all_pairs[operator.entry_rows] + near.exp()).log() - near
    counts = operator.rows.diff()
    return (each / counts[operator.entry_rows]).sum() / len(counts)


class Network(nn.Module):
    """The trained encoder, its linear predictor, and the target encoder, which starts as a copy."""

    def __init__(self, sizes: list[int], generator: Generator) -> None:
        super().__init__()
        self.online, self.target = GCN(sizes, generator), GCN(sizes, generator)
        self.target.load_state_dict(self.online.state_dict())
        self.target.requires_grad_(False)
        self.predictor = usual_linear(sizes[-1], sizes[-1], generator)


@dataclass(eq=False, repr=False)
class GraphACL(Trained):
    """Xiao, Zhu, Chen & Wang, "Simple and asymmetric graph contrastive learning without augmentations", NeurIPS 2023,
    see :func:`asymmetric_loss`; as in the authors' program a node is its own neighbour, too.

    The defaults are the authors' for Cora. Memory is quadratic in the nodes unless ``chunk`` says how many rows of
    similarities are held at a time.
    """

    dim: int = 2048
    layers: int = 2
    epochs: int = 50
    lr: float = 5e-4
    weight_decay: float = 1e-6
    temperature: float = 1.0
    momentum: float = 0.97
    chunk: int | None = None
    features: FeatureScaling = "rows"
    seed: int = 0

    way_out = ": set chunk, such as chunk=1024, or take a method that does not compare all pairs of nodes"

    def build(self, columns: int, generator: Generator) -> Network:
        return Network([columns, *[self.dim] * self.layers], generator)

    def loss(self, network: Network, inputs: Inputs, generator: Generator) -> Tensor:
        rows = network.online(inputs.features, inputs.operator)
        with torch.no_grad():
            target = network.target(inputs.features, inputs.operator)
        predicted = network.predictor(rows)
        return asymmetric_loss(rows, predicted, target, inputs.operator, self.temperature, self.chunk)

    def end_epoch(self, epoch: int) -> None:
        follow(self.network_.target, self.network_.online, self.momentum)

    def embed(self, network: Network, inputs: Inputs) -> Tensor:
        rows: Tensor = network.online(inputs.features, inputs.operator)
        return rows

    def bytes_needed(self, graph: Graph) -> int:
        return self._layer_bytes(graph, self.dim * (self.layers + 3)) + pair_bytes(graph.num_nodes, self.chunk, 1)
