"""``reproduce losses`` and ``dynamics``: what they record, readings that follow it, and a whole run on karate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.reproduce import reproduce
from fdmvgcl.experiments import RecordFile, dynamics_table, loss_curves, loss_report
from fdmvgcl.experiments.benchmark import benchmark, embed
from fdmvgcl.losses import LOSSES, Loss


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_curves, "DIM", 8)
    monkeypatch.setattr(loss_curves, "GRID", (0, 1, 3))
    monkeypatch.setattr(loss_curves, "SPLITS", 2)
    settings = {"dim": 4, "views": 2, "epochs": 1, "time": 1.0, "diffusion.skip": 0}
    monkeypatch.setattr(dynamics_table, "SETTINGS", settings)
    monkeypatch.setattr(dynamics_table, "CONTROL_ROWS", ())  # karate has no features to probe


def test_losses_whole_run_on_karate(small: None, tmp_path: Path) -> None:
    reproduce("losses", ["karate"], 1, tmp_path, Reporter(quiet=True))
    records = RecordFile(tmp_path / "records.jsonl")
    assert {record["key"]["row"] for record in records.records} == {*LOSSES, "raw", "diffused"}
    curves = [record for record in records.records if "seed" in record["key"]]
    assert all(record["epochs"] == [0, 1, 3] for record in curves)
    assert all(np.shape(record["test"]) == (3, 2) for record in curves)
    first = {tuple(record["test"][0]) for record in curves}
    assert len(first) == 1, "the untrained encoder is the same whatever the loss"
    assert {path.name for path in tmp_path.iterdir()} == {"records.jsonl", "losses.md", "losses.txt", "losses.png"}


def test_a_snapshot_is_what_a_shorter_training_gives(small: None) -> None:
    record = loss_curves._curve("karate", "cosmean", 0)
    bench = benchmark("karate")
    settings = loss_curves._settings("karate", "cosmean") | {"epochs": 3}
    views = torch.from_numpy(embed(bench.graph, settings | {"diffusion.view_scaling": "none"}, 0).views)
    outcomes = bench.probe([loss_curves._summed(views)], range(2))
    assert record["test"][-1] == [outcome.test for outcome in outcomes]
    assert record["validation"][-1] == [outcome.choice.validation for outcome in outcomes]


def _curves(tmp_path: Path, scores: dict[str, list[float]]) -> RecordFile:
    records = RecordFile(tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl")
    for loss, means in scores.items():
        values = [[mean, mean] for mean in means]
        contents: dict[str, Any] = {"epochs": [0, 1, 5], "test": values, "validation": values}
        key = {"dataset": "cora", "row": loss, "seed": 0}
        records.append({"key": key, **contents, "effective_rank": [40.0, 20.0, 10.0]})
    return records


def test_reading_of_the_losses_follows_the_records(tmp_path: Path) -> None:
    ours = "regularised-cosmean"
    ahead = loss_report.table(_curves(tmp_path, {ours: [0.7, 0.8, 0.8], "vicreg": [0.7, 0.8, 0.5]}), "cora", LOSSES)
    behind = loss_report.table(_curves(tmp_path, {ours: [0.7, 0.8, 0.6], "vicreg": [0.7, 0.8, 0.8]}), "cora", LOSSES)
    assert "none is above it" in ahead.notes[0]
    assert "lost by vicreg (30.0)" in ahead.notes[0]
    assert "1 of the other 1 are above it (vicreg)" in behind.notes[0]
    assert behind.rows[0][1:5] == ["70.0", "80.0", "60.0", "-10.0 (-10.0 to -10.0)"]


def test_epoch_is_chosen_by_each_splits_own_validation() -> None:
    record = {
        "epochs": [0, 1],
        "test": [[0.1, 0.2], [0.3, 0.4]],
        "validation": [[0.9, 0.1], [0.5, 0.6]],
        "effective_rank": [2.0, 1.0],
    }
    _, _, best, drop = loss_report._summary([record])
    assert best.tolist() == [[0.1, 0.4]]
    assert drop == 0.0


def test_a_loss_that_diverges_is_recorded_up_to_there(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Exploding(Loss):
        def __init__(self) -> None:
            super().__init__()
            self.weights, self.calls = {"term": 1.0}, 0

        def forward(self, views: torch.Tensor) -> dict[str, torch.Tensor]:
            self.calls += 1
            return {"term": views.sum() * (float("inf") if self.calls > 2 else 1.0)}

    monkeypatch.setitem(LOSSES, "vicreg", Exploding)
    record = loss_curves._curve("karate", "vicreg", 0)
    assert record["epochs"] == [0, 1]
    assert "the loss is" in record["ended"]


def test_dynamics_whole_run_on_karate(small: None, tmp_path: Path) -> None:
    reproduce("dynamics", ["karate"], 1, tmp_path, Reporter(quiet=True))
    page = (tmp_path / "dynamics.md").read_text()
    for row in dynamics_table.ROWS:
        assert f"| {row} |" in page
    (record,) = RecordFile(tmp_path / "records.jsonl").matching(row="cde")
    assert record["settings"]["diffusion"]["dynamics"] == "cde"
    assert len(record["test"]) == len(record["untrained"]["test"]) == 10


def test_dynamics_beside_the_papers_figures_and_the_best_control(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for row, score in {"grand": 0.8, "cde": 0.6}.items():
        contents = {"test": [score, score], "untrained": {"test": [0.7, 0.7]}, "train_seconds": 3.0}
        records.append({"key": {"dataset": "cora", "row": row, "seed": 0}, **contents})
    records.append({"key": {"dataset": "cora", "row": "raw"}, "test": [0.65, 0.65]})
    table = dynamics_table.table(records, "cora")
    assert table.rows[0][:3] == ["grand", "84.4", "80.0"]
    assert table.rows[1][:3] == ["cde", "75.0", "60.0"]
    assert table.notes == ["Best of these is grand (80.0); above the best control, raw (65.0): grand."]
