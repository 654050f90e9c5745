"""Ablations and cost: what is run, and what is read from it."""

from dataclasses import replace
from pathlib import Path

import pytest

from fdmvgcl.experiments import EXPERIMENTS, RecordFile, carry_out
from fdmvgcl.experiments.ablations import DEPTH, DIM, VIEWS
from fdmvgcl.experiments.cost import Cost, measure
from fdmvgcl.learning.model import FDMVGCL

SMALL = {"dim": 8, "views": 2, "epochs": 1}


@pytest.mark.parametrize("ablation", [VIEWS, DEPTH, DIM], ids=lambda each: each.name)
def test_variants_are_valid_settings_and_differ(ablation: object) -> None:
    made = [FDMVGCL.from_settings(settings) for settings in ablation.variants.values()]  # type: ignore[attr-defined]
    assert len({str(model.settings) for model in made}) == len(made)
    assert EXPERIMENTS[ablation.name] is ablation  # type: ignore[attr-defined]


def test_a_small_one_from_run_to_files(tmp_path: Path) -> None:
    small = replace(DEPTH, variants={"1": {**SMALL, "time": 1.0}, "2": {**SMALL, "time": 2.0}})
    records = RecordFile(tmp_path / "records.jsonl")
    found = [record for _, record in carry_out(small.runs(["karate"], seeds=2), records)]
    assert len(found) == 4
    assert all(len(record["test"]) == len(record["untrained"]["test"]) for record in found)
    assert found[0]["settings"]["time"] == 1.0
    written = small.render(records, tmp_path)
    assert {path.name for path in written} == {"depth.md", "depth.txt", "depth.png"}
    assert (tmp_path / "depth.png").stat().st_size > 1000
    text = (tmp_path / "depth.md").read_text()
    assert "**karate**" in text
    assert "2 against 1" in text


def _scored(records: RecordFile, scores: dict[str, float], seeds: range, spread: float = 0.0) -> None:
    for seed in seeds:
        for variant, mean in scores.items():
            key = {"dataset": "cora", "variant": variant, "seed": seed}
            test = [mean + spread * seed, mean - spread * seed]
            records.append({"key": key, "test": test, "untrained": {"test": [0.5, 0.5]}, "alphas": [0.01, 1.0]})


@pytest.mark.parametrize(
    ("avla", "told"),
    [(0.9, "+10.0 (+10.0 to +10.0) points, a gain"), (0.7, "-10.0 (-10.0 to -10.0) points, a loss")],
)
def test_avla_is_told_against_the_best_fixed_choice(tmp_path: Path, avla: float, told: str) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    _scored(records, {"two fixed": 0.8, "three fixed": 0.75, "five fixed": 0.7, "AVLA": avla}, range(3), spread=0.01)
    VIEWS.render(records, tmp_path)
    text = (tmp_path / "views.txt").read_text()
    assert f"the best fixed choice is two fixed; AVLA against two fixed {told}." in text
    assert "83.6" in text  # the paper's figure for two views on Cora


def test_variants_are_compared_by_the_seeds_that_all_have(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    _scored(records, {"5": 0.8, "15": 0.81, "20": 0.82}, range(2, -1, -1), spread=0.01)
    DEPTH.render(records, tmp_path)
    assert "Measured" not in (tmp_path / "depth.txt").read_text()
    _scored(records, {"25": 0.83}, range(1, 3), spread=0.01)
    DEPTH.render(records, tmp_path)
    assert "best is 25 (83.0); 25 against 5 +3.0 (+3.0 to +3.0) points, a gain." in (tmp_path / "depth.txt").read_text()


def test_cost_measures_and_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = measure("fd-mvgcl", "karate", 0)
    assert record["nodes"] == 34
    assert 1 <= record["epochs"] <= FDMVGCL().epochs
    assert record["peak_bytes"] > 50 << 20
    assert 0 < record["epoch_seconds"] * record["epochs"] < record["train_seconds"] * 2
    records = RecordFile(tmp_path / "records.jsonl")
    for seed, seconds in enumerate((3.0, 1.0, 2.0)):
        key = {"dataset": "cora", "method": "fd-mvgcl", "seed": seed}
        records.append({"key": key, **record, "train_seconds": seconds, "accuracy": 0.83})
    assert [path.name for path in Cost().render(records, tmp_path)] == ["cost.md", "cost.txt"]
    (row,) = [line for line in (tmp_path / "cost.txt").read_text().splitlines() if line.startswith("cora")]
    assert row.split()[2] == "2.0"


def test_cost_of_another_method_is_a_ratio_to_ours_and_says_who_is_reached_when(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    same = {"nodes": 9, "epochs": 2, "epoch_seconds": 1.0, "inference_seconds": 0.5, "peak_bytes": 2**20}
    for method, seconds, accuracy in (("fd-mvgcl", 2.0, 0.83), ("dgi", 8.0, 0.82), ("grace", 3.0, 0.8)):
        key = {"dataset": "cora", "method": method, "seed": 0}
        records.append({"key": key, **same, "train_seconds": seconds, "accuracy": accuracy})
    written = Cost().render(records, tmp_path)
    assert (tmp_path / "cost.png") in written
    told = (tmp_path / "cost.md").read_text()
    assert "| DGI | 2 | 8.0 (4 ×) | 0.50 (1 ×) | 1 (1 ×) | 82.0 |" in told
    assert "| cora | DGI | 82.0 | 83.0 | yes, in 0.25 of its seconds |" in told
    key = {"dataset": "cora", "method": "bgrl", "seed": 0}
    records.append({"key": key, **same, "train_seconds": 4.0, "accuracy": 0.84})
    Cost().render(records, tmp_path)
    assert "| cora | BGRL | 84.0 | 83.0 | no, after 0.50 of its seconds |" in (tmp_path / "cost.md").read_text()
