"""Edges that are hidden are gone in both directions, and the pairs beside them have none."""

import numpy as np
import pytest
from scipy.spatial.distance import cosine

from fdmvgcl import Graph
from fdmvgcl.errors import TooSmall
from fdmvgcl.graphs import held_out
from fdmvgcl.graphs.held_out import cosines, hide_edges


def random_graph(directed: bool = False) -> Graph:
    source, target = np.random.default_rng(1).integers(200, size=(2, 400))
    return Graph.from_edges(source, target, nodes=np.arange(200), directed=directed)


@pytest.mark.parametrize("directed", [False, True])
def test_hidden_edges_are_gone_and_the_others_are_none(directed: bool) -> None:
    graph = random_graph(directed)
    rest, hidden, others = hide_edges(graph, seed=0)
    joined = graph.adjacency.toarray() + graph.adjacency.toarray().T > 0
    left = rest.adjacency.toarray() + rest.adjacency.toarray().T > 0
    assert joined[tuple(hidden.T)].all()
    assert not left[tuple(hidden.T)].any()
    assert not joined[tuple(others.T)].any()
    assert joined.sum() - left.sum() == 2 * len(hidden)
    assert len(hidden) == round(0.1 * joined.sum() / 2)
    assert len(others) >= 0.9 * len(hidden)
    # The ends are the same: a score that only looks at degrees learns next to nothing.
    degrees = joined.sum(1)
    assert degrees[others].mean() == pytest.approx(degrees[hidden].mean(), rel=0.1)


def test_no_more_than_the_most_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_out, "MOST_HIDDEN", 7)
    assert len(hide_edges(random_graph(), seed=0)[1]) == 7


@pytest.mark.parametrize("edges", [[("a", "b")], [("a", "a")], [("a", "b"), ("b", "c"), ("a", "c")]])
def test_what_is_too_small_is_refused(edges: list[tuple[str, str]]) -> None:
    with pytest.raises(TooSmall, match="too few"):
        hide_edges(Graph.from_edges(*map(list, zip(*edges, strict=True))), 0)


def test_cosines_are_those_of_scipy_and_zero_with_a_row_of_zeros() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    rows[5] = 0
    pairs = np.array([[0, 1], [2, 3], [4, 4], [1, 5]])
    expected = [1 - cosine(rows[i], rows[j]) for i, j in pairs[:3]] + [0.0]
    np.testing.assert_allclose(cosines(rows, pairs), expected, atol=1e-6)
