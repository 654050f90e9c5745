"""Small graphs and victims for the tests of attacks."""

import numpy as np
import pytest

from fdmvgcl import FDMVGCL, Diffusion, Graph
from fdmvgcl.datasets import Split


def planted(nodes: int = 40, *, classes: int = 2, features: int = 12, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Groups with more edges inside than between, and binary features that hint at them."""
    rng = np.random.default_rng(seed)
    labels = np.arange(nodes) % classes
    same = labels[:, None] == labels
    adjacency = np.triu(rng.random((nodes, nodes)) < np.where(same, 8 / nodes, 1 / nodes), 1)
    adjacency[np.arange(nodes - 1), np.arange(1, nodes)] |= rng.random(nodes - 1) < 0.3
    table = rng.random((nodes, features)) < np.where(labels[:, None] == np.arange(features) % classes, 0.5, 0.2)
    return Graph.from_scipy((adjacency | adjacency.T).astype(float), table.astype(np.float32)), labels


def thirds(nodes: int) -> Split:
    order = np.random.default_rng(0).permutation(nodes)
    return Split(order[: nodes // 3], order[nodes // 3 : 2 * nodes // 3], order[2 * nodes // 3 :])


@pytest.fixture(scope="session")
def clean() -> tuple[Graph, np.ndarray, Split]:
    graph, labels = planted()
    return graph, labels, thirds(graph.num_nodes)


def fitted(graph: Graph, diffusion: Diffusion | None = None, **settings: object) -> FDMVGCL:
    """A small model, trained for two epochs."""
    return FDMVGCL(dim=16, views=3, epochs=2, diffusion=diffusion or Diffusion(skip=0), **settings).fit(graph)
