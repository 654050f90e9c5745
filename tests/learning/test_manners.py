"""What a visitor expects of an estimator: the forms of a graph that it takes, and scikit-learn's ways."""

import copy
import io
import pickle

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch_geometric.data import Data, HeteroData

from fdmvgcl import FDMVGCL, Diffusion, Graph, GraphSet, Readout, Schedule, fractional
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.learning.settings import SCHEMES
from fdmvgcl.losses import RegularisedCosmean

TINY = {"dim": 8, "views": 2, "epochs": 2}
CLUB = nx.karate_club_graph()
for *_, edge in CLUB.edges(data=True):
    edge.clear()
X = np.random.default_rng(0).random((len(CLUB), 5)).astype(np.float32)
GRAPH = Graph.from_networkx(CLUB).with_features(X)
EDGES = {"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "e"]}


@pytest.fixture(scope="module")
def fitted() -> FDMVGCL:
    return FDMVGCL(**TINY).fit(GRAPH)


@pytest.mark.parametrize(
    ("graph", "more"),
    [
        (nx.to_scipy_sparse_array(CLUB), {"features": X}),
        (nx.to_scipy_sparse_array(CLUB), {"features": X.tolist(), "ids": range(len(CLUB))}),
        (CLUB, {"features": X}),
        (CLUB, {"features": X[::-1], "ids": list(CLUB)[::-1]}),
        (Data(x=torch.tensor(X), edge_index=torch.tensor(list(CLUB.edges)).T), {}),
        (pa.table(dict(zip(("source", "target"), zip(*CLUB.edges, strict=True), strict=True))), {"features": X}),
        (pd.DataFrame(list(CLUB.edges), columns=["from", "to"]), {"features": X}),
        (pl.DataFrame(list(CLUB.edges), schema=["one", "other"], orient="row"), {"features": X}),
    ],
    ids=["scipy", "scipy with ids", "networkx", "networkx with ids", "pyg", "arrow", "pandas", "polars"],
)
def test_every_form_of_a_graph_gives_the_same_vectors(fitted: FDMVGCL, graph, more) -> None:
    np.testing.assert_array_equal(fitted.transform(graph, **more), fitted.transform(GRAPH))


@pytest.mark.parametrize("table", [pa.table, pd.DataFrame, pl.DataFrame, lambda d: pd.DataFrame(d).astype("category")])
def test_ids_of_a_table_are_its_strings(table) -> None:
    assert FDMVGCL(**TINY).prepare(table(EDGES)).graph.ids == ("a", "b", "c", "d", "e")


def test_a_weight_is_a_column_called_so() -> None:
    graph = FDMVGCL().prepare(pd.DataFrame(EDGES | {"Weight": [1.0, 2.0, 3.0, 4.0]})).graph
    assert graph.adjacency.data.tolist() == [1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize(
    ("graph", "told"),
    [
        (None, "got a NoneType"),
        ("edges.csv", "got a str; Graph.read reads files"),
        (np.eye(3), "got a ndarray"),
        ([("a", "b")], "got a list"),
        (Data(x=torch.zeros(3, 1)), "must have an edge_index, got none"),
        (HeteroData(), "must have nodes and an edge_index, got none"),
        (pd.DataFrame({"a": [1], "b": [2], "c": [3]}), "edges: which columns are the ends of the edges is not certain"),
    ],
)
def test_anything_else_is_refused_in_one_line(graph, told: str) -> None:
    with pytest.raises(UserError, match=told) as error:
        FDMVGCL(**TINY).fit(graph)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("ids", [5, "abc", True, 0.5])
def test_ids_are_one_for_each_node(ids) -> None:
    with pytest.raises(ArgumentError, match="ids must be one id for each node, got"):
        FDMVGCL(**TINY).fit(CLUB, ids=ids)


def test_what_was_prepared_is_taken_by_the_decisions_of_the_fit(fitted: FDMVGCL) -> None:
    other = GRAPH.with_features(3 * X[::-1] - 1)
    np.testing.assert_array_equal(fitted.transform(fitted.prepare(other)), fitted.transform(other))
    for name, value in {"features": X, "ids": list(CLUB)}.items():
        for take in (fitted.transform, clone(fitted).fit):
            with pytest.raises(ArgumentError, match=f"{name} must be left out beside what prepare returned"):
                take(fitted.prepare(GRAPH), **{name: value})


def test_a_sum_is_of_all_views(fitted: FDMVGCL) -> None:
    with pytest.raises(ArgumentError, match="views must be the 2 views of transform_views, got 3"):
        fitted.combine(np.zeros((3, 4, 8)))


def _through_joblib(model: FDMVGCL) -> FDMVGCL:
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), _through_joblib]
)
@pytest.mark.parametrize("loss", ["vicreg", RegularisedCosmean(eta=0.1)], ids=["named loss", "own loss"])
def test_a_fitted_model_can_be_copied(copied, loss) -> None:
    model = FDMVGCL(**TINY, loss=loss).fit(GRAPH)
    again = copied(model)
    assert again.settings == model.settings
    np.testing.assert_array_equal(again.transform(GRAPH), model.transform(GRAPH))


def test_a_clone_has_the_settings_and_not_what_was_learnt(fitted: FDMVGCL) -> None:
    model = clone(fitted)
    assert model.settings == fitted.settings
    with pytest.raises(NotFittedError):
        model.transform(GRAPH)
    np.testing.assert_array_equal(model.fit_transform(GRAPH), fitted.transform(GRAPH))


def test_a_pipeline_of_it(fitted: FDMVGCL) -> None:
    pipeline = make_pipeline(clone(fitted), StandardScaler())
    z = pipeline.fit_transform(GRAPH)
    np.testing.assert_allclose(z.std(axis=0), 1, rtol=1e-4)
    np.testing.assert_array_equal(pipeline.transform(GRAPH), z)
    assert pipeline.get_feature_names_out().tolist() == [f"z{i}" for i in range(8)]
    assert clone(pipeline).set_params(fdmvgcl__schedule__lr=0.5)[0].schedule == Schedule(lr=0.5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pipeline)).transform(GRAPH), z)


def test_set_output_keys_vectors_by_id() -> None:
    edges = pd.DataFrame(EDGES)  # as many rows as edges, which are not the nodes
    model = FDMVGCL(**TINY)
    z = model.fit_transform(edges)
    for frame in (model.set_output(transform="pandas").fit_transform(edges), model.transform(edges)):
        assert frame.index.tolist() == list("abcde")
        assert frame.index.name == "id"
        assert frame.columns.tolist() == model.get_feature_names_out().tolist()
        np.testing.assert_array_equal(frame.loc["c"], z[2])
    frame = model.set_output(transform="polars").transform(edges)
    assert frame.columns == ["id", *model.get_feature_names_out()]
    assert frame["id"].to_list() == list("abcde")
    np.testing.assert_array_equal(frame.drop("id").to_numpy(), z)
    table = model.set_output(transform="arrow").transform(edges)
    assert dict(zip(*table.to_pydict().values(), strict=True)) == dict(zip("abcde", z.tolist(), strict=True))
    assert isinstance(model.set_output(transform="default").transform(edges), np.ndarray)
    with pytest.raises(ArgumentError, match="transform must be one of default, pandas, polars, arrow, got 'excel'"):
        model.set_output(transform="excel")


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("readout", [Readout("mean+deviation"), Readout(views="side-by-side")])
def test_vectors_of_graphs_are_keyed_however_wide_they_are(form: str, readout: Readout) -> None:
    graphs = GraphSet.from_networkx({"ring": nx.cycle_graph(5), "star": nx.star_graph(4)})
    model = FDMVGCL(**TINY, readout=readout).set_output(transform=form)
    table = pa.table(
        pd.DataFrame(model.fit_transform(graphs)).reset_index() if form == "pandas" else model.fit_transform(graphs)
    )
    assert table["id"].to_pylist() == ["ring", "star"]
    assert table.num_columns == (2 if form == "arrow" else 1 + 2 * TINY["dim"])


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_keyed_vectors_go_back_in_as_features(form: str) -> None:
    z = FDMVGCL(**TINY).set_output(transform=form).fit_transform(GRAPH)
    plain = FDMVGCL(**TINY).fit_transform(GRAPH)
    np.testing.assert_array_equal(GRAPH.with_features(z).features, plain)


def test_scikit_learn_decides_where_the_model_was_not_asked() -> None:
    with config_context(transform_output="pandas"):
        assert FDMVGCL(**TINY).fit_transform(GRAPH).index.tolist() == list(GRAPH.ids)
    pipeline = make_pipeline(FDMVGCL(**TINY), StandardScaler()).set_output(transform="pandas")
    assert clone(pipeline).fit_transform(GRAPH).index.tolist() == list(GRAPH.ids)


def test_what_is_learnt_is_asked_for_after_fitting(fitted: FDMVGCL) -> None:
    assert fitted.n_features_in_ == 5
    fresh = FDMVGCL(dim=3)
    assert fresh.get_feature_names_out().tolist() == ["z0", "z1", "z2"]
    assert not hasattr(fresh, "n_features_in_")
    asked = [
        lambda: fresh.transform(GRAPH),
        lambda: fresh.transform_views(GRAPH),
        lambda: fresh.combine(np.zeros((2, 3, 3))),
        lambda: fresh.operator(GRAPH),
        lambda: fresh.save("nowhere"),
        lambda: fresh.n_features_in_,
        lambda: fresh.alphas_,
    ]
    for ask in asked:
        with pytest.raises(NotFittedError):
            ask()


def test_numbers_of_numpy_are_numbers(tmp_path) -> None:
    numpy = FDMVGCL(
        dim=np.int64(8),
        views=np.int32(2),
        epochs=np.int8(2),
        time=np.float32(2),
        seed=np.uint64(3),
        schedule=Schedule(lr=np.float64(0.01)),
        diffusion=Diffusion(skip=np.int64(1)),
    )
    python = FDMVGCL(**TINY, time=2.0, seed=3, schedule=Schedule(lr=0.01), diffusion=Diffusion(skip=1))
    np.testing.assert_array_equal(numpy.fit_transform(GRAPH), python.fit_transform(GRAPH))
    numpy.save(tmp_path)
    assert FDMVGCL.load(tmp_path).settings == python.settings
    assert numpy.partial_fit(GRAPH).history_[-1]["epoch"] > 1


@pytest.mark.parametrize(
    "bad",
    [{name: value} for name in ("dim", "views", "epochs", "time", "seed") for value in (True, "8", None, -1, np.nan)]
    + [{"dim": 2.0}, {"seed": 2**32}, {"time": 0}, {"time": np.inf}]
    + [{"device": each} for each in (None, 3, "", "gpu", "cuda:99", "meta", torch.device("cpu"))],
)
def test_what_cannot_be_is_refused_by_name(bad: dict) -> None:
    (name,) = bad
    with pytest.raises(ArgumentError) as error:
        FDMVGCL(**{**TINY, **bad}).fit(GRAPH)
    assert error.value.argument == name
    assert "\n" not in str(error.value)


def test_an_object_of_settings_checks_itself() -> None:
    assert ("exact", *fractional.SCHEMES) == SCHEMES
    with pytest.raises(ArgumentError, match=r"scheme must be one of \('exact', .*got 'rk4'"):
        Diffusion(scheme="rk4")
    with pytest.raises(ArgumentError, match="step must be greater than 0, got 0"):
        Diffusion(step=0)
    with pytest.raises(ArgumentError, match=r"dynamics must be one of grand, .*got 'heat'"):
        Diffusion("heat")
    with pytest.raises(ArgumentError, match="time must be greater than 0, got 0"):
        FDMVGCL(time=0).fit(GRAPH)


def test_partial_fit_goes_on_from_what_was_learnt() -> None:
    """On the same graph vectors keep pointing where they did, and the last phase goes on."""
    graph = Graph.from_networkx(CLUB)
    model = FDMVGCL(dim=64, seed=1, schedule=Schedule(min_rank=0.0))
    before = model.fit_transform(graph)
    history, orders = list(model.history_), model.alphas_.copy()
    after = model.partial_fit(graph).transform(graph)
    cosine = (before * after).sum(1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    assert 0.95 <= cosine.min() < 1
    assert model.history_[: len(history)] == history
    more = model.history_[len(history) :]
    assert [record["epoch"] for record in more] == list(range(20, 40))
    assert {record["phase"] for record in more} == {history[-1]["phase"]}
    np.testing.assert_allclose(more[0]["alpha"], orders)


def test_a_first_partial_fit_is_a_fit() -> None:
    np.testing.assert_array_equal(
        FDMVGCL(**TINY).partial_fit(GRAPH).transform(GRAPH), FDMVGCL(**TINY).fit_transform(GRAPH)
    )
