"""What the graph tells without labels, against NetworkX, and what the defaults make of it."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from fdmvgcl import FDMVGCL, Diffusion, Graph
from fdmvgcl.graphs.assortativity import assortativity
from fdmvgcl.learning.features import FeatureTransform


def _random_graph(seed: int, weighted: bool = False, nodes: int = 40) -> tuple[nx.Graph, Graph]:
    random = np.random.default_rng(seed)
    made = nx.gnm_random_graph(nodes, 90, seed=seed)
    if weighted:
        nx.set_edge_attributes(made, {edge: float(random.uniform(0.5, 2)) for edge in made.edges}, "weight")
    return made, Graph.from_scipy(sparse.csr_array(nx.to_scipy_sparse_array(made, dtype=np.float32)))


@pytest.mark.parametrize("seed", range(3))
def test_of_one_column_it_is_networkx_coefficient(seed: int) -> None:
    made, graph = _random_graph(seed)
    values = np.random.default_rng(seed).integers(0, 50, 40)
    nx.set_node_attributes(made, dict(enumerate(values.tolist())), "value")
    expected = nx.numeric_assortativity_coefficient(made, "value")
    assert assortativity(graph, values[:, None].astype(float)) == pytest.approx(expected, abs=1e-9)


def test_of_many_columns_it_is_the_dense_formula_with_weights() -> None:
    _, graph = _random_graph(1, weighted=True)
    x = np.random.default_rng(0).normal(size=(40, 5))
    a = graph.adjacency.toarray().astype(float)
    p = a.sum(0) / a.sum()
    mean = p @ x
    expected = (np.einsum("ij,id,jd->", a, x, x) / a.sum() - mean @ mean) / (p @ (x**2).sum(1) - mean @ mean)
    assert assortativity(graph, x) == pytest.approx(expected, abs=1e-12)
    assert assortativity(graph, sparse.csr_array(x)) == pytest.approx(expected, abs=1e-12)


def test_extremes() -> None:
    bipartite = Graph.from_scipy(sparse.csr_array(nx.to_scipy_sparse_array(nx.complete_bipartite_graph(3, 3))))
    side = np.array([[1.0], [1], [1], [-1], [-1], [-1]])
    assert assortativity(bipartite, side) == pytest.approx(-1.0)
    two = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
    cliques = Graph.from_scipy(sparse.csr_array(nx.to_scipy_sparse_array(two)))
    assert assortativity(cliques, np.repeat([[1.0], [2.0]], 4, axis=0)) == pytest.approx(1.0)
    assert assortativity(cliques, np.ones((8, 1))) == 0.0


def _chosen(adjacency: sparse.csr_array, features: np.ndarray) -> tuple[str, str, int]:
    model = FDMVGCL(dim=4, views=2, epochs=0).fit(Graph.from_scipy(adjacency, features.astype(np.float32)))
    return model.chosen_.features.scaling, model.chosen_.view_scaling, model.chosen_.skip


def test_the_scaling_follows_the_graph() -> None:
    two = sparse.csr_array(nx.to_scipy_sparse_array(nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))))
    random = np.random.default_rng(0)
    words = (random.uniform(size=(12, 8)) < 0.4).astype(float)
    assert _chosen(two, words)[:2] == ("rows", "rows")
    words[:, 0] = 1
    assert _chosen(two, np.repeat([[1.0], [9.0]], 6, axis=0) * words)[:2] == ("none", "view")
    assert _chosen(two, words - 0.5)[:2] == ("columns", "rows")


@pytest.mark.parametrize(
    ("columns", "scaling"),
    [
        ({"age": (18, 90), "income": (8_000, 200_000), "children": (0, 4)}, "columns"),
        ({"height": (150, 200), "weight": (50, 110)}, "columns"),
        ({"word": (0, 2), "other": (0, 3), "third": (0, 2), "fourth": (0, 3)}, "rows"),
    ],
)
def test_mixed_units_are_scaled_by_column_and_counts_by_row(columns: dict[str, tuple[int, int]], scaling: str) -> None:
    random = np.random.default_rng(1)
    table = np.stack([random.integers(*ends, size=60) for ends in columns.values()], axis=1).astype(np.float32)
    table[:, -1] *= random.uniform(size=60) < 0.5
    _, graph = _random_graph(4, nodes=60)
    assert FeatureTransform.fit(graph.with_features(table), "auto").scaling == scaling


def test_a_graph_without_features_is_not_given_a_skip() -> None:
    model = FDMVGCL(dim=4, views=2, epochs=0).fit(Graph.from_networkx(nx.karate_club_graph()))
    assert (model.chosen_.view_scaling, model.chosen_.skip) == ("rows", 0)


def test_a_setting_that_is_given_is_not_overruled() -> None:
    two = sparse.csr_array(nx.to_scipy_sparse_array(nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))))
    graph = Graph.from_scipy(two, np.eye(12, dtype=np.float32))
    diffusion = Diffusion(skip=0, view_scaling="rows")
    chosen = FDMVGCL(dim=4, views=2, epochs=0, diffusion=diffusion, features="none").fit(graph).chosen_
    assert (chosen.features.scaling, chosen.view_scaling, chosen.skip) == ("none", "rows", 0)
    asked = FDMVGCL(dim=4, views=2, epochs=0, diffusion=Diffusion(skip=1)).fit(graph)
    assert float(asked.encoder_.skip_weight) == 1.0
