"""Budgets, pairs and perturbations: Graph to Graph, ids kept, files without pickle."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmvgcl import Graph
from fdmvgcl.attacks.budget import edge_budget, feature_budget
from fdmvgcl.attacks.dice import dice
from fdmvgcl.attacks.pairs import all_pairs, are_edges, draw_pairs, edge_pairs, num_pairs, without_new_isolates
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.random_edges import random_edges
from fdmvgcl.errors import InputError

from .conftest import planted

NAMES = ["O'Brien", "<script>", "007", "Zoë", "-3"]


def named() -> Graph:
    ends = [("O'Brien", "<script>"), ("<script>", "007"), ("007", "Zoë"), ("Zoë", "-3")]
    return Graph.from_edges(*zip(*ends, strict=True), features=np.eye(5), nodes=NAMES)


def test_budgets_are_rounded_down_but_for_rounding_errors() -> None:
    ring = Graph.from_edges(np.arange(100), (np.arange(100) + 1) % 100, features=np.eye(100), nodes=range(100))
    assert [edge_budget(ring, rate) for rate in (0, 0.005, 0.29, 0.57, 1)] == [0, 0, 29, 57, 100]
    assert feature_budget(ring, 0.29) == 29


@pytest.mark.parametrize("rate", [-0.1, 1.01, float("nan"), "half"])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match=r"rate must lie in \[0, 1\]"):
        edge_budget(named(), rate)


def test_what_cannot_be_flipped_is_refused() -> None:
    graph = named()
    with pytest.raises(ValueError, match="must be 0 or 1 to be flipped; give a radius"):
        feature_budget(graph.with_features(np.full((5, 1), 0.5)), 0.1)
    with pytest.raises(ValueError, match="the graph has none"):
        feature_budget(replace(graph, features=None), 0.1)
    with pytest.raises(ValueError, match="must be undirected"):
        edge_budget(Graph.from_edges(["a"], ["b"], directed=True), 0.1)
    with pytest.raises(ValueError, match=r"budget must lie in \[0, 6\], the pairs without an edge, got 7"):
        random_edges(graph, 7)


def test_a_flip_adds_what_is_not_there_and_takes_what_is() -> None:
    graph = named()
    numbers = [tuple(sorted((graph.index(a), graph.index(b)))) for a, b in [("O'Brien", "<script>"), ("-3", "007")]]
    attacked = Perturbation(np.array(numbers), np.array([[0, 0], [1, 4]])).apply(graph)
    assert attacked.ids == graph.ids
    dense, before = attacked.adjacency.toarray(), graph.adjacency.toarray()
    changed = np.argwhere(np.triu(dense != before, 1))
    assert sorted(map(tuple, changed.tolist())) == sorted(numbers)
    assert (dense == dense.T).all()
    assert np.argwhere(attacked.features != graph.features).tolist() == [[0, 0], [1, 4]]
    assert set(np.unique(attacked.features)) == {0, 1}


def test_nothing_changes_nothing_and_twice_is_nothing() -> None:
    graph, _ = planted()
    same = Perturbation().apply(graph)
    assert (same.adjacency != graph.adjacency).nnz == 0
    flips = Perturbation(all_pairs(40)[::31], np.array([[0, 1], [5, 3]]))
    back = flips.apply(flips.apply(graph))
    assert (back.adjacency != graph.adjacency).nnz == 0
    np.testing.assert_array_equal(back.features, graph.features)


def test_weights_of_other_edges_stay_and_sparse_features_stay_sparse() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], weight=[2.0, 0.5, 1.0], features=np.eye(40)[:4], nodes=range(4))
    attacked = Perturbation(np.array([[0, 3], [1, 2]]), np.array([[2, 7]])).apply(graph)
    assert attacked.adjacency.toarray()[np.triu_indices(4, 1)].tolist() == [2, 0, 1, 0, 0, 1]
    assert type(attacked.features) is type(graph.features)
    assert attacked.features.toarray()[2].nonzero()[0].tolist() == [2, 7]


@pytest.mark.parametrize(
    ("flips", "rule"),
    [
        ([[1, 1]], "two different nodes"),
        ([[0, 1], [1, 0]], "must be distinct"),
        ([[-1, 2]], "must not be negative"),
        ([[0.5, 2]], "must be whole numbers"),
        ([[0, 9]], "must lie within"),
    ],
)
def test_flips_that_cannot_be_are_refused(flips: list[list[int]], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        Perturbation(np.array(flips)).apply(named())


def test_a_file_holds_it_all_and_nothing_else_is_read(tmp_path: Path) -> None:
    shift = np.ones((5, 5), np.float32)
    made = Perturbation(np.array([[3, 1]]), np.array([[4, 0]]), shift)
    made.save(tmp_path / "a.npz")
    found = Perturbation.load(tmp_path / "a.npz")
    assert found.flips.tolist() == [[1, 3]]
    assert found.feature_flips.tolist() == [[4, 0]]
    np.testing.assert_array_equal(found.shift, shift)
    made.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    named().save(tmp_path / "graph.npz")
    with pytest.raises(InputError, match="is not a perturbation"):
        Perturbation.load(tmp_path / "graph.npz")
    np.savez(tmp_path / "c.npz", fdmvgcl_perturbation_version=1, flips=np.array([[0, 0]]), feature_flips=made.flips)
    with pytest.raises(InputError, match="two different nodes"):
        Perturbation.load(tmp_path / "c.npz")


@given(st.integers(2, 12), st.integers(0, 2**16), st.data())
def test_drawn_pairs_are_distinct_and_avoid_what_they_must(nodes: int, seed: int, data: st.DataObject) -> None:
    pairs = all_pairs(nodes)
    without = pairs[data.draw(st.lists(st.integers(0, len(pairs) - 1), unique=True))]
    count = data.draw(st.integers(0, num_pairs(nodes) - len(without)))
    drawn = draw_pairs(nodes, count, np.random.default_rng(seed), without=without)
    listed = list(map(tuple, drawn.tolist()))
    assert len(set(listed)) == count
    assert all(u < v for u, v in listed)
    assert not set(listed) & set(map(tuple, without.tolist()))


def test_pairs_are_drawn_uniformly_both_ways() -> None:
    for count in (1, 9):  # drawn again and again; listed
        drawn = [draw_pairs(5, count, np.random.default_rng(seed)) for seed in range(2000)]
        counts = np.bincount(np.concatenate(drawn) @ [5, 1], minlength=25)[all_pairs(5) @ [5, 1]]
        assert abs(counts / (2000 * count / 10) - 1).max() < 0.25


@given(st.integers(0, 2**16))
def test_no_node_loses_its_last_edge(seed: int) -> None:
    graph, _ = planted(9, seed=seed)
    order = np.random.default_rng(seed).permutation(all_pairs(9))
    kept = without_new_isolates(graph, order[: len(order) // 2])
    isolated = set(Perturbation(kept).apply(graph).isolated.tolist())
    assert isolated <= set(graph.isolated.tolist())


def test_random_edges_and_dice_keep_to_their_word() -> None:
    graph, labels = planted()
    made = random_edges(graph, 30, seed=3)
    assert len(made.flips) == 30
    assert not are_edges(graph, made.flips).any()
    assert made.flips.tolist() == random_edges(graph, 30, seed=3).flips.tolist()
    assert made.flips.tolist() != random_edges(graph, 30, seed=4).flips.tolist()
    flips = dice(graph, labels, 30).flips
    present, same = are_edges(graph, flips), np.equal(*labels[flips].T)
    assert len(flips) == 30
    assert (same == present).all()
    assert 5 < present.sum() < 25


def test_dice_needs_labels_and_room() -> None:
    graph, labels = planted(8)
    for wrong in (labels[:3], np.zeros(8, np.int64), np.full(8, -1)):
        with pytest.raises(ValueError, match="labels must"):
            dice(graph, wrong, 1)
    free = 16 - int((np.diff(labels[edge_pairs(graph)]) != 0).sum())
    assert len(dice(graph, labels, free).flips) == free
    with pytest.raises(ValueError, match="different classes"):
        dice(graph, labels, free + 1)
    partly = np.where(np.arange(8) < 4, labels, -1)
    assert set(dice(graph, partly, 1).flips.ravel().tolist()) <= set(range(4))
