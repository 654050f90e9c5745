"""What must hold of a model on any graph: rows follow the nodes, parts do not see each other, units do not count."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmvgcl import FDMVGCL, Diffusion, Features, Graph, Schedule
from fdmvgcl.learning.diagnostics import neighbour_homophily
from fdmvgcl.learning.settings import Settings, dotted
from fdmvgcl.learning.view_scaling import suggested_view_scaling

COLUMNS = 6


def random_graph(seed: int, nodes: int = 24, names: str = "") -> Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes - 1, (2, 2 * nodes))  # the last node may be without edges
    ids = [f"{names}{i}" for i in range(nodes)]
    return Graph.from_edges(
        [ids[i] for i in ends[0]],
        [ids[i] for i in ends[1]],
        weight=rng.uniform(0.1, 3, 2 * nodes),
        nodes=ids,
        features=rng.standard_normal((nodes, COLUMNS)),
    )


@pytest.fixture(scope="module")
def model() -> FDMVGCL:
    return FDMVGCL(dim=8, views=3, epochs=3, features=Features(structure="none")).fit(random_graph(0))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_other_names_of_the_nodes_permute_the_rows(model: FDMVGCL, seed: int) -> None:
    graph = random_graph(seed)
    order = np.random.default_rng(seed + 1).permutation(graph.num_nodes)
    again = Graph.from_scipy(graph.adjacency[order][:, order], graph.features[order])
    np.testing.assert_allclose(model.transform(again), model.transform(graph)[order], atol=2e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_a_disjoint_union_embeds_as_its_parts(model: FDMVGCL, seed: int) -> None:
    """By a trained model, whose weights, centre and scales are fixed."""
    parts = [random_graph(seed, names="a"), random_graph(seed + 1, nodes=15, names="b")]
    both = np.zeros((39, 39))
    both[:24, :24], both[24:, 24:] = (part.adjacency.toarray() for part in parts)
    union = Graph.from_scipy(both, np.concatenate([part.features for part in parts]))
    np.testing.assert_allclose(model.transform(union), np.concatenate([model.transform(p) for p in parts]), atol=2e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16), factor=st.floats(1e-3, 1e3))
def test_the_unit_of_the_weights_does_not_count(model: FDMVGCL, seed: int, factor: float) -> None:
    graph = random_graph(seed)
    again = Graph.from_scipy(factor * graph.adjacency, graph.features)
    np.testing.assert_allclose(model.transform(again), model.transform(graph), atol=2e-6)


def test_a_node_without_edges_keeps_its_projected_features() -> None:
    graph = random_graph(3)
    lonely = graph.isolated
    assert len(lonely)
    plain = Diffusion(skip=0, view_scaling="none", activation="identity")
    model = FDMVGCL(dim=8, views=3, epochs=1, diffusion=plain, features=Features("none", "none", centre=False)).fit(
        graph
    )
    projected = graph.features[lonely] @ model.encoder_.weight.detach().numpy()
    np.testing.assert_allclose(model.transform_views(graph)[:, lonely], projected, atol=1e-5)


def planted_partition(seed: int) -> tuple[Graph, np.ndarray]:
    """Three groups of 60, ten times as many edges within as between, and features that hint at the group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(3), 60)
    chance = np.where(group[:, None] == group, 0.10, 0.01)
    above = np.triu(rng.random((180, 180)) < chance, 1)
    features = rng.standard_normal((180, 40)) + 0.35 * np.eye(40)[group] * 4
    return Graph.from_scipy((above | above.T).astype(float), features), group


def test_training_beats_the_untrained_encoder_on_a_planted_partition() -> None:
    gains, settings = [], {"schedule": Schedule(lr=0.01, min_rank=0), "features": Features(anchor=0)}
    for seed in range(3):
        graph, group = planted_partition(seed)
        z = [FDMVGCL(dim=32, views=3, epochs=epochs, seed=seed, **settings).fit_transform(graph) for epochs in (0, 30)]
        before, after = (neighbour_homophily(torch.from_numpy(each), torch.from_numpy(group)) for each in z)
        gains.append(after - before)
    assert min(gains) > 0, gains


@pytest.mark.parametrize(("across", "kept"), [(0.15, False), (0.30, True)])
def test_magnitudes_are_kept_from_an_assortativity_of_a_fifth_on(across: float, kept: bool) -> None:
    """On pairs of linked nodes, of which a share is alike in magnitude: assortativity is what the threshold is of."""
    graph = _pairs(across)
    transform = FDMVGCL(dim=4, views=2).prepare(graph).chosen.features
    assert transform.scaling == ("none" if kept else "rows")
    assert suggested_view_scaling(transform) == ("view" if kept else "rows")


def _pairs(assortativity: float) -> Graph:
    """A thousand linked pairs of two kinds of nodes with just this correlation of their kinds, half of each kind."""
    pairs = 1000
    alike = round(pairs * (1 + assortativity) / 2)
    first = np.arange(pairs) % 2
    second = np.where(np.arange(pairs) // 2 < alike // 2, first, 1 - first)
    kind = np.stack([first, second], axis=1).ravel()
    features = np.array([[1.0, 0.0], [9.0, 0.0]])[kind]
    return Graph.from_edges(
        np.arange(0, 2 * pairs, 2), np.arange(1, 2 * pairs, 2), nodes=range(2 * pairs), features=features
    )


def test_weight_decay_pulls_the_weights_in() -> None:
    graph = random_graph(1)
    sizes = [
        FDMVGCL(dim=8, views=2, epochs=20, schedule=Schedule(lr=0.01, weight_decay=decay, min_rank=0))
        .fit(graph)
        .encoder_.weight.detach()
        .norm()
        .item()
        for decay in (0.0, 1.0)
    ]
    assert sizes[1] < 0.9 * sizes[0]


def test_a_learnt_time_stays_above_zero() -> None:
    encoder = FDMVGCL(dim=8, views=2, epochs=1, diffusion=Diffusion(learn_time=True)).fit(random_graph(1)).encoder_
    with torch.no_grad():
        encoder.time.fill_(-1.0)
        encoder.skip_weight.fill_(-1.0)
    encoder.clamp_(1e-4)
    assert encoder.time.tolist() == [1e-3, 1e-3]
    assert encoder.skip_weight.item() == 0.0


def test_the_rank_that_a_phase_began_with_is_taken_up_too(tmp_path) -> None:
    """Resumed, a run that collapses ends where it would have ended."""
    graph = random_graph(2)
    options = {"dim": 16, "views": 2, "epochs": 30, "loss": "cosmean"}
    options["schedule"] = Schedule(lr=0.005, merge_width=0, min_rank=0)
    ranks = [record["effective_rank"] for record in FDMVGCL(**options).fit(graph).history_]
    lowest = next(t for t in range(5, 30) if ranks[t] < min(ranks[:t]))
    threshold = (ranks[lowest] + min(ranks[:lowest])) / 2 / ranks[0]
    options["schedule"] = Schedule(lr=0.005, merge_width=0, min_rank=threshold)
    whole = FDMVGCL(**options).fit(graph).history_
    assert len(whole) == lowest + 1, "it ends early"

    class Stopped(Exception):
        pass

    def stop(trainer, record) -> None:
        if trainer.epoch == len(whole) - 2:
            trainer.save(tmp_path / "state", dotted(model.settings))
            raise Stopped

    model = FDMVGCL(**options)
    with pytest.raises(Stopped):
        model.fit(graph, on_epoch=stop)
    assert len(FDMVGCL(**options).fit(graph, resume=tmp_path / "state").history_) == len(whole)


def test_settings_are_frozen() -> None:
    for each in (Diffusion(), Schedule(), Features()):
        assert isinstance(each, Settings)
        with pytest.raises(AttributeError):
            each.lr = 1


_PEAK = """
import re, sys
import numpy as np, scipy.sparse as sp
from fdmvgcl import FDMVGCL, Diffusion, Features, Graph
nodes, dim, columns = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
ends = rng.integers(0, nodes, (2, 4 * nodes))
graph = Graph.from_edges(*ends, nodes=range(nodes), features=rng.random((nodes, columns), dtype=np.float32))
FDMVGCL(dim=16, views=2, epochs=1).fit(Graph.from_edges([0, 1], [1, 2]))  # kernels and libraries
model = FDMVGCL(dim=dim, views=3, epochs=2, diffusion=Diffusion(skip=0), features=Features(structure="none"))
prepared = model.prepare(graph, order_of_work="project")
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew; ru_maxrss would begin with the parent's
before = peak()
model.fit(prepared)
print(prepared.memory, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize(("nodes", "dim", "columns"), [(20_000, 256, 64), (30_000, 256, 128), (20_000, 512, 64)])
def test_the_memory_estimate_is_near_the_peak(nodes: int, dim: int, columns: int) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _PEAK, str(nodes), str(dim), str(columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    estimate, peak = map(float, done.stdout.split())
    assert 1 / 1.5 < estimate / peak < 1.5, (estimate, peak)
