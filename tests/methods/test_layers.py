"""Graph convolutions and augmentations against their formulas."""

import networkx as nx
import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from torch.autograd import gradcheck

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import csr_tensor
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.methods.layers import GCN, WeightedEdges, propagate


def weighted() -> Graph:
    graph = nx.karate_club_graph()
    for number, (*_, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + number % 3
    return Graph.from_networkx(graph)


def dense(matrix: np.ndarray) -> np.ndarray:
    """``D^(-1/2) (A + I) D^(-1/2)``."""
    looped = matrix + np.eye(len(matrix))
    root = np.sqrt(looped.sum(axis=1))
    return looped / root[:, None] / root[None]


def test_the_operator_is_that_of_the_adjacency_with_loops() -> None:
    graph = weighted()
    links = WeightedEdges.of(graph)
    np.testing.assert_allclose(links.operator.dense(), dense(graph.adjacency.toarray()), atol=1e-6)
    np.testing.assert_allclose(links.operator.dense(), graph.operator(self_loops=1.0).dense(), atol=1e-6)


@given(rate=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_edges_go_both_ways_and_loops_stay(rate: float, seed: int) -> None:
    graph = weighted()
    adjacency = graph.adjacency.toarray()
    found = WeightedEdges.of(graph).dropped(rate, torch.Generator().manual_seed(seed)).dense().numpy()
    kept = np.where((found > 0) & ~np.eye(len(found), dtype=bool), adjacency, 0)
    assert (kept == kept.T).all()
    np.testing.assert_allclose(found, dense(kept), atol=1e-6)


def test_so_many_edges_go() -> None:
    links = WeightedEdges.of(Graph.from_networkx(nx.gnm_random_graph(300, 4000, seed=0)))
    kept = (links.dropped(0.3, torch.Generator().manual_seed(0)).nnz - 300) / 2
    assert abs(kept / 4000 - 0.7) < 0.03


def test_a_convolution_is_its_formula_with_columns_masked_and_rows_moved() -> None:
    graph = weighted()
    operator = WeightedEdges.of(graph).operator
    rng = np.random.default_rng(0)
    x = rng.standard_normal((34, 6)).astype(np.float32) * (rng.random((34, 6)) < 0.5)
    network = GCN([6, 5, 4], torch.Generator().manual_seed(0), activation="relu", last="prelu")
    kept, order = torch.tensor([1.0, 0, 1, 1, 0, 1]), torch.from_numpy(rng.permutation(34))
    weights = [layer.weight.detach().numpy() for layer in network.layers]
    a = dense(graph.adjacency.toarray())
    hidden = np.maximum(a @ (x * kept.numpy())[order] @ weights[0].T, 0)
    expected = a @ hidden @ weights[1].T
    expected = np.where(expected > 0, expected, 0.25 * expected)
    csr = sparse.csr_array(x)
    parts = torch.from_numpy(csr.indptr), torch.from_numpy(csr.indices), torch.from_numpy(csr.data)
    for matrix in (torch.from_numpy(x), csr_tensor(*parts, x.shape)):
        found = network(FeatureMatrix.of(matrix), operator, kept, order)
        np.testing.assert_allclose(found.detach(), expected, atol=1e-5)


def test_gradients_of_a_product() -> None:
    operator = WeightedEdges.of(weighted()).operator.to(dtype=torch.float64)
    x = torch.randn(34, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert gradcheck(lambda rows: propagate(operator, rows), (x,))
