"""InfoGraph: its estimate by hand, and that it learns what tells graphs apart."""

import networkx as nx
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from fdmvgcl import GraphSet
from fdmvgcl.errors import ArgumentError
from fdmvgcl.methods import InfoGraph
from fdmvgcl.methods.infograph import mutual_information

SMALL = {"dim": 8, "layers": 2, "epochs": 10, "lr": 0.01}


def rings_and_stars(count: int = 20) -> GraphSet:
    parts = [(nx.cycle_graph if i % 2 else nx.star_graph)(5 + i % 4) for i in range(count)]
    return GraphSet.from_networkx([*parts, nx.Graph()])


def test_the_estimate_is_the_papers() -> None:
    scores = torch.tensor([[1.0, -2.0], [0.5, 0.0], [-1.0, 3.0]], dtype=torch.float64)
    owner = torch.tensor([0, 0, 1])
    softplus = lambda t: np.log1p(np.exp(t))  # noqa: E731
    own, others = np.array([1.0, 0.5, 3.0]), np.array([-2.0, 0.0, -1.0])
    assert_allclose(mutual_information(scores, owner).item(), -softplus(-own).mean() - softplus(others).mean())
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: mutual_information(s, owner), (scores,))


def test_it_learns_and_repeats_itself() -> None:
    graphs = rings_and_stars()
    state = torch.random.get_rng_state()
    model = InfoGraph(**SMALL)
    z = model.fit_transform(graphs)
    assert z.shape == (21, 16)
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    assert_array_equal(z, InfoGraph(**SMALL).fit_transform(graphs))
    assert_array_equal(torch.random.get_rng_state(), state)
    assert_array_equal(z[-1], 0)
    assert_allclose(model.transform(graphs.take(np.array([3, 5]))), z[[3, 5]], atol=1e-5)
    # Stars and rings have other marks, so that within a kind vectors are nearer than between kinds.
    unit = z[:20] / np.linalg.norm(z[:20], axis=1, keepdims=True)
    nearest = (unit @ unit.T - 2 * np.eye(20)).argmax(axis=1)
    assert_array_equal(nearest % 2, np.arange(20) % 2)


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ArgumentError, match="layers must be a whole number of at least 1, got 0"):
        InfoGraph(layers=0).fit(rings_and_stars(4))
