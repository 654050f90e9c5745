"""The robustness tables: cells declared once, records enough, weak attacks told."""

from pathlib import Path

import pytest

from fdmvgcl.attacks.scene import weak_attacks
from fdmvgcl.experiments import RecordFile, carry_out, pending
from fdmvgcl.experiments.robustness import METHODS, Robustness


def test_every_cell_is_declared_once() -> None:
    runs = Robustness().runs(("cora", "photo", "texas"), 2)
    keys = [tuple(run.key.items()) for run in runs]
    assert len(set(keys)) == len(keys)
    rates = {run.key["rate"] for run in runs if run.key["dataset"] == "cora" and run.key["setting"] == "poisoning"}
    assert rates == {0.0, 0.05, 0.1, 0.15, 0.2, 0.25}


def test_one_cell_is_run_kept_and_shown(data_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDMVGCL_DATA", str(data_root))
    runs = [
        run
        for run in Robustness().runs(("texas",), 1)
        if run.key["attack"] == "random" and run.key["method"] in ("raw", "GCN")
    ]
    records = RecordFile(tmp_path / "records.jsonl")
    made = {run.key["method"]: record for run, record in carry_out(runs, records)}
    assert made["raw"]["accuracy"] == made["raw"]["clean"]  # no edge touches it
    assert made["GCN"]["flips"] == made["GCN"]["budget"] > 0
    assert not pending(runs, records)
    page = Robustness().render(records, tmp_path)[0].read_text()
    assert "texas: test accuracy" in page
    assert all(method in page for method in METHODS)


def test_an_attack_that_knows_more_and_does_less_is_called_weak() -> None:
    assert weak_attacks(0.8, 0.6, 0.5) == ()
    assert weak_attacks(0.8, 0.6, 0.602) == ()
    assert [("adaptive" in told) for told in weak_attacks(0.8, 0.6, 0.7)] == [True]
    assert len(weak_attacks(0.6, 0.8, 0.7)) == 2
