"""One vector a graph: readouts held to a loop, batches to one pass, vectors to what they must not depend on."""

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fdmvgcl import FDMVGCL, Graph, GraphSet, Readout
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.learning import graph_level
from fdmvgcl.learning.graph_level import read_out, training_sample
from fdmvgcl.learning.settings import READOUTS

SMALL = {"dim": 8, "views": 3, "epochs": 2}


def some_graphs(count: int = 12, features: bool = False, seed: int = 0) -> GraphSet:
    rng = np.random.default_rng(seed)
    parts: dict[str, Graph | None] = {"empty": None}
    for i in range(count):
        graph = nx.gnp_random_graph(int(rng.integers(1, 12)), 0.4, seed=int(rng.integers(1 << 30)))
        made = Graph.from_networkx(graph)
        parts[f"g{i}"] = made.with_features(rng.normal(size=(made.num_nodes, 3))) if features else made
    return GraphSet.from_graphs(parts)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 4), max_size=20), st.integers(1, 3), st.sampled_from(READOUTS), st.integers(0, 2**32 - 1)
)
def test_a_readout_is_what_a_loop_over_graphs_finds(owners: list[int], width: int, kind: str, seed: int) -> None:
    owner = np.array(owners, dtype=np.int64)
    rows = np.random.default_rng(seed).normal(size=(len(owner), width)).astype(np.float32)
    loop = {
        "sum-over-root": lambda x: x.sum(0) / np.sqrt(len(x)),
        "mean": lambda x: x.mean(0),
        "sum": lambda x: x.sum(0),
        "max": lambda x: x.max(0),
        "mean+deviation": lambda x: np.concatenate([x.mean(0), x.std(0)]),
    }[kind]
    found = read_out(rows, owner, 5, kind)
    for graph in range(5):
        mine = rows[owner == graph]
        assert_allclose(found[graph], loop(mine) if len(mine) else 0, atol=1e-5)


@pytest.mark.parametrize("kind", READOUTS)
@pytest.mark.parametrize("views", ["sum", "side-by-side"])
def test_batches_of_graphs_give_the_vectors_of_one_pass(kind: str, views: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = some_graphs(features=True)
    model = FDMVGCL(**SMALL, readout=Readout(kind, views)).fit(graphs)
    whole = model.transform(graphs)
    assert whole.shape == (13, SMALL["dim"] * (2 if kind == "mean+deviation" else 1) * (3 if views != "sum" else 1))
    assert_array_equal(whole[0], 0)
    monkeypatch.setattr(graph_level, "_BATCH", 1)
    assert_allclose(model.transform(graphs), whole, atol=1e-5)


def test_one_pass_is_the_readout_of_the_nodes_of_the_block() -> None:
    graphs = some_graphs()
    model = FDMVGCL(**SMALL, readout="mean")
    z = model.fit_transform(graphs)
    nodes = model.transform(graphs.marked)
    assert_allclose(z, read_out(nodes, graphs.owner, graphs.num_graphs, "mean"), atol=1e-6)
    assert_allclose(model.transform_views(graphs).mean(0), z, atol=1e-6)


@pytest.mark.parametrize("features", [False, True])
def test_a_graph_has_the_same_vector_in_any_company_and_numbering(features: bool) -> None:
    graphs = some_graphs(features=features)
    model = FDMVGCL(**SMALL).fit(graphs)
    whole = model.transform(graphs)
    assert_allclose(model.transform(graphs.take(np.array([5, 2]))), whole[[5, 2]], atol=1e-5)
    one = graphs.graph("g4")
    assert one is not None
    entries = one.adjacency.tocoo()
    renamed = Graph.from_edges(
        [f"n{-i}" for i in entries.row],
        [f"n{-i}" for i in entries.col],
        nodes=[f"n{-i}" for i in range(one.num_nodes)],
        features=one.features,
        feature_ids=None if one.features is None else [f"n{-i}" for i in range(one.num_nodes)],
    )
    assert_allclose(model.transform(GraphSet.from_graphs([renamed]))[0], whole[graphs.index("g4")], atol=1e-5)


def test_vectors_tell_kinds_of_graphs_apart() -> None:
    rng = np.random.default_rng(0)
    kinds = [nx.cycle_graph, nx.star_graph, nx.complete_graph]
    graphs = GraphSet.from_networkx([kinds[i % 3](int(rng.integers(5, 15))) for i in range(30)])
    z = FDMVGCL(dim=16, views=3, epochs=3).fit_transform(graphs)
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    cosine = unit @ unit.T - 2 * np.eye(30)
    assert np.mean(cosine.argmax(axis=1) % 3 == np.arange(30) % 3) > 0.9  # by chance a third


def test_a_large_set_is_trained_on_a_sample_drawn_by_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = some_graphs(30)
    drawn = training_sample(graphs, 3, 40)
    assert drawn.block.num_nodes <= 40
    assert drawn.ids == training_sample(graphs, 3, 40).ids != training_sample(graphs, 4, 40).ids
    assert drawn.block.num_nodes + graphs.sizes.max() > 40
    assert training_sample(graphs, 0, 1).num_graphs == 1
    monkeypatch.setattr(training_sample, "__defaults__", (40,))
    model = FDMVGCL(**SMALL, seed=3)
    prepared = model.prepare(graphs)
    assert prepared.graph.ids == drawn.block.ids
    assert prepared.sentences[0].startswith(f"training sees {drawn.num_graphs} graphs with {drawn.block.num_nodes}")
    assert_array_equal(model.fit_transform(graphs), FDMVGCL(**SMALL, seed=3).fit(drawn).transform(graphs))


def test_a_saved_model_keeps_its_readout(tmp_path: Path) -> None:
    graphs = some_graphs()
    model = FDMVGCL(**SMALL, readout="max")
    z = model.fit_transform(graphs)
    model.save(tmp_path)
    loaded = FDMVGCL.load(tmp_path)
    assert loaded.settings["readout"] == {"kind": "max", "views": "sum"}
    assert_array_equal(loaded.transform(graphs), z)


def test_what_does_not_fit_is_refused() -> None:
    graphs = some_graphs()
    model = FDMVGCL(**SMALL).fit(graphs)
    with pytest.raises(UserError, match="the model knows no feature column 'x0', which the graph has"):
        model.transform(some_graphs(features=True))
    with pytest.raises(ArgumentError, match="features must be left out beside a GraphSet"):
        model.transform(graphs, features=np.ones((3, 3)))
    with pytest.raises(ArgumentError, match="kind must be one of"):
        FDMVGCL(readout="median").fit(graphs)
    with pytest.raises(ArgumentError, match=r"readout\.kinds is no setting of Readout; did you mean 'kind'"):
        FDMVGCL.from_settings({"readout.kinds": "mean"})
    assert FDMVGCL().set_params(readout__kind="max").readout == Readout("max")
    assert FDMVGCL.from_settings({"readout": "mean"}).readout == Readout("mean")
