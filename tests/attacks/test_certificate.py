"""The certificate: on small graphs no set of flips within it, of all that there are, changes a prediction."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmvgcl import Graph
from fdmvgcl.attacks import Allowed, Encoding, FrozenProbe, Perturbation, certify, greedy
from fdmvgcl.attacks.certificate import _worst_mean, sum_over_walks
from fdmvgcl.attacks.pairs import all_pairs
from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import Search

from .conftest import fitted, planted, thirds


def walker(graph: Graph, labels: np.ndarray, split: Split, alpha: float = 0.3, time: float = 1.0) -> FrozenProbe:
    encoding = Encoding.diffused(graph, alpha, time, "none", "rw")
    search = Search(normalisations=("none", "standardise"))
    return FrozenProbe.chosen([encoding], graph, labels, split, search=search)


def strong(nodes: int, seed: int, alpha: float, time: float) -> tuple[Graph, FrozenProbe]:
    """A graph with features that tell the classes well, so that something is certified."""
    graph, labels = planted(nodes, seed=seed)
    graph = graph.with_features(np.eye(2)[labels] + 0.1 * np.random.default_rng(seed).random((nodes, 2)))
    half = nodes // 2
    return graph, walker(graph, labels, Split(np.arange(half), np.arange(half, nodes - 2), np.arange(nodes - 2, nodes)))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 6), st.floats(0.05, 1.0), st.floats(0.2, 2.0))
def test_no_flips_change_what_is_certified(seed: int, nodes: int, alpha: float, time: float) -> None:
    graph, victim = strong(nodes, seed, alpha, time)
    found = certify(graph, victim, most=2)
    for count in (1, 2):
        for flips in combinations(all_pairs(nodes).tolist(), count):
            attacked = Perturbation(np.array(flips)).apply(graph)
            safe = found.flips >= count
            assert (victim.decision(attacked).argmax(axis=1) == found.predicted)[safe].all()


def test_flips_at_every_node_at_once_change_nothing_that_is_certified() -> None:
    certified = 0
    for seed in range(12):
        graph, victim = strong(8, seed, 0.2, 0.5)
        found = certify(graph, victim, most=1)
        certified += int((found.flips >= 1).sum())
        order = np.random.default_rng(seed).permutation(8).reshape(4, 2)
        attacked = Perturbation(np.sort(order, axis=1)).apply(graph)  # one flip at each of the eight nodes
        assert (victim.decision(attacked).argmax(axis=1) == found.predicted)[found.flips >= 1].all()
    assert certified >= 10  # or the test would say nothing


def test_the_clean_sum_is_the_diffusion_itself() -> None:
    graph, labels = planted(20)
    victim = walker(graph, labels, thirds(20))
    found = certify(graph, victim)
    np.testing.assert_array_equal(found.predicted, victim.decision(graph).argmax(axis=1))
    law, values = np.array([0.5, 0.3, 0.2]), np.random.default_rng(0).standard_normal((20, 2))
    walk = graph.operator("rw").dense().double().numpy()
    expected = law[0] * values + law[1] * walk @ values + law[2] * walk @ walk @ values
    np.testing.assert_allclose(sum_over_walks(graph, values, law, 0), expected, atol=1e-6)


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_worst_mean_is_below_every_mean_there_is(seed: int, budget: int) -> None:
    graph, _ = planted(6, seed=seed)
    values = np.random.default_rng(seed).standard_normal(6)
    found = _worst_mean(graph, values, budget)
    dense = graph.adjacency.toarray() > 0
    for node in range(6):
        others = [j for j in range(6) if j != node]
        for count in range(budget + 1):
            for chosen in combinations(others, count):
                row = dense[node].copy()
                row[list(chosen)] ^= True
                mean = values[row].mean() if row.any() else values[node]
                assert found[node] <= mean + 1e-12


def test_a_certified_node_survives_the_strongest_attack_at_hand() -> None:
    graph, victim = strong(30, 0, 0.2, 0.5)
    found = certify(graph, victim, most=2)
    assert (found.flips >= 1).any()
    labels = victim.classes[found.predicted]
    for node in np.flatnonzero(found.flips >= 1)[:10]:
        flips = greedy(victim, graph, labels, np.array([node]), Allowed(edges=int(found.flips[node])), steps=2)
        assert victim.decision(flips.apply(graph))[node].argmax() == found.predicted[node]


def test_small_orders_and_short_times_certify_more() -> None:
    graph, labels = planted(60, features=40, seed=2)
    counts = []
    for alpha in (0.05, 1.0):
        victim = walker(graph, labels, thirds(60), alpha, 3.0)
        counts.append(int((certify(graph, victim).flips >= 1).sum()))
    assert counts[0] > counts[1]


def test_what_has_no_bound_is_refused() -> None:
    graph, labels = planted(20)
    split = thirds(20)
    with pytest.raises(ValueError, match="activations and rows of unit length are not linear"):
        certify(graph, FrozenProbe.of_model(fitted(graph), graph, labels, split))
    plain = FrozenProbe.chosen(
        [Encoding.diffused(graph, 0.5, 1.0)], graph, labels, split, search=Search(normalisations=("none",))
    )
    with pytest.raises(ValueError, match="by the random walk"):
        certify(graph, plain)
    victim = walker(graph, labels, split)
    with pytest.raises(ValueError, match="must have edges of weight 1"):
        certify(replace(graph, adjacency=graph.adjacency * 2), victim)
