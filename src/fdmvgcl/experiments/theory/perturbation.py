"""How far the embedding moves when features, weights or edges do: measured against time and order."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.theory.spectra import features_of, largest_component
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.diagnostics import significant

Noise = Literal["features", "weights", "edges"]

NOISES: tuple[Noise, ...] = ("features", "weights", "edges")
NOISE_ALPHAS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
NOISE_TIMES = tuple(float(t) for t in np.logspace(-1, 3, 17))
DIM = 32
STRENGTH = 0.01  # of the features, of the weights, or of the number of edges

Perturbed = tuple[Tensor, Operator]


def measure(graph: Graph, noise: Noise, seed: int) -> Record:
    """``‖Y - Ỹ‖ / ε`` for each order and time, and beside it ``‖Y - Ỹ‖ / ‖Y‖``.

    ε is the theorem's: the distance at the start, and the largest of ``‖F(Y) - F̃(Y)‖`` along the solution.
    """
    part = largest_component(graph)
    generator = torch.Generator().manual_seed(seed)
    x, operator = features_of(part), part.operator(dtype=torch.float64)
    weight = torch.randn(x.shape[1], DIM, generator=generator, dtype=torch.float64) / x.shape[1] ** 0.5
    start, other = _PERTURB[noise](part, x, weight, generator)
    growth, relative, epsilon = moved(operator, x @ weight, other, start)
    return {
        "nodes": part.num_nodes,
        "alphas": list(NOISE_ALPHAS),
        "times": significant(NOISE_TIMES, 5),
        "strength": STRENGTH,
        "dim": DIM,
        "epsilon": significant(epsilon, 4),
        "at_start": significant(torch.linalg.norm(x @ weight - start) / epsilon.max(), 4),
        "growth": significant(growth, 4),
        "relative": significant(relative, 4),
    }


def moved(operator: Operator, y0: Tensor, other: Operator, other_y0: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Distance over ε (K, M), distance over the embedding's size (K, M), and ε (K,), for all orders and times."""
    orders = torch.tensor(NOISE_ALPHAS, dtype=torch.float64)
    distance, size, mismatch = [], [], [_mismatch(operator, other, y0[None]).expand(len(orders))]
    for time in NOISE_TIMES:
        y = diffuse(operator, y0, orders, time)
        distance.append(_norm(y - diffuse(other, other_y0, orders, time)))
        size.append(_norm(y))
        mismatch.append(_mismatch(operator, other, y))
    epsilon = torch.linalg.norm(y0 - other_y0) + torch.stack(mismatch).amax(0)
    apart = torch.stack(distance, 1)
    return apart / epsilon[:, None], apart / torch.stack(size, 1), epsilon


def _mismatch(operator: Operator, other: Operator, y: Tensor) -> Tensor:
    """``‖(Ā - Ã) Y‖`` for y (K, N, d)."""
    flat = y.permute(1, 0, 2).flatten(1)
    difference = operator.matmul(flat) - other.matmul(flat)
    return _norm(difference.reshape(y.shape[1], len(y), -1).permute(1, 0, 2))


def _norm(y: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(y.flatten(1), dim=1)
    return norms


def with_random_edges(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """The graph with at least one and about ``share`` of its edges more, between random unlinked nodes."""
    count, n = max(1, round(share * graph.num_edges)), graph.num_nodes
    present = graph.adjacency.tocoo()
    taken = set((present.row.astype(np.int64) * n + present.col).tolist())
    added: list[tuple[int, int]] = []
    while len(added) < count:
        a, b = (int(node) for node in rng.integers(0, n, 2))
        if a != b and a * n + b not in taken:
            taken |= {a * n + b, b * n + a}
            added.append((a, b))
    rows, columns = (np.array(ends) for ends in zip(*added, strict=True))
    extra = sparse.coo_array((np.ones(count), (rows, columns)), shape=(n, n))
    return Graph.from_scipy(graph.adjacency + (extra + extra.T).tocsr(), graph.features)


def _noise_like(x: Tensor, generator: torch.Generator) -> Tensor:
    noise = torch.randn(x.shape, generator=generator, dtype=x.dtype)
    return torch.mul(noise, STRENGTH * x.norm() / noise.norm())


def _features(graph: Graph, x: Tensor, weight: Tensor, generator: torch.Generator) -> Perturbed:
    return (x + _noise_like(x, generator)) @ weight, graph.operator(dtype=torch.float64)


def _weights(graph: Graph, x: Tensor, weight: Tensor, generator: torch.Generator) -> Perturbed:
    return x @ (weight + _noise_like(weight, generator)), graph.operator(dtype=torch.float64)


def _edges(graph: Graph, x: Tensor, weight: Tensor, generator: torch.Generator) -> Perturbed:
    rng = np.random.default_rng(int(torch.randint(2**31, (1,), generator=generator)))
    return x @ weight, with_random_edges(graph, STRENGTH, rng).operator(dtype=torch.float64)


_PERTURB: dict[Noise, Callable[[Graph, Tensor, Tensor, torch.Generator], Perturbed]] = {
    "features": _features,
    "weights": _weights,
    "edges": _edges,
}
