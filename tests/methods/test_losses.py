"""Losses of the methods against their formulas written out node by node."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from fdmvgcl.methods import contrast
from fdmvgcl.methods.bgrl import cosine_decay, follow, mean_cosine
from fdmvgcl.methods.contrast import own_similarity_sums, similarity_sums
from fdmvgcl.methods.dgi import DGI, told_apart
from fdmvgcl.methods.grace import info_nce
from fdmvgcl.methods.graphacl import asymmetric_loss, entry_products
from fdmvgcl.methods.layers import Inputs, linear
from fdmvgcl.methods.polygcl import Network as Filters
from fdmvgcl.methods.polygcl import chebyshev_nodes, interpolation


def rows(n: int, d: int, seed: int) -> torch.Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_telling_apart_is_mean_cross_entropy() -> None:
    real, corrupted = rows(7, 1, 0)[:, 0], rows(7, 1, 1)[:, 0]
    expected = -np.mean([*np.log(1 / (1 + np.exp(-real.numpy()))), *np.log(1 - 1 / (1 + np.exp(-corrupted.numpy())))])
    assert np.isclose(told_apart(real, corrupted).item(), expected)


def test_dgi_judges_by_the_sigmoid_of_the_mean_row(planted: Any) -> None:
    model = DGI(dim=8, epochs=0).fit(planted.graph)
    inputs, network = Inputs.of(planted.graph, model.features_), model.network_
    with torch.no_grad():
        network.bias.fill_(0.3)
        found = model.loss(network, inputs, torch.Generator().manual_seed(5)).item()
        h = network.encoder(inputs.features, inputs.operator).numpy()
        order = torch.randperm(180, generator=torch.Generator().manual_seed(5))
        wrong = network.encoder(type(inputs.features).of(inputs.features.dense()[order]), inputs.operator).numpy()
    summary, weight = 1 / (1 + np.exp(-h.mean(axis=0))), network.weight.detach().numpy()
    logits = [each @ weight @ summary + 0.3 for each in h], [each @ weight @ summary + 0.3 for each in wrong]
    expected = -np.mean(
        [*np.log(1 / (1 + np.exp(-np.array(logits[0])))), *np.log(1 / (1 + np.exp(np.array(logits[1]))))]
    )
    assert np.isclose(found, expected, atol=1e-6)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize("chunk", [None, 2, 3, 100])
def test_info_nce_node_by_node(chunk: int | None) -> None:
    u, v, temperature = rows(7, 4, 0), rows(7, 4, 1), 0.4

    def one(first: np.ndarray, second: np.ndarray, i: int) -> float:
        def e(a: np.ndarray, b: np.ndarray) -> float:
            return float(np.exp(cosine(a, b) / temperature))

        others = sum(e(first[i], second[k]) + e(first[i], first[k]) for k in range(7) if k != i)
        return -np.log(e(first[i], second[i]) / (e(first[i], second[i]) + others))

    expected = np.mean([(one(u.numpy(), v.numpy(), i) + one(v.numpy(), u.numpy(), i)) / 2 for i in range(7)])
    assert np.isclose(info_nce(u, v, temperature, chunk).item(), expected)


def test_chunks_have_the_gradients_of_the_whole() -> None:
    found = []
    for chunk in (None, 2):
        a, b = rows(7, 4, 0).requires_grad_(), rows(5, 4, 1).requires_grad_()
        by_row, by_column = similarity_sums(a, b, 2.0, chunk)
        (by_row.log().sum() + by_column.square().sum()).backward()
        found.append((by_row.detach(), by_column.detach(), a.grad, b.grad))
    for whole, parts in zip(*found, strict=True):
        torch.testing.assert_close(whole, parts)
    torch.testing.assert_close(found[0][0], (rows(7, 4, 0) @ rows(5, 4, 1).T / 2).exp().sum(1))


@pytest.mark.parametrize("chunk", [None, 2, 3, 100])
def test_pairs_looked_at_once_give_the_sums_and_gradients_of_all_pairs(
    chunk: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contrast, "BLOCK", 3)
    found = []
    for sums in (lambda x: similarity_sums(x, x, 0.7)[0], lambda x: own_similarity_sums(x, 0.7, chunk)):
        a = rows(7, 4, 0).requires_grad_()
        each = sums(a)
        each.log().sum().backward()
        found.append((each.detach(), a.grad))
    for whole, once in zip(*found, strict=True):
        torch.testing.assert_close(whole, once)
    assert gradcheck(lambda x: own_similarity_sums(x, 0.7, chunk), (rows(5, 3, 1).requires_grad_(),))


def test_graphacl_edge_by_edge(planted: Any) -> None:
    operator, temperature = Inputs.of(planted.graph, DGI(epochs=0).fit(planted.graph).features_).operator, 0.7
    h, q, t = rows(180, 3, 0), rows(180, 3, 1), rows(180, 3, 2)
    near, looped = planted.graph.adjacency.toarray() + np.eye(180), []
    for v in range(180):
        away = sum(np.exp(cosine(h[v].numpy(), h[w].numpy()) / temperature) for w in range(180))
        positive = [np.exp(cosine(q[v].numpy(), t[u].numpy()) / temperature) for u in np.flatnonzero(near[v])]
        looped.append(-np.mean([np.log(p / (p + away)) for p in positive]))
    assert np.isclose(asymmetric_loss(h, q, t, operator, temperature).item(), np.mean(looped))


def test_products_at_entries_have_the_right_gradient(planted: Any) -> None:
    operator = Inputs.of(planted.graph, DGI(epochs=0).fit(planted.graph).features_).operator
    q, u = rows(180, 3, 0).requires_grad_(), rows(180, 3, 1)
    assert gradcheck(lambda x: entry_products(x, u, operator), (q,), fast_mode=True)


def test_the_target_follows_and_the_schedule_rises_and_falls() -> None:
    online, target = (linear(3, 2, torch.Generator().manual_seed(seed)) for seed in (0, 1))
    expected = 0.9 * target.weight.detach() + 0.1 * online.weight.detach()
    follow(target, online, 0.9)
    torch.testing.assert_close(target.weight.detach(), expected)
    assert [cosine_decay(step, 4, 12) for step in (0, 2, 4, 8, 12)] == pytest.approx([0, 0.5, 1, 0.5, 0])
    a, b = rows(6, 3, 0), rows(6, 3, 1)
    assert np.isclose(
        mean_cosine(a, b).item(), np.mean([cosine(x, y) for x, y in zip(a.numpy(), b.numpy(), strict=True)])
    )


def test_polynomials_take_their_values_at_the_nodes_and_act_on_the_spectrum(planted: Any) -> None:
    nodes, values = chebyshev_nodes(6).numpy(), np.random.default_rng(0).random(7)
    coefficients = interpolation(6).numpy() @ values
    np.testing.assert_allclose(np.polynomial.chebyshev.chebval(nodes, coefficients), values)
    network = Filters(5, 4, 6, "relu", False, torch.Generator().manual_seed(0))
    low, high = network.responses().detach().numpy()
    assert low[0] == 2
    assert high[0] == 0
    assert (np.diff(low) < 0).all()
    assert (np.diff(high) > 0).all()
    operator = Inputs.of(planted.graph, DGI(epochs=0).fit(planted.graph).features_).bare.to(dtype=torch.float64)
    values, vectors = np.linalg.eigh(np.eye(180) - operator.dense().numpy())
    x = rows(180, 5, 3)
    for found, response in zip(network.filtered(x, operator).detach().numpy(), (low, high), strict=True):
        by_node = np.polynomial.chebyshev.chebval(values - 1, interpolation(6).numpy() @ response)
        np.testing.assert_allclose(found, vectors @ (by_node[:, None] * (vectors.T @ x.numpy())), atol=1e-5)
