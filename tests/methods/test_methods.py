"""What holds for every method: the protocol, scikit-learn's manners, and that it sees a planted partition."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.methods import METHODS, Embedder, make_method
from fdmvgcl.methods.base import Transductive, check_settings
from fdmvgcl.methods.training import Trained

SMALL: dict[str, dict[str, Any]] = {
    "fd-mvgcl": {"dim": 32, "views": 3, "epochs": 5},
    "dgi": {"dim": 64, "epochs": 60, "lr": 0.005, "patience": None},
    "grace": {"dim": 16, "hidden": 16, "epochs": 40, "lr": 0.01},
    "bgrl": {"dim": 16, "hidden": 32, "epochs": 60, "lr": 0.01},
    "graphacl": {"dim": 32, "epochs": 30, "lr": 0.01},
    "polygcl": {"dim": 64, "epochs": 40, "lr": 0.01, "patience": None, "feature_dropout": 0.0},
    "cca-ssg": {"dim": 16, "hidden": 32, "epochs": 20, "lr": 0.01},
    "spectral": {"dim": 8},
    "node2vec": {"dim": 16, "length": 20, "walks": 5, "window": 5, "epochs": 2},
}
TRAINED = [name for name, kind in METHODS.items() if issubclass(kind, Trained)]
OTHERS = [name for name in METHODS if name != "fd-mvgcl"]


def small(name: str, **settings: Any) -> Any:
    return make_method(name, **SMALL[name] | settings)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_meets_the_protocol(name: str, planted: Any) -> None:
    model = small(name)
    assert isinstance(model, Embedder)
    assert {"dim", "seed"} <= set(model.settings)
    rows = model.fit(planted.graph).transform(planted.graph)
    assert rows.dtype == np.float32
    assert rows.shape == (180, SMALL[name]["dim"])
    assert np.isfinite(rows).all()
    assert isinstance(model.history_, list)
    np.testing.assert_array_equal(clone(model).fit_transform(planted.graph), rows)


@pytest.mark.parametrize("name", OTHERS)
def test_every_method_sees_what_raw_features_hardly_tell(name: str, planted: Any) -> None:
    found = planted.accuracy(small(name).fit_transform(planted.graph))
    if (
        name == "polygcl"
    ):  # its high-pass half is the features' noise here, and there is nothing to choose the halves by
        assert found > 1 / 3 + 0.1
    else:
        assert found > planted.accuracy(planted.graph.features.toarray()) + 0.1


@pytest.mark.parametrize("name", OTHERS)
def test_a_fit_leaves_the_global_generator_alone_and_depends_on_its_seed(name: str, planted: Any) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    rows = small(name).fit_transform(planted.graph)
    assert torch.equal(torch.get_rng_state(), before)
    if name != "spectral":
        assert np.abs(small(name, seed=1).fit_transform(planted.graph) - rows).max() > 1e-3


@pytest.mark.parametrize("name", TRAINED)
def test_training_lowers_the_loss_and_reaches_every_weight(name: str, planted: Any) -> None:
    model = small(name, epochs=2).fit(planted.graph)
    start = {key: value.clone() for key, value in small(name, epochs=0).fit(planted.graph).network_.named_parameters()}
    for key, value in model.network_.named_parameters():
        if value.requires_grad:
            assert not torch.equal(value, start[key]), f"{key} has no gradient"
    history = small(name).fit(planted.graph).history_
    losses = [record["loss"] for record in history]
    assert np.mean(losses[-10:]) < np.mean(losses[:10])  # augmentations make them go up and down
    assert [record["epoch"] for record in history] == list(range(len(history)))


@pytest.mark.parametrize("name", TRAINED)
def test_renumbering_the_nodes_renumbers_the_rows(name: str, planted: Any) -> None:
    model = small(name, epochs=3).fit(planted.graph)
    order = np.random.default_rng(0).permutation(180)
    moved = Graph.from_scipy(planted.graph.adjacency[order][:, order], planted.graph.features[order])
    rows = model.transform(planted.graph)
    np.testing.assert_allclose(model.transform(moved), rows[order], atol=1e-5)


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if issubclass(kind, Transductive)])
def test_a_method_without_a_way_to_new_nodes_says_so(name: str, planted: Any) -> None:
    model = small(name).fit(planted.graph)
    with pytest.raises(UserError, match="was fitted on and for no other"):
        model.transform(nx.karate_club_graph())


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges(["O'Brien"], ["<script>"]),
        Graph.from_edges([], [], nodes=["alone"]),
        Graph.from_edges(["a", "b"], ["b", "c"], nodes=["far", "away"], directed=True),
        Graph.from_scipy(sparse.csr_array((4, 4)), np.zeros((4, 3), np.float32)),
    ],
    ids=["two nodes", "one node", "directed", "no edges, no words"],
)
def test_the_smallest_graphs_have_finite_rows(name: str, graph: Graph) -> None:
    rows = small(name).fit_transform(graph)
    assert rows.shape == (graph.num_nodes, SMALL[name]["dim"])
    assert np.isfinite(rows).all()


@pytest.mark.parametrize("name", OTHERS)
def test_not_fitted(name: str, planted: Any) -> None:
    with pytest.raises(NotFittedError, match=type(small(name)).__name__):
        small(name).transform(planted.graph)


@pytest.mark.parametrize("name", OTHERS)
def test_every_setting_has_a_rule(name: str) -> None:
    check_settings(make_method(name).settings)
    for setting in make_method(name).settings:
        with pytest.raises(ArgumentError, match=setting):
            check_settings({setting: object()})


def test_names_that_are_none() -> None:
    with pytest.raises(ArgumentError, match=r"'cca-sgs' is none; did you mean 'cca-ssg'\?"):
        make_method("cca-sgs")
    with pytest.raises(ArgumentError, match=r"epoch is no setting of dgi; did you mean 'epochs'\?"):
        make_method("dgi", epoch=3)
    with pytest.raises(ArgumentError, match=r"schedule.rl is no setting"):
        make_method("fd-mvgcl", **{"schedule.rl": 0.1})
    assert (
        make_method("fd-mvgcl", **{"schedule.lr": 0.1}).settings
        == FDMVGCL.from_settings({"schedule": {"lr": 0.1}}).settings
    )


def test_a_loss_that_is_no_number_is_told(planted: Any) -> None:
    with pytest.raises(UserError, match="the loss of epoch"):
        small("dgi", lr=1e30, patience=None).fit(planted.graph)


def test_what_does_not_fit_into_memory_is_refused_before_it_starts(
    planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdmvgcl.methods.base.machine_memory", lambda: 1000)
    for name in OTHERS:
        with pytest.raises(UserError, match=r"needs about .* GiB for 180 nodes and [\d,]+ edges"):
            small(name).fit(planted.graph)


def test_a_loss_over_all_pairs_fits_where_it_is_taken_in_chunks(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdmvgcl.methods.base.machine_memory", lambda: 400_000)
    for name in ("grace", "graphacl"):
        few = {"dim": 4, "layers": 1, "epochs": 1} | ({"hidden": 4} if name == "grace" else {})
        with pytest.raises(UserError, match=r"set chunk, such as chunk=1024"):
            make_method(name, **few).fit(planted.graph)
        make_method(name, chunk=16, **few).fit(planted.graph)


def test_a_million_nodes_are_refused_with_an_estimate() -> None:
    ring = sparse.csr_array((np.ones(10**6), (np.arange(10**6), np.roll(np.arange(10**6), 1))), shape=(10**6,) * 2)
    with pytest.raises(UserError, match=r"GRACE needs about 3\d,\d{3} GiB for 1,000,000 nodes and 1,000,000 edges"):
        make_method("grace").fit(ring)
