"""The frozen probe: the clean number at budget 0, and gradients held to autograd and to finite differences."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fdmvgcl import Diffusion, Features, Graph
from fdmvgcl.attacks.encoding import Encoding
from fdmvgcl.attacks.frozen_probe import FrozenProbe, Precision
from fdmvgcl.attacks.objectives import Aim, masked_cross_entropy, tanh_margin
from fdmvgcl.attacks.pairs import all_pairs, edge_pairs
from fdmvgcl.attacks.perturbation import symmetric
from fdmvgcl.attacks.victim import accuracy
from fdmvgcl.datasets import Split
from fdmvgcl.diffusion.linear import apply_filter
from fdmvgcl.evaluation import Search, Trial, evaluate
from fdmvgcl.graphs.alike import joins_of
from fdmvgcl.graphs.operators import Operator

from .conftest import fitted, planted, thirds

EXACT = Precision(tolerance=1e-11, rank=None, dtype=torch.float64)
DIFFUSIONS = {
    "default": Diffusion(skip=0),
    "skip": Diffusion(skip=1, skip_weight=3.0, view_scaling="view"),
    "random walk": Diffusion(skip=0, normalisation="rw", activation="identity", view_scaling="none"),
    "loops": Diffusion(skip=0, self_loops=1.0),
    "random walk with loops": Diffusion(skip=0, normalisation="rw", self_loops=0.5),
    "joins": Diffusion(skip=0, joins=0.3),
    "random walk with joins": Diffusion(skip=0, joins=0.3, normalisation="rw", self_loops=0.5),
    "stepped": Diffusion(skip=0, scheme="trapezoid", step=0.5),
}


def relaxed(graph: Graph, seed: int = 0) -> Graph:
    """Its edges with weights between 0.2 and 1."""
    edges = edge_pairs(graph)
    weight = np.random.default_rng(seed).uniform(0.2, 1, len(edges))
    return replace(graph, adjacency=symmetric(*edges.T, weight, graph.num_nodes))


def with_weight(graph: Graph, pair: NDArray[np.int64], change: float) -> Graph:
    dense = graph.adjacency.toarray()
    dense[pair[0], pair[1]] += change
    dense[pair[1], pair[0]] += change
    low, high = np.nonzero(np.triu(dense, 1))
    return replace(graph, adjacency=symmetric(low, high, dense[low, high], graph.num_nodes))


def by_autograd(victim: FrozenProbe, graph: Graph, pairs: NDArray[np.int64], loss: Any) -> NDArray[np.float64]:
    """The oracle: the library's own autograd path through the entries of the operator."""
    weight = torch.from_numpy(np.asarray(graph.adjacency[pairs[:, 0], pairs[:, 1]]).ravel()).requires_grad_()
    ends = torch.from_numpy(np.concatenate([pairs, pairs[:, ::-1]]).T.copy())
    table, like = victim.encoding.prepare(graph)
    held = weight + torch.from_numpy(np.asarray(joins_of(graph.features)[pairs[:, 0], pairs[:, 1]]).ravel()) * (
        victim.encoding.joins
    )
    operator = Operator.from_edges(
        ends,
        torch.cat([held, held]),
        graph.num_nodes,
        normalisation=like.normalisation,
        self_loops=like.self_loops,
    )
    start = table.dense().double() @ victim.encoding.weight.double()
    views = victim.encoding.finished(apply_filter(operator, start, victim.encoding.spec))
    return torch.autograd.grad(loss(victim.head(views)), weight)[0].numpy()


@pytest.mark.parametrize("diffusion", DIFFUSIONS.values(), ids=DIFFUSIONS)
@pytest.mark.parametrize("objective", [tanh_margin, masked_cross_entropy])
def test_gradient_of_every_pair_is_that_of_autograd(diffusion: Diffusion, objective: Any) -> None:
    graph, labels = planted(18)
    victim = FrozenProbe.of_model(fitted(graph, diffusion), graph, labels, thirds(18))
    victim = replace(victim, precision=EXACT)
    loss = objective(Aim.of(victim, labels, np.arange(18)))
    pairs, between = all_pairs(18), relaxed(graph)
    found = victim.gradients(between, loss, pairs).edges
    expected = by_autograd(victim, between, pairs, loss)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())
    few = pairs[::97]
    np.testing.assert_allclose(
        victim.gradients(between, loss, few).edges, expected[::97], rtol=1e-4, atol=1e-6 * np.abs(expected).max()
    )


@pytest.mark.parametrize("diffusion", DIFFUSIONS.values(), ids=DIFFUSIONS)
def test_gradient_by_edges_is_the_slope_of_the_loss(diffusion: Diffusion) -> None:
    graph, labels = planted(14)
    victim = FrozenProbe.of_model(fitted(graph, diffusion), graph, labels, thirds(14))
    victim = replace(victim, precision=EXACT)
    loss = tanh_margin(Aim.of(victim, labels, np.arange(14)))
    between, pairs = relaxed(graph), edge_pairs(graph)[::7]
    found = victim.gradients(between, loss, pairs).edges
    step = 2.0**-8  # operators are float32
    for pair, slope in zip(pairs, found, strict=True):
        up, down = (victim.gradients(with_weight(between, pair, s), loss, pairs[:1]).loss for s in (step, -step))
        assert (up - down) / (2 * step) == pytest.approx(slope, rel=5e-2, abs=1e-2 * np.abs(found).max())


@pytest.mark.parametrize("scaling", ["none", "rows", "columns", "both"])
@pytest.mark.parametrize("normalisation", ["sym", "rw"])
def test_gradient_by_features_is_the_slope_of_the_loss(scaling: str, normalisation: str) -> None:
    graph, labels = planted(14, features=6)
    rng = np.random.default_rng(1)
    graph = replace(graph, features=rng.uniform(0.1, 1, (14, 6)).astype(np.float32))
    model = fitted(graph, Diffusion(skip=0, normalisation=normalisation), features=Features(scaling=scaling))
    victim = replace(FrozenProbe.of_model(model, graph, labels, thirds(14)), precision=EXACT)
    loss = tanh_margin(Aim.of(victim, labels, np.arange(14)))
    pairs, step = edge_pairs(graph), 2.0**-9  # float32 features: a large step, both ways
    found = victim.gradients(graph, loss, pairs, features=True).features
    for node, column in [(0, 0), (3, 4), (13, 5)]:
        values = []
        for sign in (1, -1):
            table = graph.features.copy()
            table[node, column] += sign * step
            values.append(victim.gradients(replace(graph, features=table), loss, pairs).loss)
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(found[node, column], rel=2e-2, abs=2e-5)


def test_budget_0_is_the_clean_number(clean: tuple[Graph, np.ndarray, Split]) -> None:
    graph, labels, split = clean
    model = fitted(graph)
    victim = FrozenProbe.of_model(model, graph, labels, split)
    views = list(victim.encoding.views(graph).numpy())
    (outcome,) = evaluate([Trial({}, lambda: views)], labels, [split], search=Search(tune_weights=True))
    np.testing.assert_allclose(victim.decision(graph)[split.test], outcome.choice.decision, atol=1e-9)
    assert accuracy(victim, graph, labels, split.test) == outcome.test
    np.testing.assert_allclose(views, model.transform_views(graph), atol=1e-5)


def test_raw_features_are_unmoved_by_edges(clean: tuple[Graph, np.ndarray, Split]) -> None:
    graph, labels, split = clean
    encodings = [Encoding.raw(graph, "none"), Encoding.raw(graph, "rows")]
    victim = FrozenProbe.chosen(encodings, graph, labels, split)
    edgeless = replace(graph, adjacency=graph.adjacency * 0)
    np.testing.assert_array_equal(victim.decision(edgeless), victim.decision(graph))
    loss = tanh_margin(Aim.of(victim, labels, split.test))
    assert not victim.gradients(graph, loss, edge_pairs(graph)).edges.any()


def test_a_narrow_gradient_points_where_the_exact_one_does(clean: tuple[Graph, np.ndarray, Split]) -> None:
    graph, labels, split = clean
    victim = FrozenProbe.chosen([Encoding.diffused(graph, 0.5, 3.0)], graph, labels, split)
    loss = tanh_margin(Aim.of(victim, labels, split.test))
    exact, narrow = (
        replace(victim, precision=p).gradients(graph, loss, all_pairs(graph.num_nodes)).edges
        for p in (EXACT, Precision(rank=9))
    )
    cosine = exact @ narrow / np.linalg.norm(exact) / np.linalg.norm(narrow)
    assert cosine > 0.9


def test_non_linear_dynamics_are_refused() -> None:
    graph, labels = planted(14)
    model = fitted(graph, Diffusion(dynamics="gread"))
    with pytest.raises(ValueError, match="must have linear dynamics"):
        FrozenProbe.of_model(model, graph, labels, thirds(14))
