"""Adaptive attacks: budgets kept, stronger than chance, and on tiny graphs as good as trying everything."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmvgcl import Diffusion, Graph
from fdmvgcl.attacks import (
    Allowed,
    DifferentiableVictim,
    Encoding,
    FrozenProbe,
    Perturbation,
    accuracy,
    greedy,
    pgd,
    prbcd,
    random_edges,
)
from fdmvgcl.attacks.objectives import Aim, tanh_margin
from fdmvgcl.attacks.pairs import all_pairs, edge_pairs
from fdmvgcl.attacks.relaxation import largest, project
from fdmvgcl.datasets import Split

from .conftest import fitted, planted, thirds

ATTACKS = {"prbcd": prbcd, "pgd": pgd, "greedy": greedy}
QUICK: dict[str, dict[str, Any]] = {
    "prbcd": {"epochs": 30, "block": 200},
    "pgd": {"epochs": 20},
    "greedy": {"steps": 8},
}


def gcn(edge_index: torch.Tensor, edge_weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Two rounds of averaging and a fixed linear map, written as a user would."""
    n = len(x)
    adjacency = torch.eye(n).index_put(tuple(edge_index), edge_weight, accumulate=True)
    root = adjacency.sum(1).rsqrt()
    mean = root[:, None] * adjacency * root
    even = (torch.arange(x.shape[1]) % 2 == 0).float()
    return mean @ (mean @ x) @ torch.stack([even, 1 - even], dim=1)


@pytest.fixture(scope="module")
def victim(clean: tuple[Graph, np.ndarray, Split]) -> FrozenProbe:
    graph, labels, split = clean
    return FrozenProbe.of_model(fitted(graph), graph, labels, split)


@pytest.mark.parametrize("kind", ATTACKS)
def test_budgets_are_kept_and_the_attack_beats_chance(
    kind: str, clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe
) -> None:
    graph, labels, _ = clean
    nodes, allowed = np.arange(40), Allowed(edges=12, features=6)
    found = ATTACKS[kind](victim, graph, labels, nodes, allowed, **QUICK[kind])
    attacked = found.apply(graph)
    assert 0 < len(found.flips) <= 12
    assert 0 < len(found.feature_flips) <= 6
    assert set(attacked.isolated.tolist()) <= set(graph.isolated.tolist())
    ours = accuracy(victim, attacked, labels, nodes)
    random = [accuracy(victim, random_edges(graph, 12, seed=s).apply(graph), labels, nodes) for s in range(5)]
    assert ours < min(random)
    assert ours <= np.mean(random) - 0.1
    again = ATTACKS[kind](victim, graph, labels, nodes, allowed, **QUICK[kind])
    assert found.flips.tolist() == again.flips.tolist()


@pytest.mark.parametrize("kind", ATTACKS)
def test_budget_0_changes_nothing(kind: str, clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe) -> None:
    graph, labels, split = clean
    found = ATTACKS[kind](victim, graph, labels, split.test, Allowed(), **QUICK[kind])
    assert len(found) == 0
    assert accuracy(victim, found.apply(graph), labels, split.test) == accuracy(victim, graph, labels, split.test)


@pytest.mark.parametrize("kind", ["pgd", "greedy"])
def test_structure_attacks_leave_features_alone_and_the_other_way_round(
    kind: str, clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe
) -> None:
    graph, labels, split = clean
    run = ATTACKS[kind]
    assert not len(run(victim, graph, labels, split.test, Allowed(edges=5), **QUICK[kind]).feature_flips)
    raw = FrozenProbe.chosen([Encoding.raw(graph)], graph, labels, split)
    assert not len(run(raw, graph, labels, split.test, Allowed(edges=5), **QUICK[kind]))
    flipped = run(raw, graph, labels, split.test, Allowed(features=10), **QUICK[kind])
    assert 0 < len(flipped.feature_flips) <= 10
    assert accuracy(raw, flipped.apply(graph), labels, split.test) < accuracy(raw, graph, labels, split.test)


@pytest.mark.parametrize("kind", ["pgd", "prbcd"])
def test_a_radius_bounds_every_feature(kind: str, clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe) -> None:
    graph, labels, split = clean
    found = ATTACKS[kind](victim, graph, labels, split.test, Allowed(radius=0.25), **QUICK[kind])
    assert found.shift is not None
    assert 0 < np.abs(found.shift).max() <= 0.25
    before = accuracy(victim, graph, labels, split.test)
    assert accuracy(victim, found.apply(graph), labels, split.test) < before


@pytest.mark.parametrize("seed", range(6))
def test_one_greedy_flip_by_an_exact_slope_is_the_best_of_all(seed: int) -> None:
    """A linear view of features that are not scaled is linear in their flips: none is better than the steepest."""
    graph, labels = planted(8, features=5, seed=seed)
    split = Split(np.arange(4), np.arange(4, 6), np.arange(6, 8))
    victim = FrozenProbe.chosen([Encoding.diffused(graph, 0.5, 2.0, "none")], graph, labels, split)
    choice = replace(victim.choice, normalise="none")
    victim = replace(victim, choice=choice)
    node = np.array([3])
    aim = Aim.of(victim, labels, node)

    def value(flip: np.ndarray) -> float:
        moved = Perturbation(feature_flips=flip[None]).apply(graph)
        return float(aim.margins(torch.from_numpy(victim.decision(moved))))

    entries = np.stack(np.divmod(np.arange(40), 5), axis=1)
    best = max(value(entry) for entry in entries)
    made = greedy(victim, graph, labels, node, Allowed(features=1), steps=1, objective="tanh-margin")
    clean = float(aim.margins(torch.from_numpy(victim.decision(graph))))
    assert (value(made.feature_flips[0]) if len(made) else clean) == pytest.approx(max(best, clean))


def test_tiny_graphs_are_attacked_nearly_as_well_as_by_trying_everything() -> None:
    """Over graphs of 8 nodes the mean of what is left is close to that of the best of all 378 pairs of flips."""
    left: dict[str, list[float]] = {name: [] for name in [*ATTACKS, "all"]}
    for seed in range(5):
        graph, labels = planted(8, features=6, seed=seed)
        victim = FrozenProbe.of_model(fitted(graph, Diffusion(skip=0)), graph, labels, thirds(8))
        nodes = np.arange(8)
        for name, run in ATTACKS.items():
            found = run(victim, graph, labels, nodes, Allowed(edges=2), **QUICK[name])
            left[name].append(accuracy(victim, found.apply(graph), labels, nodes))
        tried = (Perturbation(np.array(flips)).apply(graph) for flips in combinations(all_pairs(8).tolist(), 2))
        allowed = [g for g in tried if set(g.isolated.tolist()) <= set(graph.isolated.tolist())]
        left["all"].append(min(accuracy(victim, g, labels, nodes) for g in allowed))
    best = np.array(left["all"])
    for name in ATTACKS:
        assert (np.array(left[name]) >= best).all(), name
    assert np.min([left[name] for name in ATTACKS], axis=0).mean() <= best.mean() + 0.1


def test_a_model_of_ones_own_is_attacked_by_autograd(clean: tuple[Graph, np.ndarray, Split]) -> None:
    graph, labels, split = clean
    victim = DifferentiableVictim(gcn, np.array([0, 1]))
    loss, pairs = tanh_margin(Aim.of(victim, labels, split.test)), all_pairs(40)
    found = victim.gradients(graph, loss, pairs, features=True)
    dense = torch.from_numpy(graph.adjacency.toarray()).float().requires_grad_()
    x = torch.from_numpy(np.asarray(graph.features)).requires_grad_()
    every = torch.cartesian_prod(torch.arange(40), torch.arange(40)).T
    value = loss(gcn(every, dense.flatten(), x))
    by_dense, by_x = torch.autograd.grad(value, [dense, x])
    expected = (by_dense + by_dense.T).numpy()[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(found.edges, expected, atol=1e-6)
    np.testing.assert_allclose(found.features, by_x.numpy(), atol=1e-6)
    few = np.concatenate([pairs[5:300:7][::-1], edge_pairs(graph)[3:5]])
    numbers = few @ [40, 1]
    np.testing.assert_allclose(
        victim.gradients(graph, loss, few).edges, expected[np.searchsorted(pairs @ [40, 1], numbers)], atol=1e-6
    )
    attacked = greedy(victim, graph, labels, split.test, Allowed(edges=10), steps=5).apply(graph)
    assert accuracy(victim, attacked, labels, split.test) < accuracy(victim, graph, labels, split.test)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=30), st.integers(0, 10))
def test_projection_keeps_the_budget_and_is_the_nearest_point(values: list[float], budget: int) -> None:
    p = np.array(values)
    found = project(p, budget)
    assert found.min() >= 0
    assert found.max() <= 1
    assert found.sum() <= budget + 1e-9
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = rng.random(len(p))
        other *= min(1.0, budget / max(other.sum(), 1e-9))
        assert np.linalg.norm(p - found) <= np.linalg.norm(p - other) + 1e-6


def test_what_cannot_be_asked_is_refused(clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe) -> None:
    graph, labels, split = clean
    with pytest.raises(ValueError, match="objective must be one of"):
        pgd(victim, graph, labels, split.test, Allowed(edges=1), objective="cross-entropy")
    with pytest.raises(ValueError, match=r"budget must lie in \[0, 780\]"):
        pgd(victim, graph, labels, split.test, Allowed(edges=781))
    with pytest.raises(ValueError, match="radius must be 0"):
        Allowed(features=1, radius=0.5)
    with pytest.raises(ValueError, match="must be 0 or 1 to be flipped"):
        pgd(victim, graph.with_features(np.full((40, 12), 0.5)), labels, split.test, Allowed(features=1))
    with pytest.raises(ValueError, match="a label that the victim knows"):
        pgd(victim, graph, np.full(40, 7), split.test, Allowed(edges=1))


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(0, 31))
def test_the_largest_are_those_of_a_full_sort(values: list[int], count: int) -> None:
    floats = np.array(values, dtype=float)
    found = floats[largest(floats, count)]
    assert found.tolist() == sorted(values, reverse=True)[:count]
