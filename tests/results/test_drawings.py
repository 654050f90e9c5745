"""Small graphs drawn: distances on paper are those along edges, as well as the plane can."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fdmvgcl.results.drawings import stress_layout


def stress(graph: nx.Graph, places: np.ndarray) -> float:
    steps = nx.floyd_warshall_numpy(graph)
    apart = np.linalg.norm(places[:, None] - places, axis=-1)
    inverse = np.divide(1.0, steps, out=np.zeros_like(steps), where=steps > 0)
    return float((((apart - steps) * inverse) ** 2).sum() / 2)


def test_a_path_is_drawn_as_a_straight_line_of_unit_steps() -> None:
    places = stress_layout(nx.to_scipy_sparse_array(nx.path_graph(6)), rounds=400)
    assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), 1, atol=1e-2)
    assert_allclose(np.linalg.norm(places[0] - places[-1]), 5, atol=1e-2)


@pytest.mark.parametrize("graph", [nx.cycle_graph(9), nx.grid_2d_graph(4, 4), nx.star_graph(6), nx.barbell_graph(4, 2)])
def test_majorisation_never_makes_stress_worse(graph: nx.Graph) -> None:
    matrix = nx.to_scipy_sparse_array(graph)
    found = [stress(graph, stress_layout(matrix, rounds=rounds)) for rounds in (0, 1, 5, 20, 80)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(found))
    assert found[-1] < found[0]


def test_parts_lie_apart_and_twins_are_not_on_top_of_each_other() -> None:
    graph = nx.disjoint_union(nx.cycle_graph(4), nx.star_graph(3))
    places = stress_layout(nx.to_scipy_sparse_array(graph))
    apart = np.linalg.norm(places[:, None] - places, axis=-1) + 9 * np.eye(8)
    assert apart.min() > 0.3
    assert np.isfinite(places).all()
    assert_array_equal(stress_layout(nx.to_scipy_sparse_array(nx.empty_graph(1))), np.zeros((1, 2)))
    assert_array_equal(places, stress_layout(nx.to_scipy_sparse_array(graph)))
