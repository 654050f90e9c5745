"""Three tasks beside their controls, and numbers that are told from classes."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, r2_score, roc_auc_score

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.datasets import Split
from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation import (
    Labelled,
    Search,
    Trial,
    choose,
    compare_clusterings,
    compare_links,
    evaluate,
    evaluate_tasks,
    hide_test,
    majority,
    numeric_target,
    score,
)
from fdmvgcl.evaluation.probe import ridge
from fdmvgcl.evaluation.standing import Standing
from fdmvgcl.evaluation.views import Rows
from fdmvgcl.learning import controls

GROUPS = np.repeat([0, 1], 40)
SPLIT = Split(np.arange(0, 80, 4), np.arange(1, 80, 4), np.arange(2, 80, 4))


@pytest.fixture(scope="module")
def graph() -> Graph:
    generator = np.random.default_rng(0)
    chance = np.where(GROUPS[:, None] == GROUPS, 0.25, 0.01)
    source, target = np.nonzero(np.triu(generator.random((80, 80)) < chance, 1))
    x = np.eye(2, 10)[GROUPS] * 2 + generator.random((80, 10))
    return Graph.from_edges(source, target, nodes=np.arange(80), features=x)


@pytest.fixture(scope="module")
def model(graph: Graph) -> FDMVGCL:
    return FDMVGCL(16, 2, 3).fit(graph)


def test_groups_are_found_in_sparse_rows_of_any_index(graph: Graph) -> None:
    dense = np.where(graph.features > 0.5, graph.features, 0)
    wide = sparse.csr_array(dense)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert wide.indices.dtype == np.int64
    found, *_ = compare_clusterings({"dense": lambda: dense, "sparse": lambda: wide}, GROUPS)
    assert found.ours.values == pytest.approx(found.controls[0].values)


def test_three_tasks_beside_their_controls(model: FDMVGCL, graph: Graph) -> None:
    names = np.where(GROUPS, "one", "other")
    steps: list[str] = []
    found = evaluate_tasks(model, graph, Labelled.match(graph, graph.ids, names), step=steps.append)
    assert {task.name: [each.metric for each in task.standings] for task in found} == {
        "node classification": ["accuracy", "macro-F1", "ROC AUC"],
        "clustering": ["NMI", "ARI"],
        "link prediction": ["AUC", "average precision"],
    }
    by_name = {each.metric: each for task in found for each in task.standings}
    assert all(by_name[name].ours.mean > 0.9 for name in ("accuracy", "macro-F1", "ROC AUC", "NMI", "ARI"))
    ours = {"untrained encoder", "diffused features", "raw features"}
    assert {each.name for each in by_name["accuracy"].controls} == ours | {"majority class"}
    assert {each.name for each in by_name["ARI"].controls} == ours
    assert {each.name for each in by_name["AUC"].controls} == ours | {"common neighbours", "Adamic-Adar"}
    record = json.loads(json.dumps([task.record() for task in found], allow_nan=False))
    low, high = (record[0]["metrics"][0]["differences"]["majority class"][end] for end in ("low", "high"))
    assert 0 < low < high
    assert Standing.from_record(record[2]["metrics"][0]) == by_name["AUC"]
    assert any("2 of 3: training a copy" in step for step in steps)


def test_what_a_graph_is_too_small_for_is_left_out_with_the_reason() -> None:
    source, target = np.triu_indices(30, 1)
    whole = Graph.from_edges(source, target, nodes=np.arange(30), features=np.random.default_rng(0).random((30, 3)))
    model = FDMVGCL(4, 2, 1).fit(whole)
    found = evaluate_tasks(model, whole, Labelled.match(whole, whole.ids, ["a", "b"] * 15))
    assert found[-1].standings == ()
    assert "too few" in found[-1].left_out


def test_hidden_edges_are_hidden_from_all_that_is_compared(
    model: FDMVGCL, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int]] = []
    prepare = FDMVGCL.prepare

    def spy(self: FDMVGCL, given: Graph, **rest: object) -> object:
        seen.append((given.num_edges, self.epochs))
        return prepare(self, given, **rest)

    monkeypatch.setattr(FDMVGCL, "prepare", spy)
    compare_links(model, graph, draws=1)
    assert seen == [(graph.num_edges - round(0.1 * graph.num_edges), model.epochs)]


def test_links_of_random_edges_are_known_to_nobody() -> None:
    generator = np.random.default_rng(0)
    source, target = generator.integers(120, size=(2, 600))
    noise = Graph.from_edges(source, target, nodes=np.arange(120), features=generator.random((120, 12)))
    area, precision = compare_links(FDMVGCL(16, 2, 3), noise)
    assert all(each.mean < 0.65 for standing in (area, precision) for each in (standing.ours, *standing.controls))


def test_groups_are_compared_with_classes_by_direction_alone() -> None:
    generator = np.random.default_rng(0)
    z = (np.eye(3)[np.arange(60) % 3] + 0.01 * generator.normal(size=(60, 3))) * generator.uniform(1, 9, (60, 1))
    labels = np.arange(60) % 3
    labels[:6] = -1
    rows = {"embedding": lambda: z, "noise": lambda: generator.normal(size=(60, 3))}
    information, rand = compare_clusterings(rows, labels)
    assert (information.ours.mean, rand.ours.mean) == (1.0, 1.0)
    assert rand.controls[0].mean < 0.3
    assert len(rand.ours.values) == 5
    assert "k = 3, on 54 labelled nodes" in rand.told


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "numeric", "told"),
    [
        ([str(i % 20) for i in range(100)], False, ""),
        ([str(i) for i in range(100)], True, "100 distinct numbers: taken for a number"),
        ([str(i % 30) for i in range(1000)], False, "30 distinct whole numbers of 1000: taken for classes"),
        ([f"{i % 30}.5" for i in range(1000)], True, "30 distinct numbers"),
        ([*map(str, range(100)), "unknown"], False, ""),
        ([*map(str, range(100)), "nan"], False, ""),
        ([*map(str, range(100)), "1_0"], False, ""),
        ([f"-{i}e-3" for i in range(40)], True, "40 distinct"),
    ],
)
def test_numbers_are_told_from_classes(names: list[str], numeric: bool, told: str) -> None:
    values, remark = numeric_target(names)
    assert (values is not None) == numeric
    assert told in remark
    assert bool(told) == bool(remark)


def test_the_rule_can_be_overridden() -> None:
    assert numeric_target([str(i) for i in range(100)], "classes") == (None, "")
    values, _ = numeric_target(["3", "1.5"], "numbers")
    assert values is not None
    assert values.tolist() == [3, 1.5]
    with pytest.raises(ArgumentError, match="must be finite numbers, got 'inf'"):
        numeric_target(["1", "inf"], "numbers")


def test_ridge_is_scikit_learns() -> None:
    generator = np.random.default_rng(0)
    for shape in ((30, 6), (8, 20)):
        rows, values = generator.normal(size=shape), generator.normal(size=shape[0])
        unit = np.square(rows - rows.mean(0)).sum() / len(rows)
        for penalty, probe in zip((1.0, 0.01), ridge(Rows(rows), values, (1.0, 0.01)), strict=True):
            expected = Ridge(penalty * unit).fit(rows, values).predict(rows)
            np.testing.assert_allclose(probe.decision(Rows(rows))[:, 0], expected, atol=1e-8)


def test_metrics_are_scikit_learns() -> None:
    generator = np.random.default_rng(0)
    decision, labels = generator.normal(size=(50, 2)), generator.integers(0, 2, 50)
    found = decision.argmax(1)
    classes = np.array([0, 1])
    assert score("macro_f1", decision, classes, labels) == pytest.approx(f1_score(labels, found, average="macro"))
    expected = roc_auc_score(labels, decision[:, 1] - decision[:, 0])
    assert score("roc_auc", decision, classes, labels) == pytest.approx(expected)
    values = generator.normal(size=50)
    assert score("r2", decision[:, :1], classes[:1], values) == pytest.approx(r2_score(values, decision[:, 0]))
    assert score("r2", decision[:, :1], classes[:1], np.ones(50)) == 0.0


def test_numbers_go_through_the_same_protocol() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(80, 4))
    values = rows @ [1.0, -2.0, 0.5, 0.0] + 0.1 * generator.normal(size=80) + 100
    values[3] = np.nan
    found = evaluate([Trial({}, lambda: [rows])], values, [SPLIT], metric="r2", search=Search(tune_weights=True))
    assert found[0].test > 0.98
    assert majority(values, [SPLIT], metric="r2")[0].test <= 0
    shuffled = values.copy()
    shuffled[SPLIT.test] = generator.permutation(values[SPLIT.test])
    again = evaluate([Trial({}, lambda: [rows])], shuffled, [SPLIT], metric="r2", search=Search(tune_weights=True))
    assert again[0].choice == found[0].choice
    assert again[0].test != found[0].test
    with pytest.raises(ValueError, match="must not be given test labels"):
        choose([Trial({}, lambda: [rows])], [values], [SPLIT], metric="r2", search=Search())
    assert np.isnan(hide_test(values, SPLIT)[SPLIT.test]).all()


def test_a_numeric_target_is_regressed_and_not_grouped_by(model: FDMVGCL, graph: Graph) -> None:
    values = 10 * GROUPS + np.random.default_rng(0).random(80)
    labelled = Labelled.match(graph, graph.ids[5:], [f"{value:.4f}" for value in values[5:]])
    assert labelled.numeric
    assert labelled.classes == ()
    assert np.isnan(labelled.labels[:5]).all()
    np.testing.assert_allclose(labelled.labels[5:], values[5:], atol=1e-4)
    regression, links = evaluate_tasks(model, graph, labelled)
    assert (regression.name, links.name) == ("regression", "link prediction")
    assert regression.standings[0].metric == "R²"
    assert regression.standings[0].ours.mean > 0.8
    assert regression.standings[0].controls[-1].name == "mean of the training nodes"
    assert regression.standings[0].ours.name == controls.VECTORS
    again = Labelled.match(graph, graph.ids, [str(i) for i in range(80)], kind="classes")
    assert len(again.classes) == 80
