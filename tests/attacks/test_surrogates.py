"""Black-box attacks: closed forms held to brute force and to dense autograd; PyTorch Geometric's attack tamed."""

import numpy as np
import pytest
import torch
from torch_geometric.contrib.nn import PRBCDAttack

from fdmvgcl import Graph
from fdmvgcl.attacks import Perturbation, accuracy, metattack, nettack, train_supervised, transfer_prbcd
from fdmvgcl.attacks.linear_surrogate import fit_linear, smoothing
from fdmvgcl.attacks.metattack import MetaGradient
from fdmvgcl.attacks.nettack import LinearSurrogate, alike, margins
from fdmvgcl.attacks.pairs import all_pairs
from fdmvgcl.attacks.surrogate import SupervisedDiffusion, SurrogateGCN, compressed
from fdmvgcl.attacks.victim import dense_features, edge_tensors
from fdmvgcl.datasets import Split

from .conftest import planted, thirds


@pytest.mark.parametrize("seed", range(3))
def test_all_flips_of_a_target_are_scored_as_by_brute_force(seed: int) -> None:
    graph, _ = planted(14, seed=seed)
    z = np.random.default_rng(seed).standard_normal((14, 3))
    surrogate, target = LinearSurrogate(graph, z), 5
    for chosen in (3, 9, 3, 0):  # and again after flips, of which one is taken back
        found = surrogate.logits_after(target)
        dense = np.zeros((14, 14))
        for u, near in enumerate(surrogate.neighbours):
            dense[u, list(near)] = 1
        for v in set(range(14)) - {target}:
            flipped = dense.copy()
            flipped[target, v] = flipped[v, target] = 1 - dense[target, v]
            smooth = smoothing(Graph.from_scipy(flipped).adjacency)
            np.testing.assert_allclose(found[v], (smooth @ (smooth @ z))[target], atol=1e-12)
        surrogate.flip(target, chosen)
        np.testing.assert_allclose(surrogate.logits(target), found[chosen], atol=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_one_flip_of_nettack_is_the_best_of_all(seed: int) -> None:
    graph, labels = planted(8, seed=seed)
    split, target = Split(np.arange(4), np.arange(4, 6), np.arange(6, 8)), 6
    weight, classes = fit_linear(graph, labels, split)
    column = int(np.searchsorted(classes, labels[target]))

    def value(flips: np.ndarray) -> float:
        attacked = Perturbation(flips).apply(graph)
        smooth = smoothing(attacked.adjacency)
        return float(margins((smooth @ (smooth @ attacked.features @ weight))[[target]], column)[0])

    made = nettack(graph, labels, split, [target], 1, degree_test=False)
    pairs = [np.array([sorted((target, v))]) for v in range(8) if v != target]
    kept = [p for p in pairs if set(Perturbation(p).apply(graph).isolated) <= set(graph.isolated)]
    assert value(made.flips) == pytest.approx(max(map(value, kept)))


def test_degrees_that_no_longer_look_like_a_power_law_are_refused() -> None:
    rng = np.random.default_rng(0)
    clean = np.floor(2 * rng.random(300) ** (-1 / 1.5))
    assert alike(clean, clean, 0, np.ones(300)).mean() > 0.9
    far = clean.copy()
    far[:60] += 3
    assert not alike(clean, far, 0, np.ones(300)).any()

    def by_hand(sample: np.ndarray) -> float:
        tail = sample[sample >= 2]
        exponent = 1 + len(tail) / np.log(tail / 1.5).sum()
        return len(tail) * np.log(exponent) + len(tail) * exponent * np.log(2) - (exponent + 1) * np.log(tail).sum()

    moved = clean.copy()
    moved[[0, 7]] += 1
    parts = by_hand(clean) + by_hand(moved) - by_hand(np.concatenate([clean, moved]))
    assert alike(clean, clean, 0, np.ones(300))[7] == (2 * parts < 0.004)


def test_nettack_keeps_its_flips_at_its_targets_and_refuses_isolated_ones() -> None:
    graph, labels = planted(40, seed=1)
    split = thirds(40)
    made = nettack(graph, labels, split, [3, 8], 3, degree_test=False)
    assert len(made.flips) == 6
    assert np.isin(made.flips, [3, 8]).any(axis=1).all()
    dense = graph.adjacency.toarray()
    dense[3] = dense[:, 3] = 0
    with pytest.raises(ValueError, match="must have an edge, got '3', which is isolated"):
        nettack(Graph.from_scipy(dense, graph.features), labels, split, [3], 1)


def test_the_meta_gradient_is_that_of_dense_autograd() -> None:
    graph, labels = planted(12, features=5)
    split = thirds(12)
    meta = MetaGradient(graph, labels, split, seed=0, dtype=torch.float64)
    loss, gradient = meta(graph)
    adjacency = torch.from_numpy(graph.adjacency.toarray()).requires_grad_()
    looped = adjacency + torch.eye(12)
    root = looped.sum(1).rsqrt()
    smooth = root[:, None] * looped * root
    rows = smooth @ (smooth @ meta.x)
    value = torch.nn.functional.cross_entropy(rows[meta.others] @ meta.trained(rows[meta.train]), meta.guesses)
    (expected,) = torch.autograd.grad(value, adjacency)
    expected = expected + expected.T
    pairs = all_pairs(12)
    assert loss == pytest.approx(value.item(), rel=1e-12)
    np.testing.assert_allclose(gradient.full()[tuple(pairs.T)], expected.numpy()[tuple(pairs.T)], atol=1e-12)
    np.testing.assert_allclose(gradient.at(pairs), expected.numpy()[tuple(pairs.T)], atol=1e-12)


def test_metattack_raises_the_loss_after_training() -> None:
    graph, labels = planted(40)
    split, losses = thirds(40), []
    made = metattack(graph, labels, split, 8, progress=lambda done, of, loss: losses.append(loss))
    assert len(made.flips) == 8
    assert losses[-1] > losses[0]
    assert set(made.apply(graph).isolated) <= set(graph.isolated)
    assert made.flips.tolist() == metattack(graph, labels, split, 8).flips.tolist()
    quick = metattack(graph, labels, split, 8, per_gradient=3)
    assert len(quick.flips) == 8
    assert not len(metattack(graph, labels, split, 0).flips)


def test_transfer_hurts_the_surrogate_and_leaves_the_library_it_uses_alone() -> None:
    graph, labels = planted(40)
    split = thirds(40)
    surrogate = train_supervised(graph, labels, split, epochs=60)
    before = dict(PRBCDAttack.coeffs), torch.random.get_rng_state()
    made = transfer_prbcd(surrogate, graph, labels, split.test, 10, block=300, epochs=30)
    assert PRBCDAttack.coeffs == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])
    assert 0 < len(made.flips) <= 10
    clean = accuracy(surrogate, graph, labels, split.test)
    assert accuracy(surrogate, made.apply(graph), labels, split.test) < clean
    assert made.flips.tolist() == (
        transfer_prbcd(surrogate, graph, labels, split.test, 10, block=300, epochs=30).flips.tolist()
    )
    assert not len(transfer_prbcd(surrogate, graph, labels, split.test, 0))


@pytest.mark.parametrize("make", [None, SupervisedDiffusion])
def test_networks_learn_and_the_same_seed_gives_the_same_one(make: type | None) -> None:
    graph, labels = planted(60, features=30)
    split = thirds(60)
    more = {} if make is None else {"make": make}
    found = train_supervised(graph, labels, split, epochs=60, **more)
    assert accuracy(found, graph, labels, split.test) >= 0.7
    again = train_supervised(graph, labels, split, epochs=60, **more)
    np.testing.assert_array_equal(found.decision(graph), again.decision(graph))
    hidden = labels.copy()
    hidden[split.test] = 0
    np.testing.assert_array_equal(
        found.decision(graph), train_supervised(graph, hidden, split, epochs=60, **more).decision(graph)
    )


@pytest.mark.parametrize("make", [SurrogateGCN, SupervisedDiffusion])
def test_features_without_their_zeros_give_the_same(make: type) -> None:
    graph, _ = planted(20)
    index, weight = edge_tensors(graph)
    network = make(12, 3).eval()
    found, wanted = (network(x, index, weight) for x in (compressed(graph), dense_features(graph)))
    assert torch.allclose(found, wanted, atol=1e-6)
