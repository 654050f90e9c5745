"""Trials of a method: drawn without labels, kept as records, chosen split by split, and the chosen ones trained."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdmvgcl.datasets import Split
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.evaluation import hide_test
from fdmvgcl.experiments import RecordFile, Run, budget, carry_out, entrants, spaces, trials
from fdmvgcl.experiments.benchmark import Benchmark, benchmark, embed
from fdmvgcl.experiments.entrants import ENTRANTS, entrant, refusal
from fdmvgcl.experiments.redraw import redrawn
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.methods import CLASSIFIERS, make_classifier, make_method
from fdmvgcl.methods.base import check_settings

RESULTS = Path(__file__).parents[2] / "results"
SMALL: list[dict[str, Any]] = [{"dim": 8, "views": 2, "epochs": 1}, {"dim": 8, "views": 2, "epochs": 1, "time": 9.0}]


# -- the space --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ENTRANTS)
def test_a_draw_is_the_same_every_time_valid_and_begins_with_the_defaults(method: str) -> None:
    drawn = spaces.draw(method)
    assert drawn == spaces.draw(method)
    assert drawn[0] == {}
    assert len(drawn) == (budget.TRIALS if method != "spectral" else 7)
    assert len({json.dumps(settings) for settings in drawn}) == len(drawn)
    assert json.loads(json.dumps(drawn)) == drawn
    for settings in drawn:
        assert len(settings) <= 6
        made = make_classifier(method, **settings) if method in CLASSIFIERS else make_method(method, **settings)
        if method != "fd-mvgcl":  # which checks itself
            check_settings(made.get_params())


def test_our_width_stays_and_no_space_is_wider_than_the_methods_own_or_ours() -> None:
    assert not any("dim" in settings for settings in spaces.draw("fd-mvgcl", 50))
    for method in ENTRANTS[1:]:
        widest = max(settings.get("dim", 0) for settings in spaces.draw(method, 50))
        own = 0 if method in CLASSIFIERS else make_method(method).settings["dim"]
        assert widest <= max(own, 512)


def test_fewer_trials_are_the_first_of_more() -> None:
    assert spaces.draw("grace", 12)[:5] == spaces.draw("grace", 5)


# -- judging ----------------------------------------------------------------------------------------------------------


def karate(labels: np.ndarray, *splits: Split) -> Benchmark:
    found = benchmark("karate")
    return Benchmark(replace(found.dataset, labels=labels, splits=splits or found.splits), found.graph)


FEW = Split(np.array([0, 1, 32, 33]), np.arange(2, 14), np.arange(14, 32))


def test_few_training_nodes_are_drawn_many_times_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = benchmark("karate").dataset.labels
    own = entrant("fd-mvgcl")
    record = own.judged(karate(labels, FEW), SMALL[0], 0)
    asked: list[int] = []
    monkeypatch.setattr(entrants, "redrawn", lambda known, split, count: asked.append(count) or [split])
    alone = [  # each draw as the only split there is, and not drawn anew again
        own.judged(karate(labels, each), SMALL[0], 0)["criterion"][0]
        for each in redrawn(hide_test(labels, FEW), FEW, entrants.REDRAWS)
    ]
    assert record["criterion"] == pytest.approx([np.mean(alone)])
    assert len(set(alone)) > 1
    assert set(asked) == {entrants.REDRAWS}


def test_many_training_nodes_are_judged_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entrants, "redrawn", lambda *_: pytest.fail("training nodes were drawn anew"))
    many = Split(np.arange(12), np.arange(12, 20), np.arange(20, 34))
    entrant("fd-mvgcl").judged(karate(benchmark("karate").dataset.labels, many), SMALL[0], 0)


@pytest.mark.parametrize(("method", "settings"), [("fd-mvgcl", SMALL[0]), ("spectral", {}), ("gcn", {"epochs": 3})])
def test_judging_never_reads_a_test_label(method: str, settings: dict[str, Any]) -> None:
    labels = benchmark("karate").dataset.labels
    other = labels.copy()
    other[FEW.test] = (other[FEW.test] + 1) % 2
    first, second = (entrant(method).judged(karate(each, FEW), settings, 0) for each in (labels, other))
    assert first["criterion"] == second["criterion"]
    assert first["validation"] == second["validation"]


def test_a_classifier_has_a_score_for_every_split() -> None:
    bench = benchmark("karate")
    record = entrant("gcn").default(bench, 0)
    assert len(record["test"]) == len(record["validation"]) == len(bench.splits)
    known = hide_test(bench.dataset.labels, bench.splits[1])
    model = make_classifier("gcn").fit(bench.graph, known, bench.splits[1])
    decided = model.classes_[model.decide(bench.graph).argmax(1)]
    assert record["test"][1] == np.mean((decided == bench.dataset.labels)[bench.splits[1].test])


# -- the choice, and the tuned row ------------------------------------------------------------------------------------


def test_choices_are_made_split_by_split_the_first_of_equals_wins_and_a_failed_trial_never() -> None:
    scores = [{"criterion": [0.5, 0.9, 0.7]}, {"failed": "no number"}, {"criterion": [0.6, 0.8, 0.7 + 1e-12]}]
    assert trials.choices(scores) == (2, 0, 0)
    with pytest.raises(UserError, match="all 1 trials failed: no number"):
        trials.choices([{"failed": "no number"}])


@pytest.fixture
def two_trials(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setattr(trials, "draw", lambda method, count: SMALL[:count])
    return trials.trial_runs("karate", "fd-mvgcl", 2)


def made(runs: Sequence[Run], path: Path) -> RecordFile:
    records = RecordFile(path)
    list(carry_out(runs, records))
    return records


def test_the_tuned_row_is_made_of_each_splits_choice(two_trials: list[Run], tmp_path: Path) -> None:
    bench = benchmark("karate")
    run = trials.tuned_run("karate", "fd-mvgcl", two_trials, 3)
    records = made([*two_trials, run], tmp_path / "records.jsonl")
    record, judged = records.records[-1], records.records[:-1]
    assert record["key"] == {"dataset": "karate", "row": "tuned", "trials": 2, "seed": 3}
    assert record["chosen"] == list(trials.choices(judged))
    assert len(set(record["chosen"])) == 2  # or this test sees only one
    assert len(record["test"]) == len(record["untrained"]["test"]) == len(bench.splits)
    for split, trial in enumerate(record["chosen"]):
        embedded = embed(bench.graph, SMALL[trial], 3)
        (expected,) = bench.probe(list(embedded.views), [split], tune=True)
        assert record["test"][split] == expected.test
        assert record["validation"][split] == expected.choice.validation


def test_no_choice_changes_when_the_test_labels_of_a_split_do(
    two_trials: list[Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = benchmark("karate").dataset.labels
    split = benchmark("karate").splits[0]
    changed = labels.copy()
    changed[split.test] = (changed[split.test] + 1) % 2
    told = []
    for name, each in (("before", labels), ("after", changed)):
        monkeypatch.setattr(trials, "benchmark", lambda _, each=each: karate(each, split))
        run = trials.tuned_run("karate", "fd-mvgcl", two_trials, 0)
        told.append(made([*two_trials, run], tmp_path / f"{name}.jsonl").records[-1])
    assert told[0]["choices"] == told[1]["choices"]
    assert told[0]["chosen"] == told[1]["chosen"]
    assert told[0]["validation"] == told[1]["validation"]
    assert told[0]["test"] != told[1]["test"]


def test_a_run_without_what_it_needs_says_so(two_trials: list[Run], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="lacks 2 records"):
        made([trials.tuned_run("karate", "fd-mvgcl", two_trials, 0)], tmp_path / "records.jsonl")


def test_settings_that_cannot_be_trained_are_a_failed_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "draw", lambda method, count: [{}, {"lr": 1e30, "epochs": 3}])
    failing = trials.trial_runs("karate", "dgi", 2)[1]
    record = failing.work()
    assert "lower lr" in record["failed"]


def test_toml_holds_choices_settings_and_failures(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"key": {"settings": {}}, "validation": [0.5, 0.7], "criterion": [0.1, 0.2]},
        {
            "key": {"settings": {"schedule.lr": 1e-05, "off": True}},
            "validation": [1, 1],
            "criterion": [0.0, 0.3],
        },
        {"key": {"settings": {"features": "rows"}}, "failed": 'the "loss"'},
    ]
    trials.write(records, tmp_path / "trials.toml", "two\nlines")
    found = tomllib.loads((tmp_path / "trials.toml").read_text())
    assert found == {
        "choices": [0, 1],
        "trial": [
            {"validation": 0.6},
            {"validation": 1.0, "schedule": {"lr": 1e-05}, "off": True},
            {"failed": 'the "loss"', "features": "rows"},
        ],
    }


def test_tuned_records_were_chosen_from_the_trials_on_record() -> None:
    records = RecordFile(RESULTS / "nodes" / "records.jsonl")
    for record in (record for record in records.records if record["key"]["row"] == "tuned"):
        key = record["key"]
        method = key.get("method", "fd-mvgcl")
        found = [records.find(run.key) for run in trials.trial_runs(key["dataset"], method, key["trials"])]
        judged = [each for each in found if each is not None]
        assert len(judged) == key["trials"], f"{key}: the space has changed since"
        assert record["chosen"] == list(trials.choices(judged))


# -- what is not begun ------------------------------------------------------------------------------------------------


def test_a_method_that_compares_all_pairs_is_refused_a_large_graph() -> None:
    nodes = budget.MANY_TO_PAIR + 1
    path = np.stack([np.arange(nodes - 1), np.arange(1, nodes)])
    large = Graph.from_scipy(_adjacency(path, nodes))
    for method in ("grace", "graphacl"):
        assert "compares all pairs of nodes, and 10,001 are more than 10,000" in str(refusal(method, large))
    assert refusal("spectral", large) is None
    assert refusal("fd-mvgcl", large) is None


def test_a_method_that_filters_all_features_is_refused_a_wide_table() -> None:
    wide = Graph.from_scipy(sparse.eye_array(50, k=1).tocsr(), sparse.csr_array((50, 1_000_000), dtype=np.float32))
    assert "polygcl filters all features in every step" in str(refusal("polygcl", wide))
    assert refusal("dgi", wide) is None


def test_no_row_is_trained_for_longer_than_the_budget() -> None:
    for method in ENTRANTS:
        for settings in spaces.draw(method):
            given = budget.within(method, settings)
            made = make_classifier(method, **given) if method in CLASSIFIERS else make_method(method, **given)
            assert made.settings.get("epochs", 0) <= budget.MOST_EPOCHS
    assert budget.within("grace", {}) == {}
    assert budget.within("bgrl", {"dim": 8}) == {"dim": 8, "epochs": 1000}


def _adjacency(edges: np.ndarray, nodes: int) -> Any:
    half = sparse.coo_array((np.ones(edges.shape[1]), tuple(edges)), shape=(nodes, nodes))
    return (half + half.T).tocsr()


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdmvgcl.methods.base.machine_memory", lambda: 1 << 10)
    assert "this machine has" in str(refusal("dgi", benchmark("karate").graph))


def test_a_method_whose_package_is_missing_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdmvgcl.methods.walks.find_spec", lambda _: None)
    assert "pip install 'fdmvgcl[walks]'" in str(refusal("node2vec", benchmark("karate").graph))
    with pytest.raises(UserError, match="needs gensim"):
        make_method("node2vec").fit(benchmark("karate").graph)


def test_a_misspelt_method_gets_its_near_misses() -> None:
    with pytest.raises(ArgumentError, match="did you mean 'grace'"):
        entrant("grase")
