"""GRACE: a node's two augmented views are told from all other nodes' views."""

from dataclasses import dataclass

from torch import Generator, Tensor, nn

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.losses.base import unit_rows
from fdmvgcl.methods.contrast import own_similarity_sums, pair_bytes, similarity_sums
from fdmvgcl.methods.layers import GCN, Activation, Inputs, usual_linear
from fdmvgcl.methods.training import Trained


class Network(nn.Module):
    """An encoder, and the head that the loss is taken after: two layers with an ELU between."""

    def __init__(self, encoder: GCN, dim: int, hidden: int, generator: Generator) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Sequential(usual_linear(dim, hidden, generator), nn.ELU(), usual_linear(hidden, dim, generator))


def info_nce(u: Tensor, v: Tensor, temperature: float, chunk: int | None = None) -> Tensor:
    """``1/2N Σ_i ℓ(u_i, v_i) + ℓ(v_i, u_i)`` for two views (N, d), cosine similarities θ and

    ``ℓ(u_i, v_i) = -log e^(θ(u_i, v_i)/τ) / (Σ_k e^(θ(u_i, v_k)/τ) + Σ_{k≠i} e^(θ(u_i, u_k)/τ))``.
    """
    u, v = unit_rows(u), unit_rows(v)
    across_u, across_v = similarity_sums(u, v, temperature, chunk)
    own_u, own_v = (
        own_similarity_sums(x, temperature, chunk) - (x.square().sum(1) / temperature).exp() for x in (u, v)
    )
    agreement = (u * v).sum(1) / temperature
    return ((across_u + own_u).log() + (across_v + own_v).log()).mean() / 2 - agreement.mean()


@dataclass(eq=False, repr=False)
class GRACE(Trained):
    """Zhu, Xu, Yu, Liu, Wu & Wang, "Deep graph contrastive representation learning", GRL+ at ICML 2020, equations 1
    and 2, see :func:`info_nce`.

    The defaults are the authors' for Cora; the first layer is twice as wide as the last, as in their program. Memory is
    quadratic in the nodes unless ``chunk`` says how many rows of similarities are held at a time.
    """

    dim: int = 128
    hidden: int = 128
    layers: int = 2
    epochs: int = 200
    lr: float = 5e-4
    weight_decay: float = 1e-5
    temperature: float = 0.4
    drop_edges: float = 0.2
    drop_edges_2: float = 0.4
    drop_features: float = 0.3
    drop_features_2: float = 0.4
    activation: Activation = "relu"
    chunk: int | None = None
    features: FeatureScaling = "rows"
    seed: int = 0

    way_out = ": set chunk, such as chunk=1024, or take a method that does not compare all pairs of nodes"

    def build(self, columns: int, generator: Generator) -> Network:
        sizes = [columns, *[2 * self.dim] * (self.layers - 1), self.dim]
        encoder = GCN(sizes, generator, activation=self.activation, last=self.activation)
        return Network(encoder, self.dim, self.hidden, generator)

    def loss(self, network: Network, inputs: Inputs, generator: Generator) -> Tensor:
        views: list[Tensor] = []
        for edges, columns in (
            (self.drop_edges, self.drop_features),
            (self.drop_edges_2, self.drop_features_2),
        ):
            kept, operator = inputs.augmented(edges, columns, generator)
            views.append(network.head(network.encoder(inputs.features, operator, kept)))
        return info_nce(views[0], views[1], self.temperature, self.chunk)

    def embed(self, network: Network, inputs: Inputs) -> Tensor:
        rows: Tensor = network.encoder(inputs.features, inputs.operator)
        return rows

    def bytes_needed(self, graph: Graph) -> int:
        layers = self._layer_bytes(graph, 2 * self.dim * self.layers + 2 * self.hidden)
        return layers + pair_bytes(graph.num_nodes, self.chunk, 3)
