"""Flips at one node: those of a smaller budget first, as good as trying all, and never a certified node."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from fdmvgcl import Graph
from fdmvgcl.attacks import FrozenProbe, Perturbation, at_node
from fdmvgcl.attacks.objectives import Aim
from fdmvgcl.datasets import Split

from .conftest import fitted, planted, thirds


@pytest.fixture(scope="module")
def victim(clean: tuple[Graph, np.ndarray, Split]) -> FrozenProbe:
    graph, labels, split = clean
    return FrozenProbe.of_model(fitted(graph), graph, labels, split)


def margin(victim: FrozenProbe, graph: Graph, labels: np.ndarray, node: int) -> float:
    aim = Aim.of(victim, labels, np.array([node]))
    return float(aim.margins(torch.from_numpy(victim.decision(graph)))[0])


def test_each_budget_has_one_flip_more_at_the_node_and_a_larger_margin(
    clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe
) -> None:
    graph, labels, split = clean
    node = int(split.test[0])
    found = at_node(victim, graph, labels, node, 3)
    assert [len(each.flips) for each in found] == [1, 2, 3]
    values = [margin(victim, each.apply(graph), labels, node) for each in found]
    assert values == sorted(values)
    assert values[0] > margin(victim, graph, labels, node)
    for fewer, more in pairwise(found):
        assert set(map(tuple, fewer.flips.tolist())) < set(map(tuple, more.flips.tolist()))
    assert (found[-1].flips == node).any(axis=1).all()


def test_one_flip_is_the_best_there_is() -> None:
    graph, labels = planted(9, seed=2)
    victim = FrozenProbe.of_model(fitted(graph), graph, labels, thirds(9))
    for node in range(9):
        tried = [Perturbation(np.array([sorted((node, other))])) for other in range(9) if other != node]
        kept = [each for each in tried if set(each.apply(graph).isolated) <= set(graph.isolated)]
        best = max(margin(victim, each.apply(graph), labels, node) for each in kept)
        (made,) = at_node(victim, graph, labels, node, 1)
        assert margin(victim, made.apply(graph), labels, node) == pytest.approx(best)


def test_a_node_that_is_none_is_refused(clean: tuple[Graph, np.ndarray, Split], victim: FrozenProbe) -> None:
    graph, labels, _ = clean
    with pytest.raises(ValueError, match="node must be a node number below 40, got 40"):
        at_node(victim, graph, labels, 40, 1)
