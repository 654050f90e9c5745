"""What the graph tells without labels, against NetworkX, and what the defaults make of it."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from fdmvgcl import FDMVGCL, Diffusion, Graph
from fdmvgcl.graphs.assortativity import assortativity, direction_assortativity, magnitude_assortativity


def _random_graph(seed: int, weighted: bool = False) -> tuple[nx.Graph, Graph]:
    random = np.random.default_rng(seed)
    made = nx.gnm_random_graph(40, 90, seed=seed)
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


def test_scaling_rows_changes_the_magnitudes_and_not_the_directions() -> None:
    _, graph = _random_graph(2)
    random = np.random.default_rng(3)
    x = random.uniform(size=(40, 6)).astype(np.float32)
    scaled = x * random.uniform(1, 100, size=(40, 1)).astype(np.float32)
    assert direction_assortativity(graph, scaled) == pytest.approx(direction_assortativity(graph, x), abs=1e-5)
    assert magnitude_assortativity(graph, scaled) != pytest.approx(magnitude_assortativity(graph, x), abs=1e-2)


def _chosen(adjacency: sparse.csr_array, features: np.ndarray) -> tuple[str, str, int]:
    model = FDMVGCL(dim=4, views=2, epochs=0).fit(Graph.from_scipy(adjacency, features.astype(np.float32)))
    return model.chosen_.features.scaling, model.chosen_.view_scaling, model.chosen_.skip


def test_the_defaults_follow_the_graph() -> None:
    two = sparse.csr_array(nx.to_scipy_sparse_array(nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))))
    random = np.random.default_rng(0)
    community = np.repeat(np.eye(2), 6, axis=0) + 0.1 * random.uniform(size=(12, 2))
    assert _chosen(two, community) == ("rows", "rows", 0)
    assert _chosen(two, np.eye(12)) == ("rows", "rows", 1)
    assert _chosen(two, np.repeat([[1.0], [9.0]], 6, axis=0) * np.eye(12)) == ("none", "view", 0)
    assert _chosen(two, community - 0.5)[:2] == ("columns", "rows")


def test_a_graph_without_features_is_not_given_a_skip() -> None:
    model = FDMVGCL(dim=4, views=2, epochs=0).fit(Graph.from_networkx(nx.karate_club_graph()))
    assert (model.chosen_.view_scaling, model.chosen_.skip) == ("rows", 0)


def test_a_setting_that_is_given_is_not_overruled() -> None:
    two = sparse.csr_array(nx.to_scipy_sparse_array(nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))))
    graph = Graph.from_scipy(two, np.eye(12, dtype=np.float32))
    diffusion = Diffusion(skip=0, view_scaling="rows")
    chosen = FDMVGCL(dim=4, views=2, epochs=0, diffusion=diffusion, features="none").fit(graph).chosen_
    assert (chosen.features.scaling, chosen.view_scaling, chosen.skip) == ("none", "rows", 0)
    suggested = FDMVGCL(dim=4, views=2, epochs=0).fit(graph)
    assert float(suggested.encoder_.skip_weight) == 10.0
    asked = FDMVGCL(dim=4, views=2, epochs=0, diffusion=Diffusion(skip=1)).fit(graph)
    assert float(asked.encoder_.skip_weight) == 1.0
