"""``reproduce curves``: what it records without test labels, and that it tells where the default stops."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.reproduce import reproduce
from fdmvgcl.experiments import RecordFile
from fdmvgcl.experiments.benchmark import Benchmark, benchmark
from fdmvgcl.experiments.studies import curves
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import Schedule


def test_whole_run_on_karate(tmp_path: Path) -> None:
    reproduce("curves", ["karate"], 1, tmp_path, Reporter(quiet=True))
    (record,) = RecordFile(tmp_path / "records.jsonl").records
    assert np.shape(record["validation"]) == (len(curves.GRID), curves.SPLITS)
    trained = FDMVGCL(seed=0, schedule=Schedule(merge_width=0.0)).fit(benchmark("karate").graph)
    assert record["stops"] == len(trained.history_)
    told = (tmp_path / "curves.txt").read_text()
    assert f"{100 * np.mean(record['validation'][0]):.1f}" in told
    assert {path.name for path in tmp_path.iterdir()} == {"records.jsonl", "curves.md", "curves.txt", "curves.png"}


def test_no_test_label_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "GRID", (0, 1))
    monkeypatch.setattr(curves, "SPLITS", 1)
    bench = benchmark("karate")
    before = curves._curve("karate", 0)["validation"]
    labels = bench.dataset.labels.copy()
    labels[bench.splits[0].test] = 1 - labels[bench.splits[0].test]
    shuffled = Benchmark(replace(bench.dataset, labels=labels), bench.graph)
    monkeypatch.setattr(curves, "benchmark", lambda name: shuffled)
    assert curves._curve("karate", 0)["validation"] == before
