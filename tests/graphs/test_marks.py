"""Marks of nodes: held to dense powers and to a loop over neighbours, and blind to how nodes are numbered."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from fdmvgcl import GraphSet
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs import marks
from fdmvgcl.graphs.marks import MARKS, local_degree_profile, return_probabilities, structural_marks


def random_graph(nodes: int, seed: int) -> nx.Graph:
    graph = nx.gnp_random_graph(nodes, 0.4, seed=seed)
    rng = np.random.default_rng(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = float(rng.uniform(0.5, 2))
    return graph


def dense_returns(matrix: np.ndarray, steps: int) -> np.ndarray:
    degree = matrix.sum(axis=1)
    walk = np.where(degree[:, None] > 0, matrix / np.where(degree > 0, degree, 1)[:, None], np.eye(len(matrix)))
    return np.stack([np.diagonal(np.linalg.matrix_power(walk, t)) for t in range(2, steps + 1)], axis=1)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.integers(2, 9), st.integers(0, 1000))
def test_return_probabilities_are_the_diagonals_of_powers(sizes: list[int], steps: int, seed: int) -> None:
    parts = [random_graph(size, seed + i) for i, size in enumerate(sizes)]
    graphs = GraphSet.from_networkx(parts)
    found = return_probabilities(graphs.block.adjacency, graphs.owner, steps)
    assert_allclose(found, dense_returns(graphs.block.adjacency.toarray(), steps), atol=1e-12)


def test_panels_cut_in_pieces_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_networkx([random_graph(size, size) for size in (9, 3, 14, 1)])
    whole = return_probabilities(graphs.block.adjacency, graphs.owner)
    monkeypatch.setattr(marks, "_PANEL", 40)
    assert_allclose(return_probabilities(graphs.block.adjacency, graphs.owner), whole, atol=1e-14)


def test_a_walk_on_a_known_graph_returns_as_it_must() -> None:
    cycle = nx.to_scipy_sparse_array(nx.cycle_graph(3))
    assert_allclose(return_probabilities(cycle, steps=4), np.tile([1 / 2, 1 / 4, 3 / 8], (3, 1)))
    assert_array_equal(return_probabilities(sparse.csr_array((2, 2)), steps=3), np.ones((2, 2)))
    with pytest.raises(ArgumentError, match="steps must be at least 2, got 1"):
        return_probabilities(cycle, steps=1)


def test_local_degree_profile_is_what_a_loop_finds() -> None:
    graph = random_graph(15, 4)
    graph.add_node("alone")
    expected = []
    degrees = dict(graph.degree(weight="weight"))
    for node in graph:
        near = [degrees[other] for other in graph[node]]
        told = [min(near), max(near), np.mean(near), np.std(near)] if near else [0.0] * 4
        expected.append([degrees[node], *told])
    assert_allclose(local_degree_profile(nx.to_scipy_sparse_array(graph)), expected, atol=1e-12)


def test_marks_mean_the_same_in_every_graph_and_numbering() -> None:
    rng = np.random.default_rng(0)
    graph = random_graph(12, 3)
    shuffled = nx.relabel_nodes(graph, dict(zip(graph, rng.permutation(12).tolist(), strict=True)))
    graphs = GraphSet.from_networkx({"one": graph, "other": nx.path_graph(5), "same": shuffled})
    found = structural_marks(graphs.block.adjacency, graphs.owner)
    assert found.shape == (29, len(MARKS))
    first, second = (found[graphs.owner == place] for place in (0, 2))
    assert_allclose(first[np.lexsort(first.T)], second[np.lexsort(second.T)], atol=1e-6)
