"""How long runs will take is told by records of runs like them, here or elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from fdmvgcl.experiments import RecordFile, Run
from fdmvgcl.experiments.estimates import expected_seconds, made_elsewhere
from fdmvgcl.experiments.trials import key_of

SIZES = {"cora": 10.0, "photo": 100.0}


def made(dataset: str, method: str, seconds: float, **key: Any) -> dict[str, Any]:
    return {"key": key_of(dataset, method, **key), "seconds": seconds}


def seconds(dataset: str, method: str, *records: dict[str, Any]) -> float:
    run = Run(key_of(dataset, method, row="tuned", seed=3), dict)
    told, unknown = expected_seconds([run], records, SIZES.__getitem__)
    assert unknown == {}
    return told


def test_a_row_of_its_own_comes_before_any_other() -> None:
    default, tuned = (made("cora", "dgi", each, row=row) for row, each in (("default", 1.0), ("tuned", 7.0)))
    assert seconds("cora", "dgi", default, tuned) == 7
    assert seconds("cora", "dgi", default) == 1
    assert seconds("photo", "dgi", default) == 10


def test_any_run_of_the_method_tells_more_than_none() -> None:
    assert seconds("cora", "dgi", made("cora", "dgi", 5.0, seed=0), made("cora", "fd-mvgcl", 1.0, row="default")) == 5


def test_a_busy_machine_does_not_make_runs_longer() -> None:
    assert seconds("cora", "dgi", {**made("cora", "dgi", 90.0, row="tuned"), "processor_seconds": 30.0}) == 30


def test_methods_without_a_record_are_counted() -> None:
    runs = [Run(key_of("cora", method, seed=seed), dict) for method in ("dgi", "fd-mvgcl") for seed in range(2)]
    told = expected_seconds(runs, [made("cora", "fd-mvgcl", 2.0, row="default")], SIZES.__getitem__)
    assert told == (4, {"dgi": 2})


def test_records_of_the_repository_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert made_elsewhere() == []
    RecordFile(tmp_path / "results" / "cost" / "records.jsonl").append(made("cora", "dgi", 5.0))
    (record,) = made_elsewhere()
    assert record["seconds"] == 5


def test_reading_leaves_a_file_that_another_process_is_writing(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"key": {}}\n{"key": {"da')
    assert len(RecordFile(path).records) == 1
    assert path.read_text().endswith('{"da')
