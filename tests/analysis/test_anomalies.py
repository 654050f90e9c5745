"""Odd nodes: what was planted comes first, and what the score says is what its words say."""

from dataclasses import replace

import numpy as np
import pytest

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.analysis.anomalies import REWIRED, SWAPPED, anomaly_scores, check_anomalies, plant
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.edit import with_edges, without_edges
from fdmvgcl.results.vectors import unit_rows


def test_the_score_is_what_its_words_say(model: FDMVGCL, graph: Graph) -> None:
    alone = model.transform(Graph.from_edges([], [], nodes=graph.ids, features=graph.features))
    z = unit_rows(model.transform(graph))
    scores = anomaly_scores(model, graph)
    for node in (0, 31, 119):
        neighbours = graph.adjacency[[node]].indices
        mean = z[neighbours].mean(0)
        expected = 1 - alone[node] @ mean / np.linalg.norm(alone[node]) / np.linalg.norm(mean)
        assert scores[node] == pytest.approx(expected, abs=1e-5)


def test_without_features_it_is_the_mean_cosine(plain_model: FDMVGCL, plain: Graph) -> None:
    z = unit_rows(plain_model.transform(plain))
    scores = anomaly_scores(plain_model, plain)
    neighbours = plain.adjacency[[7]].indices
    assert scores[7] == pytest.approx(1 - (z[neighbours] @ z[7]).mean(), abs=1e-5)


def test_planted_nodes_come_first(model: FDMVGCL, graph: Graph) -> None:
    features = np.array(graph.features)
    features[[3, 100]] = features[[100, 3]]  # each among nodes of the other's kind
    odd = replace(graph, features=features)
    neighbours = [graph.ids[i] for i in graph.adjacency[[50]].indices]
    odd = without_edges(odd, ["n050"] * len(neighbours), neighbours)
    odd = with_edges(odd, ["n050"] * 4, ["n000", "n001", "n090", "n091"])
    assert set(np.argsort(-anomaly_scores(model, odd))[:3]) == {3, 50, 100}


def test_the_check_finds_both_kinds(model: FDMVGCL, graph: Graph) -> None:
    swapped, rewired = check_anomalies(model, graph)
    assert SWAPPED in swapped.told
    assert REWIRED in rewired.told
    assert min(swapped.ours.mean, rewired.ours.mean) > 0.9
    by_name = {each.name: each.mean for each in swapped.controls}
    assert 0.2 < by_name["number of edges"] < 0.8


def test_without_features_edges_alone_are_planted(plain_model: FDMVGCL, plain: Graph) -> None:
    (rewired,) = check_anomalies(plain_model, plain)
    assert rewired.ours.mean > 0.85


def test_what_is_planted(graph: Graph) -> None:
    planted = plant(graph, seed=0)
    assert not set(planted.swapped) & set(planted.rewired)
    changed = np.flatnonzero((np.asarray(planted.graph.features) != np.asarray(graph.features)).any(1))
    assert set(changed) <= set(planted.swapped)
    moved = (planted.graph.adjacency != graph.adjacency).tocoo()
    assert all(
        row in planted.rewired or col in planted.rewired for row, col in zip(moved.row, moved.col, strict=True)
    ) or {*moved.row} & {*planted.rewired}


def test_nodes_without_edges_have_no_score(model: FDMVGCL, graph: Graph) -> None:
    alone = graph.with_features(np.vstack([np.asarray(graph.features), np.ones((1, 12))]), ids=[*graph.ids, "alone"])
    scores = anomaly_scores(model, alone)
    assert np.isnan(scores[alone.index("alone")])
    assert np.isfinite(scores).sum() == 120


def test_a_graph_that_is_too_small_is_refused(graph: Graph) -> None:
    with pytest.raises(UserError, match="at least 10 nodes must have edges"):
        plant(Graph.from_edges(["a", "b"], ["b", "c"]), 0)
