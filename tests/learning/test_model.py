"""The estimator: scikit-learn manners, unseen nodes, safe files, and two orders of work with the same numbers."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from torch_geometric.data import Data

from fdmvgcl import FDMVGCL, AddEmbedding, Diffusion, Features, Graph, Schedule
from fdmvgcl.errors import InputError
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.losses import LOSSES, RegularisedCosmean, make_loss

SMALL = {"dim": 16, "views": 3, "epochs": 3, "time": 3.0}


def table_alone(**settings: object) -> Features:
    """The random tables here would get structural columns beside them."""
    return Features(structure="none", **settings)


def make_graph(nodes: int = 40, features: int = 12, *, sparse_features: bool = False, signed: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    table = rng.random((nodes, features)) - (0.5 if signed else 0.0)
    if sparse_features:
        table = sparse.csr_array(table * (rng.random(table.shape) < 0.3))
    ends = rng.integers(0, nodes - 2, (2, 3 * nodes))  # the last two nodes are isolated
    return Graph.from_edges(*ends, nodes=range(nodes), features=table)


def test_fit_transform_gives_rows_in_order_of_ids() -> None:
    graph = make_graph()
    model = FDMVGCL(**SMALL)
    z = model.fit_transform(graph)
    assert z.shape == (40, 16)
    assert z.dtype == np.float32
    assert np.isfinite(z).all()
    assert len(model.history_) >= 3
    assert model.betas_.sum() == pytest.approx(1)
    assert model.transform_views(graph).shape == (len(model.alphas_), 40, 16)


def test_scikit_learn_manners() -> None:
    model = FDMVGCL(dim=16, loss=RegularisedCosmean(eta=0.2), schedule=Schedule(lr=0.01))
    copy = clone(model)
    assert copy.settings == model.settings
    assert copy.settings["loss"] == {"name": "regularised-cosmean", "eta": 0.2}
    assert copy.set_params(dim=8, schedule__lr=0.5, features__scaling="rows").dim == 8
    assert (copy.schedule, model.schedule) == (Schedule(lr=0.5), Schedule(lr=0.01))
    assert copy.feature_settings == Features(scaling="rows")
    with pytest.raises(ValueError, match="must be fitted"):
        copy.transform(make_graph())


def test_same_seed_same_bytes_and_another_seed_not() -> None:
    graph = make_graph()
    first, again, other = (FDMVGCL(**SMALL, seed=s).fit_transform(graph) for s in (1, 1, 2))
    assert first.tobytes() == again.tobytes()
    assert not np.allclose(first, other)


def test_order_of_nodes_in_the_file_does_not_matter() -> None:
    graph = make_graph()
    entries = graph.adjacency.tocoo()
    order = np.random.default_rng(1).permutation(entries.nnz)
    shuffled = Graph.from_edges(
        entries.row[order], entries.col[order], nodes=range(40)[::-1], features=graph.features[::-1]
    )
    assert FDMVGCL(**SMALL).fit_transform(graph).tobytes() == FDMVGCL(**SMALL).fit_transform(shuffled).tobytes()


@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("normalisation", ["sym", "rw"])
def test_both_orders_of_work_give_the_same_numbers(sparse_features: bool, normalisation: str) -> None:
    graph = make_graph(sparse_features=sparse_features)
    results = [
        FDMVGCL(**SMALL, diffusion=Diffusion(normalisation=normalisation, self_loops=0.5))
        for _ in ("project", "diffuse")
    ]
    for model, order in zip(results, ("project", "diffuse"), strict=True):
        model.fit(model.prepare(graph, order_of_work=order))
    assert [m.chosen_.order_of_work for m in results] == ["project", "diffuse"]
    for first, second in zip(*(m.history_ for m in results), strict=True):
        assert first["loss"] == pytest.approx(second["loss"], rel=1e-4)
        assert first["alpha"] == pytest.approx(second["alpha"], rel=1e-4)
    assert np.allclose(results[0].transform(graph), results[1].transform(graph), atol=2e-3)


def test_a_few_orders_serve_for_all_terms(tmp_path: Path) -> None:
    """Wide views of few features are diffused first; the basis of modes is about half as large as that of terms."""
    graph, settings = make_graph(), SMALL | {"dim": 256}
    terms = FDMVGCL(**settings).prepare(graph, order_of_work="diffuse").basis.values.nbytes
    results = []
    for order in ("diffuse", "interpolate", "project"):
        model = FDMVGCL(**settings)
        prepared = model.prepare(graph, order_of_work=order)
        results.append(model.fit(prepared))
    _, model, _ = results
    assert prepared.basis is None
    modes = model.prepare(graph, order_of_work="interpolate")
    assert modes.basis.values.nbytes < 0.7 * terms
    assert any("at a few orders" in sentence for sentence in modes.sentences)
    for other in results:
        for first, second in zip(model.history_, other.history_, strict=True):
            assert first["loss"] == pytest.approx(second["loss"], rel=1e-4)
            assert first["alpha"] == pytest.approx(second["alpha"], rel=1e-4)
        assert np.allclose(model.transform(graph), other.transform(graph), atol=2e-3)
    model.save(tmp_path)
    assert np.array_equal(FDMVGCL.load(tmp_path).transform(graph), model.transform(graph))
    with pytest.raises(ValueError, match="order_of_work must be one of"):
        model.prepare(graph, order_of_work="backwards")


def test_unseen_nodes_and_other_graphs() -> None:
    graph, other = make_graph(), make_graph(nodes=25)
    model = FDMVGCL(**SMALL).fit(graph)
    assert model.transform(other).shape == (25, 16)
    with pytest.raises(ValueError, match="needs 12 feature columns, got 5"):
        model.transform(make_graph(features=5))
    with pytest.raises(ValueError, match="got a graph without features"):
        model.transform(Graph.from_edges(["a"], ["b"]))


def test_feature_columns_are_matched_by_name() -> None:
    graph = make_graph(features=3)
    named = graph.with_features(graph.features, names=["x", "y", "z"])
    turned = graph.with_features(graph.features[:, ::-1], names=["z", "y", "x"])
    model = FDMVGCL(**SMALL).fit(named)
    assert np.array_equal(model.transform(named), model.transform(turned))
    with pytest.raises(ValueError, match="column 'x'"):
        model.transform(graph.with_features(graph.features, names=["u", "y", "z"]))


def test_isolated_nodes_get_an_embedding_of_their_own_features() -> None:
    graph = make_graph()
    z = FDMVGCL(**SMALL).fit_transform(graph)
    assert (np.abs(z[list(graph.isolated)]).sum(1) > 0).all()


def test_edge_weights_count() -> None:
    plain = Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], features=np.eye(3), feature_ids=["a", "b", "c"])
    heavy = Graph.from_edges(
        ["a", "b", "c"], ["b", "c", "a"], weight=[9, 1, 1], features=np.eye(3), feature_ids=["a", "b", "c"]
    )
    assert not np.allclose(FDMVGCL(**SMALL).fit_transform(plain), FDMVGCL(**SMALL).fit_transform(heavy))


def test_automatic_feature_scaling() -> None:
    assert FeatureTransform.fit(make_graph(sparse_features=True), "auto").scaling == "rows"
    assert FeatureTransform.fit(make_graph(signed=True), "auto").scaling == "columns"


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("scaling", ["none", "rows", "columns", "both"])
def test_scaled_features_are_what_their_definition_says(scaling: str, compressed: bool) -> None:
    graph = make_graph(sparse_features=compressed)
    table = graph.features.toarray() if compressed else graph.features
    table = np.hstack([table, np.full((len(table), 1), 1e4)]).astype(np.float32)  # a column that does not vary
    graph = graph.with_features(sparse.csr_array(table) if compressed else table)
    truth = table.astype(np.float64)
    if scaling in ("columns", "both"):
        truth[:, :-1] /= truth[:, :-1].std(axis=0)
    if scaling in ("rows", "both"):
        truth /= abs(truth).sum(axis=1, keepdims=True)
    x, centre = FDMVGCL(**SMALL, features=table_alone(scaling=scaling)).fit(graph).chosen_.features.apply(graph)
    assert (x.layout == torch.sparse_csr) == compressed
    np.testing.assert_allclose(x.to_dense().numpy(), truth, rtol=1e-5)
    np.testing.assert_allclose(centre.numpy(), truth.mean(axis=0), rtol=1e-5)


def test_a_column_that_varies_little_around_a_large_mean_is_still_centred() -> None:
    graph = make_graph()
    table = np.repeat(1e6 + np.arange(40.0)[:, None], 2, axis=1)  # deviation 11.5: 1e-5 of the mean
    x = (
        FDMVGCL(**SMALL, features=table_alone(scaling="columns"))
        .prepare(graph.with_features(table))
        .features.dense()
        .numpy()
    )
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-2)
    np.testing.assert_allclose(x.std(axis=0), 1, rtol=1e-2)


def test_columns_scaled_sparse_and_dense_give_the_same_views() -> None:
    graph = make_graph(sparse_features=True)
    dense = graph.with_features(graph.features.toarray())
    model = FDMVGCL(**SMALL, features=table_alone(scaling="columns"))
    first, second = (model.fit(g).transform_views(g) for g in (graph, dense))
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize("view_scaling", ["rows", "view"])
@pytest.mark.parametrize("feature_scaling", ["rows", "both"])
def test_save_and_load_round_trip(tmp_path: Path, view_scaling: str, feature_scaling: str) -> None:
    graph = make_graph()
    model = FDMVGCL(**SMALL, diffusion=Diffusion(view_scaling=view_scaling), features=feature_scaling).fit(graph)
    model.save(tmp_path / "model")
    loaded = FDMVGCL.load(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.device == model.device
    assert loaded.transform(graph).tobytes() == model.transform(graph).tobytes()
    assert loaded.history_ == model.history_


def test_warm_start_goes_on_from_a_saved_model(tmp_path: Path) -> None:
    graph = make_graph()
    FDMVGCL(**SMALL).fit(graph).save(tmp_path)
    loaded = FDMVGCL.load(tmp_path)
    before = loaded.history_[-1]["loss"]
    loaded.partial_fit(graph)
    assert len(loaded.history_) > 3
    assert loaded.history_[3]["loss"] < before


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("config.json", lambda b: b[:40], "is not valid JSON"),
        ("config.json", lambda b: b"[]", "model of format 5, got 'list'"),
        ("config.json", lambda b: b.replace(b'"format": 5', b'"format": 99'), "format 5, got 99"),
        ("config.json", lambda b: b.replace(b'"dim": 16', b'"dim": 17'), "does not describe the weights"),
        ("config.json", lambda b: b.replace(b'"dim"', b'"dimm"'), "must hold the setting dim"),
        (
            "config.json",
            lambda b: b.replace(b'"scaling": "columns"', b'"scaling": "none"'),
            "deviations of columns go with",
        ),
        ("config.json", lambda b: b.replace(b'"leaky"', b'"sigmoid"'), "activation must be"),
        ("weights.safetensors", lambda b: b[:-7], "is not a safetensors file"),
        ("weights.safetensors", lambda b: b"", "is empty"),
        ("weights.safetensors", lambda b: b"\x80\x04\x95" + b, "is not a safetensors file"),
    ],
)
def test_damaged_models_get_one_clear_line(tmp_path: Path, name: str, damage, message: str) -> None:
    FDMVGCL(**SMALL).fit(make_graph()).save(tmp_path)
    path = tmp_path / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=message) as caught:
        FDMVGCL.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_saved_files_hold_no_pickle(tmp_path: Path) -> None:
    FDMVGCL(**SMALL).fit(make_graph().without_features()).save(tmp_path)
    names = ["config.json", "structure.parquet", "weights.safetensors"]
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    json.loads((tmp_path / "config.json").read_text())


def test_pyg_transform_adds_z() -> None:
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    data = Data(x=torch.rand(4, 6), edge_index=edge_index)
    transform = AddEmbedding(FDMVGCL(**SMALL))
    assert transform(data).z.shape == (4, 16)
    again = transform(Data(x=torch.rand(7, 6), edge_index=edge_index))
    assert again.z.shape == (7, 16)


def test_directed_graphs() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(
        *rng.integers(0, 20, (2, 60)), nodes=range(20), features=rng.random((20, 4)), directed=True
    )
    z = FDMVGCL(**SMALL).fit_transform(graph)
    assert np.isfinite(z).all()
    with pytest.raises(ValueError, match="normalisation must be 'rw' for a directed graph"):
        FDMVGCL(**SMALL, diffusion=Diffusion(normalisation="sym")).fit(graph)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_trains_is_told_of_and_comes_back_from_disk(tmp_path: Path, name: str) -> None:
    graph = make_graph()
    model = FDMVGCL(**SMALL | {"epochs": 12}, loss=name, schedule=Schedule(min_rank=0.0)).fit(graph)
    weights = make_loss(name).weights
    for record in model.history_:
        assert record["loss"] == pytest.approx(sum(weight * record[term] for term, weight in weights.items()), rel=1e-5)
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    model.save(tmp_path)
    loaded = FDMVGCL.load(tmp_path)
    assert loaded.settings["loss"] == model.settings["loss"]
    assert loaded.settings["loss"]["name"] == name
    assert loaded.transform(graph).tobytes() == model.transform(graph).tobytes()


def test_settings_of_a_loss_count_and_are_told() -> None:
    graph = make_graph()
    plain = FDMVGCL(**SMALL).fit_transform(graph)
    model = FDMVGCL(**SMALL, loss=RegularisedCosmean(eta=5.0))
    assert not np.allclose(model.fit_transform(graph), plain)
    assert model.settings["loss"] == {"name": "regularised-cosmean", "eta": 5.0}
    same = FDMVGCL(**SMALL, loss=RegularisedCosmean())
    assert same.fit_transform(graph).tobytes() == plain.tobytes()
    for name in set(LOSSES) - {"regularised-cosmean"}:
        with pytest.raises(ValueError, match=f"eta is no setting of the loss {name}"):
            make_loss(name, eta=5.0)


def test_time_stepping_schemes_train_too() -> None:
    z = FDMVGCL(**SMALL, diffusion=Diffusion(scheme="l1", step=0.5)).fit_transform(make_graph())
    assert np.isfinite(z).all()


def test_a_graph_of_one_node_and_one_of_no_edges() -> None:
    one = Graph.from_edges([], [], nodes=["only"], features=np.ones((1, 3)))
    assert FDMVGCL(**SMALL).fit_transform(one).shape == (1, 16)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"dim": 0}, "dim must be a whole number of at least 1, got 0"),
        ({"views": 1}, "views must be a whole number of at least 2, got 1"),
        ({"diffusion.step": 0.5}, "step must be left out for scheme .exact."),
        ({"diffusion.learn_skip": True, "diffusion.skip": 0}, "learn_skip must be left out without a skip-connection"),
        ({"time": -1.0}, "time must be"),
        ({"diffusion.activation": "tanh"}, "activation must be one of"),
        ({"loss": "infonce"}, "loss must be one of .*'barlow-twins'.*, got 'infonce'"),
        ({"features": "log"}, "scaling must be one of .*, got 'log'"),
        ({"diffusion.scheme": "euler"}, "scheme must be one of"),
        ({"diffusion.scheme": "l1", "diffusion.step": 0.7}, "step must"),
        ({"epochs": -1}, "epochs must be a whole number of at least 0"),
    ],
)
def test_bad_settings_are_named(bad: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FDMVGCL.from_settings(SMALL | bad).fit(make_graph())


def test_a_skip_that_is_learnt_but_not_there_is_told() -> None:
    graph = Graph.from_networkx(nx.karate_club_graph())  # no features, so no skip-connection is suggested
    with pytest.warns(UserWarning, match="learn_skip has nothing to learn"):
        FDMVGCL(**SMALL, diffusion=Diffusion(learn_skip=True)).fit(graph)


@pytest.mark.parametrize("sparse_table", [False, True])
def test_centred_features_are_the_features_minus_their_mean(sparse_table: bool) -> None:
    random = np.random.default_rng(0)
    table = random.uniform(size=(20, 6)).astype(np.float32) * (random.uniform(size=(20, 6)) < 0.4)
    adjacency = sparse.csr_array(nx.to_scipy_sparse_array(nx.gnm_random_graph(20, 40, seed=0)))
    scaled = table / np.maximum(table.sum(1, keepdims=True), 1e-12)
    settings = {"dim": 8, "views": 2, "epochs": 3, "diffusion": Diffusion(view_scaling="rows", skip=0)}
    given = Graph.from_scipy(adjacency, sparse.csr_array(table) if sparse_table else table)
    ours = FDMVGCL(**settings, features=table_alone(scaling="rows")).fit_transform(given)
    by_hand = Graph.from_scipy(adjacency, (scaled - scaled.mean(0)).astype(np.float32))
    plain = FDMVGCL(**settings, features=table_alone(scaling="none", centre=False)).fit_transform(by_hand)
    np.testing.assert_allclose(ours, plain, atol=2e-5)


def test_new_nodes_are_centred_as_the_training_graph_was(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    adjacency = sparse.csr_array(nx.to_scipy_sparse_array(nx.gnm_random_graph(20, 40, seed=0)))
    graph = Graph.from_scipy(adjacency, random.uniform(size=(20, 6)).astype(np.float32))
    model = FDMVGCL(dim=8, views=2, epochs=1).fit(graph)
    model.save(tmp_path / "model")
    other = Graph.from_scipy(adjacency, random.uniform(1, 2, size=(20, 6)).astype(np.float32))
    loaded = FDMVGCL.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.chosen_.features.centre, model.chosen_.features.centre)
    np.testing.assert_array_equal(loaded.transform(other), model.transform(other))


def test_features_that_are_all_alike_are_not_centred_away() -> None:
    graph = Graph.from_scipy(
        sparse.csr_array(nx.to_scipy_sparse_array(nx.star_graph(5))), np.full((6, 3), 0.1, dtype=np.float32)
    )
    model = FDMVGCL(dim=4, views=2, epochs=1).fit(graph)
    assert model.chosen_.features.centre is None
    assert np.abs(model.transform(graph)).max() > 0


@pytest.mark.parametrize("name", ["loss.eta", "diffusion.skip_weight", "diffusion.self_loops", "diffusion.step"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_weights_that_cannot_be_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a finite number of at least 0"):
        FDMVGCL.from_settings({name: value})


def test_joint_projections_begin_orthogonal_between_views() -> None:
    graph = Graph.from_networkx(nx.karate_club_graph()).with_features(np.random.default_rng(0).normal(size=(34, 5)))
    for dim, exact in ((16, True), (8, False)):
        model = FDMVGCL(dim=dim, views=3, epochs=0, features=table_alone(initialisation="joint", anchor=0)).fit(graph)
        stacked = model.encoder_.weight.detach().flatten(0, 1)
        gram = (stacked @ stacked.T if exact else stacked.T @ stacked).numpy()
        np.testing.assert_allclose(gram, np.eye(len(gram)) * (1 if exact else 15 / 8), atol=1e-5)


def test_the_sum_of_joint_views_begins_as_their_concatenation() -> None:
    graph = Graph.from_networkx(nx.karate_club_graph()).with_features(np.random.default_rng(0).normal(size=(34, 5)))
    joint = {
        "features": table_alone(initialisation="joint", anchor=0),
        "diffusion": Diffusion(activation="identity"),
    }
    model = FDMVGCL(dim=16, views=3, epochs=0, **joint).fit(graph)
    views = model.transform_views(graph).astype(np.float64)
    z = model.transform(graph).astype(np.float64)
    concatenated = np.concatenate(list(views), axis=1) / 3
    np.testing.assert_allclose(z @ z.T, concatenated @ concatenated.T, atol=1e-5)
