"""Walks go along edges, with the odds that p, q and the weights give them."""

import networkx as nx
import numpy as np

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.methods.walks import Walker


def test_walks_go_along_edges_from_every_node_and_stay_where_there_are_none() -> None:
    graph = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], nodes=["alone"])
    walks = Walker(graph, 0.5, 2.0).round(30, np.random.default_rng(0))
    assert sorted(walks[:, 0]) == list(range(5))
    adjacency = graph.adjacency.toarray() + np.diag([node == "alone" for node in graph.ids])
    assert adjacency[walks[:, :-1], walks[:, 1:]].all()


def test_steps_have_the_odds_of_the_paper() -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("t", "v", 1), ("v", "x", 2), ("v", "y", 3), ("t", "x", 1)])
    taken = Graph.from_networkx(graph)
    t, v, x, y = (taken.index(name) for name in "tvxy")
    p, q = 4.0, 0.5
    odds = np.zeros(4)
    odds[[t, x, y]] = [1 / p, 2.0, 3 / q]
    walker = Walker(taken, p, q)
    found = walker._step(np.full(40_000, v), np.full(40_000, t), np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(found, minlength=4) / 40_000, odds / odds.sum(), atol=0.01)
    first = walker._step(np.full(40_000, v), None, np.random.default_rng(0))
    expected = np.zeros(4)
    expected[[t, x, y]] = [1 / 6, 2 / 6, 3 / 6]
    np.testing.assert_allclose(np.bincount(first, minlength=4) / 40_000, expected, atol=0.01)
