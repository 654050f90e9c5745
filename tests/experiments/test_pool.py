"""Pools of settings: drawn without labels, chosen split by split, stored as TOML."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from fdmvgcl.datasets import Split
from fdmvgcl.errors import InputError
from fdmvgcl.evaluation import hide_test
from fdmvgcl.experiments import RecordFile, Run, pool, tuning
from fdmvgcl.experiments.benchmark import Benchmark, benchmark
from fdmvgcl.experiments.redraw import redrawn
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.model import FDMVGCL


def test_draw_is_the_same_every_time_and_valid() -> None:
    first = pool.draw(12, "local", dim=64)
    assert first == pool.draw(12, "local", dim=64)
    assert first[0] == {"dim": 64}
    assert first[1:3] == [{"dim": 64, **start} for start in pool.STARTS]
    alike = [each for each in first if each.get("diffusion.skip") == 1 and each["features.scaling"] == "rows"]
    assert len(alike) == 6
    assert len({tuple(sorted(settings.items())) for settings in first}) == 12
    for settings in first:
        FDMVGCL.from_settings(settings)
        assert settings.get("epochs", 1) >= 1
        assert settings.get("views", 2) >= 2


def test_a_graph_without_features_is_smooth() -> None:
    assert pool.suggested_family(Graph.from_networkx(nx.karate_club_graph())) == "smooth"


def test_choices_are_made_split_by_split_and_the_first_of_equals_wins() -> None:
    assert pool.choices([[0.5, 0.9, 0.7], [0.6, 0.8, 0.7]]) == (1, 0, 0)


STORED = sorted(path.stem for path in (Path(pool.__file__).parent / "settings").glob("*.toml"))
RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("dataset", STORED)
def test_stored_pools_are_those_of_the_records(dataset: str) -> None:
    stored = pool.stored(dataset)
    records = RecordFile(RESULTS / "tuning" / f"{dataset}.jsonl")
    assert len(records.records) <= pool.LARGEST_POOL
    assert {r["key"]["trial"] for r in records.records} == set(range(len(stored.trials)))
    keys = sorted((record["key"] for record in records.records), key=lambda key: key["trial"])  # jobs end in any order
    found = tuning.conclude([Run(key, dict) for key in keys], records)
    assert (found.trials, found.choices) == (stored.trials, stored.choices)
    assert stored.validation == pytest.approx(found.validation, abs=1e-4)
    dim = stored.trials[0]["dim"]
    assert list(stored.trials) in [pool.draw(len(stored.trials), family, dim=dim) for family in pool.FAMILIES]
    for record in RecordFile(RESULTS / "nodes" / "records.jsonl").matching(dataset=dataset, row="tuned"):
        assert record["trials"] == list(stored.choices)


def test_a_choice_is_made_by_the_mean_over_seeds(tmp_path: Path) -> None:
    scores = {(0, 0): [0.6, 0.5], (0, 1): [0.6, 0.7], (1, 0): [0.9, 0.6], (1, 1): [0.2, 0.7]}
    records = RecordFile(tmp_path / "records.jsonl")
    runs = [Run({"trial": trial, "settings": {"dim": trial}, "seed": seed}, dict) for trial, seed in scores]
    for run, criterion in zip(runs, scores.values(), strict=True):
        records.append({"key": run.key, "validation": [0.5 + run.key["trial"] / 4] * 2, "criterion": criterion})
    found = tuning.conclude(runs, records)
    assert found.trials == ({"dim": 0}, {"dim": 1})
    assert found.choices == (0, 1)
    assert found.validation == pytest.approx((0.5, 0.75))


def tuned_on_karate(split: Split, labels: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> dict:
    karate = benchmark("karate")
    changed = Benchmark(replace(karate.dataset, labels=labels, splits=(split,)), karate.graph)
    monkeypatch.setattr(tuning, "benchmark", lambda name: changed)
    (run,) = tuning.runs("karate", 1, dim=4)
    return run.work()


def test_few_training_nodes_are_drawn_many_times_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = benchmark("karate").dataset.labels
    few = Split(np.array([0, 1, 32, 33]), np.arange(2, 14), np.arange(14, 32))
    record = tuned_on_karate(few, labels, monkeypatch)
    # Each draw as the only split there is, and not drawn anew again.
    asked: list[int] = []
    monkeypatch.setattr(tuning, "redrawn", lambda known, split, count: asked.append(count) or [split])
    alone = [
        tuned_on_karate(each, labels, monkeypatch)["criterion"][0]
        for each in redrawn(hide_test(labels, few), few, tuning.REDRAWS)
    ]
    assert record["criterion"] == pytest.approx([np.mean(alone)])
    assert len(set(alone)) > 1
    assert set(asked) == {tuning.REDRAWS}


def test_many_training_nodes_are_judged_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "redrawn", lambda *_: pytest.fail("training nodes were drawn anew"))
    many = Split(np.arange(12), np.arange(12, 20), np.arange(20, 34))
    tuned_on_karate(many, benchmark("karate").dataset.labels, monkeypatch)


def test_tuning_never_reads_a_test_label(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = benchmark("karate").dataset.labels
    few = Split(np.array([0, 1, 32, 33]), np.arange(2, 14), np.arange(14, 32))
    other = labels.copy()
    other[few.test] = (other[few.test] + 1) % 2
    first, second = (tuned_on_karate(few, each, monkeypatch) for each in (labels, other))
    assert first["criterion"] == second["criterion"]
    assert first["validation"] == second["validation"]


def test_a_pool_has_at_most_thirty_runs() -> None:
    with pytest.raises(ValueError, match="at most 30 runs, got 4 seeds of 10 settings"):
        tuning.runs("karate", 10, dim=8, seeds=4)


def test_toml_round_trip(tmp_path: Path) -> None:
    trials = tuple(pool.draw(3, "smooth", dim=8))
    before = pool.Pool(trials, (2, 0, 2), (0.5, 0.25, 0.75))
    pool.write(before, tmp_path / "pool.toml", "two\nlines")
    assert pool.read(tmp_path / "pool.toml") == before


@pytest.mark.parametrize("text", ["", "choices = [0]", "choices = [3]\n[[trial]]\nvalidation = 0.5\n", "rubbish ["])
def test_broken_pool_is_one_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "pool.toml").write_text(text)
    with pytest.raises(InputError, match="is not a pool of settings"):
        pool.read(tmp_path / "pool.toml")


def test_unknown_data_set_says_how_to_make_its_pool() -> None:
    with pytest.raises(ValueError, match="fdmvgcl tune nothing"):
        pool.stored("nothing")
