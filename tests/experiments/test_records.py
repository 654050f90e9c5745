"""Records survive kills, and an experiment goes on where it was."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fdmvgcl import cli
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.reproduce import reproduce
from fdmvgcl.errors import InputError
from fdmvgcl.experiments import EXPERIMENTS, RecordFile, Run, carry_out, pending


def _runs(calls: list[int], count: int = 3) -> list[Run]:
    def work(number: int) -> dict[str, int]:
        calls.append(number)
        return {"value": number}

    return [Run({"number": i}, lambda i=i: work(i)) for i in range(count)]


def test_only_missing_records_are_made(tmp_path: Path) -> None:
    calls: list[int] = []
    runs = _runs(calls)
    first = RecordFile(tmp_path / "records.jsonl")
    for _, _record in zip(range(2), carry_out(runs, first), strict=False):
        pass
    again = RecordFile(tmp_path / "records.jsonl")
    assert [run.key for run in pending(runs, again)] == [run.key for run in runs[len(again.records) :]]
    list(carry_out(runs, again))
    assert calls == [0, 1, 2]
    assert [record["value"] for record in RecordFile(tmp_path / "records.jsonl").records] == [0, 1, 2]


def test_runs_side_by_side_make_the_same_records(tmp_path: Path) -> None:
    def work(number: int) -> dict[str, int]:
        return {"value": number, "process": os.getpid()}

    runs = [Run({"number": i}, partial(work, i)) for i in range(4)]
    records = RecordFile(tmp_path / "records.jsonl")
    made = [record for _, record in carry_out(runs, records, jobs=2)]
    assert sorted(record["value"] for record in made) == [0, 1, 2, 3]
    assert all(record["process"] != os.getpid() and record["environment"]["threads"] == 1 for record in made)
    assert not pending(runs, RecordFile(tmp_path / "records.jsonl"))


SLEEPERS = """
import os, time
from functools import partial
from pathlib import Path
from fdmvgcl import cli
from fdmvgcl.experiments import EXPERIMENTS, Run

def work(number):
    Path(f"{number}.pid").write_text(str(os.getpid()))
    time.sleep(600)

class Sleepers:
    name, summary, datasets = "sleepers", "sleep", ("karate",)
    def runs(self, datasets, seeds):
        return [Run({"number": i}, partial(work, i)) for i in range(2)]

EXPERIMENTS["sleepers"] = Sleepers()
cli.app(["reproduce", "sleepers", "--jobs", "2"])
"""


def test_kill_leaves_no_worker_behind(tmp_path: Path) -> None:
    told = tmp_path / "stderr.txt"
    with told.open("w") as file:
        process = subprocess.Popen([sys.executable, "-c", SLEEPERS], cwd=tmp_path, stderr=file)
    names = [tmp_path / f"{number}.pid" for number in range(2)]
    _wait(lambda: all(name.exists() and name.read_text() for name in names))
    process.terminate()
    assert process.wait(timeout=60) == 143
    assert "interrupted" in told.read_text()
    folders = [Path("/proc", name.read_text()) for name in names]
    _wait(lambda: not any(folder.exists() for folder in folders))


def test_an_interrupted_experiment_leaves_tables_of_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        name, summary, datasets = "interrupted", "one run, then Ctrl-C", ("karate",)

        def runs(self, datasets: tuple[str, ...], seeds: int) -> list[Run]:
            def stop() -> dict[str, int]:
                raise KeyboardInterrupt

            return [*_runs([], 1), Run({"number": 1}, stop)]

        def render(self, records: RecordFile, folder: Path) -> list[Path]:
            (folder / "table.md").write_text(f"{len(records.records)} record")
            return [folder / "table.md"]

    monkeypatch.setitem(EXPERIMENTS, "interrupted", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        reproduce("interrupted", None, 1, tmp_path / "out", Reporter(quiet=True))
    assert (tmp_path / "out" / "table.md").read_text() == "1 record"


def _wait(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300  # processes begin slowly on a busy machine
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_costs_are_measured_one_by_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="jobs must be 1 for cost"):
        reproduce("cost", ["karate"], 1, tmp_path, Reporter(quiet=True), jobs=2)


def test_half_written_line_is_run_again(tmp_path: Path) -> None:
    calls: list[int] = []
    path = tmp_path / "records.jsonl"
    list(carry_out(_runs(calls, 2), RecordFile(path)))
    whole = path.read_text()
    path.write_text(whole[: len(whole) - 20])
    records = RecordFile(path)
    assert len(records.records) == 1
    list(carry_out(_runs(calls, 2), records))
    assert calls == [0, 1, 1]
    assert len(RecordFile(path).records) == 2


def test_rubbish_in_the_middle_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"key": {}}\nrubbish\n{"key": {}}\n')
    with pytest.raises(InputError, match=r"records.jsonl:2: a record must be"):
        RecordFile(path)


def test_records_hold_what_a_rerun_needs(tmp_path: Path) -> None:
    ((_, record),) = carry_out(_runs([], 1), RecordFile(tmp_path / "records.jsonl"))
    assert {"key", "value", "seconds", "environment"} <= set(record)
    assert {"fdmvgcl", "torch", "threads"} <= set(record["environment"])


def test_help_names_every_experiment() -> None:
    shown = CliRunner().invoke(cli.app, ["reproduce", "--help"], prog_name="fdmvgcl", env={"COLUMNS": "400"}).output
    assert f"one of {', '.join(EXPERIMENTS)};" in " ".join(shown.split())


def test_records_are_found_by_part_of_their_key(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    records.append({"key": {"dataset": "cora", "seed": 0}})
    records.append({"key": {"dataset": "cora", "seed": 1}})
    assert len(records.matching(dataset="cora")) == 2
    assert records.find({"dataset": "cora"}) is None
    assert records.find({"dataset": "cora", "seed": 1}) == records.records[1]
