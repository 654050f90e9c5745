"""``reproduce halves``: no test label is read, choices are those of the protocol, the table tells the differences."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fdmvgcl.evaluation import Search, Trial, evaluate
from fdmvgcl.experiments import RecordFile, pool
from fdmvgcl.experiments.benchmark import Benchmark, benchmark, embed_with_start
from fdmvgcl.experiments.redraw import halved
from fdmvgcl.experiments.studies import halves
from fdmvgcl.experiments.studies.halves import ValidationHalves

SMALL = {"dim": 8, "views": 2, "epochs": 2}
POOL = pool.Pool(({**SMALL, "time": 1.0}, {**SMALL, "time": 5.0}), (0,) * 10, (0.5, 0.5))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    monkeypatch.setattr(pool, "stored", lambda name: POOL)
    return benchmark("karate")


def made(folder: Path) -> dict[str, dict]:
    """Records of raw features and of one seed, by row."""
    records = RecordFile(folder / "records.jsonl")
    for run in ValidationHalves().runs(["karate"], seeds=1):
        records.append({"key": run.key, **run.work()})
    return {record["key"]["row"]: record for record in records.records}


def test_no_test_label_is_read(small: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = small.splits[0]
    told = []
    for turned in (False, True):
        labels = small.dataset.labels.copy()
        if turned:
            labels[split.test] = (labels[split.test] + 1) % len(small.dataset.classes)
        bench = Benchmark(replace(small.dataset, labels=labels, splits=(split,)), small.graph)
        monkeypatch.setattr(halves, "benchmark", lambda name, bench=bench: bench)
        told.append(made(tmp_path / str(turned)))
    assert told[0] == told[1]
    assert len(told[0]["tuned"]["scores"]) == 1


def test_scores_are_those_of_the_protocol_on_halves(small: Benchmark, tmp_path: Path) -> None:
    record = made(tmp_path)["tuned"]
    split, labels = small.splits[3], small.dataset.labels
    sides = [embed_with_start(small.graph, settings, 0) for settings in POOL.trials]
    trained = [Trial({}, lambda found=found: list(found.views)) for found, _ in sides]
    search = Search(tune_weights=True, screen=True)
    outcomes = evaluate(trained, labels, halved(split, seed=3), search=search)
    assert record["trials"][6:8] == [outcome.choice.trial for outcome in outcomes]
    assert record["scores"][3] == pytest.approx(np.mean([outcome.test for outcome in outcomes]))
    before = [
        evaluate([Trial({}, lambda start=sides[o.choice.trial][1]: list(start))], labels, [half], search=search)[0].test
        for o, half in zip(outcomes, halved(split, seed=3), strict=True)
    ]
    assert record["untrained"][3] == pytest.approx(np.mean(before))


def test_the_table_tells_both_differences(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    records.append({"key": {"dataset": "texas", "row": "raw"}, "scores": [0.8, 0.82]})
    key = {"dataset": "texas", "row": "tuned", "seed": 0}
    records.append({"key": key, "scores": [0.85, 0.87], "untrained": [0.84, 0.86]})
    ValidationHalves().render(records, tmp_path)
    (row,) = [line for line in (tmp_path / "halves.md").read_text().splitlines() if line.startswith("| texas")]
    assert row == "| texas | 81.0 | 86.0 | +5.0 (+5.0 to +5.0) | +1.0 (+1.0 to +1.0) | 1 |"
