"""Edges between nodes of like features."""

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import cosine_similarity

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.graphs.likeness import with_like_edges


def two_topics(isolated: int = 2, seed: int = 0) -> Graph:
    """Two cliques of ten with features of their own, and some nodes without edges that have those of the first."""
    rng = np.random.default_rng(seed)
    n = 20 + isolated
    topic = np.array([0] * 10 + [1] * 10 + [0] * isolated)
    features = np.eye(2)[topic] @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(n, 6))
    nodes = [str(i) for i in range(n)]
    cliques = nx.disjoint_union(nx.complete_graph(10), nx.complete_graph(10))
    source, target = zip(*((str(a), str(b)) for a, b in cliques.edges), strict=True)
    return Graph.from_edges(source, target, nodes=nodes, features=features)


def dense_truth(graph: Graph, x: torch.Tensor, count: int, weight: float) -> np.ndarray:
    """A + w S by the full matrix of scikit-learn's cosines."""
    rows = diffuse(graph, x, 0.5, 3.0).numpy()
    cosines = cosine_similarity(rows - rows.mean(0))
    np.fill_diagonal(cosines, -np.inf)
    chosen = np.zeros_like(cosines, dtype=bool)
    np.put_along_axis(chosen, np.argsort(-cosines, axis=1)[:, :count], True, axis=1)
    return graph.adjacency.toarray() + weight * np.where(chosen | chosen.T, np.maximum(cosines, 0), 0)


@pytest.mark.parametrize("count", [1, 4])
def test_equals_the_dense_truth(count: int) -> None:
    graph = two_topics()
    x = torch.from_numpy(np.asarray(graph.features))
    enriched = with_like_edges(graph, diffuse(graph, x, 0.5, 3.0), count, 0.5)
    np.testing.assert_allclose(enriched.adjacency.toarray(), dense_truth(graph, x, count, 0.5), atol=1e-5)
    assert (enriched.adjacency != enriched.adjacency.T).nnz == 0
    assert enriched.adjacency.diagonal().sum() == 0


def test_a_node_without_edges_finds_its_topic() -> None:
    graph = two_topics()
    x = torch.from_numpy(np.asarray(graph.features))
    enriched = with_like_edges(graph, diffuse(graph, x, 0.5, 3.0), 3, 1.0)
    assert graph.isolated.tolist() == [20, 21]
    assert enriched.isolated.size == 0
    assert not set(enriched.adjacency[[20, 21]].indices) & set(range(10, 20))


def test_nothing_to_add() -> None:
    graph = two_topics()
    x = torch.from_numpy(np.asarray(graph.features))
    assert with_like_edges(graph, diffuse(graph, x, 0.5, 3.0), 0, 1.0) is graph
    assert with_like_edges(graph, diffuse(graph, x, 0.5, 3.0), 3, 0.0) is graph
    alike = with_like_edges(graph, torch.zeros_like(x), 3, 1.0)
    assert (alike.adjacency != graph.adjacency).nnz == 0
    one = Graph.from_edges([], [], nodes=["only"], features=[[1.0, 2.0]])
    assert with_like_edges(one, torch.ones(1, 2), 3, 1.0) is one


def test_more_neighbours_than_nodes_links_all_that_are_alike() -> None:
    graph = two_topics(isolated=0)
    x = torch.from_numpy(np.asarray(graph.features))
    enriched = with_like_edges(graph, diffuse(graph, x, 0.5, 3.0), 1000, 1.0)
    np.testing.assert_allclose(enriched.adjacency.toarray(), dense_truth(graph, x, 19, 1.0), atol=1e-5)


def test_the_model_diffuses_along_them_and_keeps_them_when_loaded(tmp_path) -> None:
    graph = two_topics()
    settings = {"dim": 8, "views": 2, "epochs": 2, "skip": 0, "feature_scaling": "none", "seed": 0}
    model = FDMVGCL(like_edges=3, like_weight=0.5, **settings)
    z = model.fit_transform(graph)
    assert not np.allclose(z, FDMVGCL(**settings).fit_transform(graph), atol=1e-3)
    x = torch.from_numpy(np.asarray(graph.features) - model.feature_centre_)
    enriched = with_like_edges(graph, diffuse(graph, x, 0.5, 3.0), 3, 0.5)
    np.testing.assert_allclose(z, FDMVGCL(**settings).fit_transform(enriched), atol=1e-5)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(FDMVGCL.load(tmp_path / "model").transform(graph), z)


@pytest.mark.parametrize(("name", "value"), [("like_edges", -1), ("like_edges", 1.5), ("like_weight", -0.1)])
def test_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be .* at least 0, got {value}"):
        FDMVGCL(**{name: value}).fit(two_topics())
