"""The start of projections that whitens what neighbours differ in."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.linalg
import torch

from fdmvgcl import FDMVGCL, Diffusion, Features, Graph, Schedule
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.learning.whitening import ALPHA, whitening

TIME = 3.0
WIDE = {"dim": 40, "views": 3, "epochs": 0, "diffusion": Diffusion(activation="identity", skip=0)}
WHITENED, JOINT = (Features(scaling="none", structure="none", initialisation=name) for name in ("whitened", "joint"))


def noisy_topics(seed: int = 0) -> Graph:
    """Two loosely joined communities. The first column tells which, the second is larger and differs at random."""
    rng = np.random.default_rng(seed)
    network = nx.planted_partition_graph(2, 30, 0.3, 0.02, seed=seed)
    topic = np.repeat([-1.0, 1.0], 30)
    features = np.column_stack([topic, 4 * rng.normal(size=60), rng.normal(size=(60, 3))])
    source, target = zip(*((str(a), str(b)) for a, b in network.edges), strict=True)
    return Graph.from_edges(source, target, nodes=[str(i) for i in range(60)], features=features)


def table(graph: Graph) -> torch.Tensor:
    return torch.from_numpy(np.asarray(graph.features, dtype=np.float32))


def test_equals_the_inverse_root_of_the_scatter_that_diffusion_takes_away() -> None:
    graph = noisy_topics()
    x = table(graph)
    found = whitening(graph.operator(), x, TIME).double().numpy()
    full = x.double().numpy()
    lost = full - diffuse(graph, x.double(), ALPHA, TIME).numpy()
    scatter = lost.T @ lost / len(lost)
    root = np.linalg.inv(scipy.linalg.sqrtm(scatter + np.trace(scatter) / 5 * np.eye(5)).real)
    np.testing.assert_allclose(found, root * np.linalg.norm(full) / np.linalg.norm(full @ root), rtol=1e-4, atol=1e-6)
    assert np.linalg.norm(full @ found) == pytest.approx(np.linalg.norm(full), rel=1e-5)


def test_what_neighbours_share_gains_on_what_they_do_not() -> None:
    graph = noisy_topics()
    x = table(graph)
    before, after = x.std(0), (x @ whitening(graph.operator(), x, TIME)).std(0)
    assert after[0] / after[1] > 1.5 * before[0] / before[1]


@pytest.mark.parametrize("nodes", [1, 4])
def test_without_edges_there_is_nothing_to_whiten(nodes: int) -> None:
    names = [str(i) for i in range(nodes)]
    graph = Graph.from_edges([], [], nodes=names, features=np.arange(2.0 * nodes).reshape(nodes, 2))
    assert torch.equal(whitening(graph.operator(), table(graph), TIME), torch.eye(2))


def test_the_model_begins_as_joint_projections_of_whitened_features_do() -> None:
    graph = noisy_topics()
    centred = table(graph) - table(graph).mean(0)
    by_hand = replace(graph, features=(centred @ whitening(graph.operator(), centred, TIME)).numpy())
    ours = FDMVGCL(**WIDE, features=WHITENED).fit_transform(graph)
    theirs = FDMVGCL(**WIDE, features=JOINT).fit_transform(by_hand)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_pruned_model_begins_anew_whitened() -> None:
    """Orders that meet are merged and weights made anew: those, too, are whitened."""
    graph = noisy_topics()
    settings = WIDE | {"epochs": 1, "schedule": Schedule(merge_width=10.0, lr=0.0), "features": WHITENED}
    model = FDMVGCL(**settings).fit(graph)
    assert len(model.alphas_) == 2
    weight = model.encoder_.weight.detach()
    centred = table(graph) - table(graph).mean(0)
    start = whitening(graph.operator(), centred, TIME)
    rows = torch.linalg.solve(start, weight).flatten(0, 1)
    np.testing.assert_allclose(rows @ rows.T, np.eye(10), atol=1e-4)


def test_more_columns_than_can_be_decomposed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdmvgcl.learning.whitening.LARGEST_WIDTH", 4)
    with pytest.raises(ValueError, match="initialisation 'whitened' takes at most 4 feature columns, got 5"):
        FDMVGCL(**WIDE, features=WHITENED).fit(noisy_topics())


def test_saved_and_loaded_it_embeds_the_same(tmp_path: Path) -> None:
    graph = noisy_topics()
    model = FDMVGCL(**WIDE | {"epochs": 3}, features=WHITENED).fit(graph)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(FDMVGCL.load(tmp_path / "model").transform(graph), model.transform(graph))
