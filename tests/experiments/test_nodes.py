"""The node table: what is run, what a test label may change, and what the table says of the records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdmvgcl.experiments import EXPERIMENTS, RecordFile, nodes, pool
from fdmvgcl.experiments.benchmark import Benchmark, benchmark, embed, embed_with_start
from fdmvgcl.experiments.node_table import READINGS, above_control, added, best_control, summary

SMALL: dict[str, Any] = {"dim": 16, "views": 2, "epochs": 2}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """Karate with small settings stored for it."""
    found = benchmark("karate")
    trials = (SMALL, {**SMALL, "time": 2.0})
    stored = pool.Pool(trials, tuple(i % 2 for i in range(len(found.splits))), (0.5, 0.5))
    monkeypatch.setattr(pool, "stored", lambda name: stored)
    monkeypatch.setattr(pool, "is_stored", lambda name: True)
    return found


def test_runs_cover_controls_and_rows_and_their_keys_differ() -> None:
    runs = EXPERIMENTS["nodes"].runs(["cora", "digits"], seeds=4)
    keys = [tuple(run.key.items()) for run in runs]
    assert len(set(keys)) == len(keys)
    by_row = [run.key["row"] for run in runs if run.key["dataset"] == "cora"]
    for reading in READINGS:
        assert by_row.count(reading) == 3
    assert by_row.count("default") == 4
    assert not [run for run in runs if run.key["dataset"] == "digits" and run.key["row"] in ("tuned", *READINGS)]


def test_a_seed_is_whole_before_the_next_begins() -> None:
    runs = EXPERIMENTS["nodes"].runs(["cora", "crocodile", "digits"], seeds=2)
    seeds = [run.key.get("seed", -1) for run in runs]
    assert seeds == sorted(seeds)


@pytest.mark.parametrize("change", [{}, {"features.initialisation": "joint"}, {"diffusion.dynamics": "gread"}])
def test_the_start_of_training_is_the_untrained_encoder(small: Benchmark, change: dict[str, Any]) -> None:
    embedded, start = embed_with_start(small.graph, {**SMALL, **change}, 0)
    np.testing.assert_array_equal(start, embed(small.graph, {**SMALL, **change, "epochs": 0}, 0).views)
    np.testing.assert_array_equal(embedded.views, embed(small.graph, {**SMALL, **change}, 0).views)
    assert not np.allclose(embedded.views, start)


def test_tuned_row_uses_the_stored_choice_of_each_split(small: Benchmark) -> None:
    record = nodes.ROWS["tuned"]("karate", 0)
    assert record["trials"] == list(pool.stored("karate").choices)
    assert len(record["test"]) == len(record["untrained"]["test"]) == len(small.splits)
    odd = embed(small.graph, {**SMALL, "time": 2.0}, 0)
    (expected,) = small.probe(list(odd.views), [1], tune=True)
    assert record["test"][1] == expected.test
    assert record["validation"][1] == expected.choice.validation


def test_no_choice_changes_when_the_test_labels_of_a_split_do(
    small: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = nodes.ROWS["tuned"]("karate", 0)
    split = small.splits[0]
    shuffled = small.dataset.labels.copy()
    shuffled[split.test] = np.random.default_rng(0).permutation(shuffled[split.test])[::-1]
    shuffled[split.test] = (shuffled[split.test] + 1) % len(small.dataset.classes)
    changed = Benchmark(replace(small.dataset, labels=shuffled, splits=small.splits[:1]), small.graph)
    alone = Benchmark(replace(small.dataset, splits=small.splits[:1]), small.graph)
    first = pool.Pool(pool.stored("karate").trials, (0,), (0.5, 0.5))
    monkeypatch.setattr(pool, "stored", lambda name: first)
    told = []
    for bench in (alone, changed):
        monkeypatch.setattr(nodes, "benchmark", lambda name, bench=bench: bench)
        told.append(nodes.ROWS["tuned"]("karate", 0))
    assert told[0]["choices"] == told[1]["choices"] == before["choices"][:1]
    assert told[0]["validation"] == told[1]["validation"]
    assert told[0]["test"] != told[1]["test"]


def _records(tmp_path: Path, *, tuned: float, untrained: float, raw: float) -> RecordFile:
    records = RecordFile(tmp_path / "records.jsonl")
    for row, score in (("majority", 0.4), ("raw", raw), ("diffused", 0.5)):
        records.append({"key": {"dataset": "texas", "row": row}, "test": [score, score]})
    for seed in range(2):
        noise = 0.001 * seed
        records.append(
            {
                "key": {"dataset": "texas", "row": "tuned", "seed": seed},
                "test": [tuned + noise, tuned - noise],
                "untrained": {"test": [untrained, untrained]},
            }
        )
    return records


@pytest.mark.parametrize(("tuned", "bold"), [(0.83, True), (0.82, True), (0.81, False)])
def test_a_number_is_bold_only_above_paper_and_controls(tmp_path: Path, tuned: float, bold: bool) -> None:
    records = _records(tmp_path, tuned=tuned, untrained=0.8, raw=0.82)
    EXPERIMENTS["nodes"].render(records, tmp_path)
    text = (tmp_path / "nodes.md").read_text()
    assert (f"**{100 * tuned:.1f}**" in text) == bold
    assert best_control(records, "texas") == "raw"
    found = summary(records.matching(dataset="texas", row="tuned"))
    assert found is not None
    assert found.mean == pytest.approx(tuned)
    assert found.seeds == found.splits == 2


def test_no_number_is_bold_before_all_controls_are_known(tmp_path: Path) -> None:
    whole = _records(tmp_path, tuned=0.95, untrained=0.8, raw=0.82)
    part = RecordFile(tmp_path / "part.jsonl")
    for record in whole.records:
        if record["key"]["row"] != "diffused":
            part.append(record)
    EXPERIMENTS["nodes"].render(part, tmp_path)
    assert best_control(part, "texas") is None
    assert "**95.0**" not in (tmp_path / "nodes.md").read_text()


@pytest.mark.parametrize(
    ("tuned", "paper", "verdict"),
    [
        (0.83, "+2.8", "against the best control: above on 1, level on 0, below on 0 of 1"),
        (0.81, "+0.8", "against the best control: above on 0, level on 0, below on 1 of 1"),
    ],
)
def test_distances_to_paper_and_control_with_a_verdict(tmp_path: Path, tuned: float, paper: str, verdict: str) -> None:
    records = _records(tmp_path, tuned=tuned, untrained=0.8, raw=0.82)
    above = above_control(records, "texas", "tuned")
    assert above is not None
    assert above.mean == pytest.approx(tuned - 0.82)
    EXPERIMENTS["nodes"].render(records, tmp_path)
    main, _, table = (tmp_path / "nodes.md").read_text().partition("**Distance")
    row = next(line for line in table.splitlines() if line.startswith("| texas"))
    default, ours, control, other, to_control = (cell.strip() for cell in row.split("|")[2:-1])
    assert (default, other, control) == ("–", "–", "raw")
    assert ours.startswith(f"{paper} (")
    assert to_control.startswith(f"{100 * (tuned - 0.82):+.1f} (")
    assert verdict in main


def test_one_lucky_split_is_not_taken_for_a_lead(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for row in ("majority", "raw", "diffused"):
        records.append({"key": {"dataset": "texas", "row": row}, "test": [0.8, 0.8, 0.8]})
    for seed in range(10):
        records.append({"key": {"dataset": "texas", "row": "tuned", "seed": seed}, "test": [0.8, 0.8, 0.95]})
    above = above_control(records, "texas", "tuned")
    assert above is not None
    assert above.mean == pytest.approx(0.05)
    assert above.verdict == "no difference"


@pytest.mark.parametrize("reduced", [True, False])
def test_a_control_with_a_reduced_grid_is_said_to_be_one(tmp_path: Path, reduced: bool) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    key = {"dataset": "crocodile", "row": "diffused"}
    records.append({"key": key, "test": [0.7, 0.7], "reduced_grid": reduced})
    EXPERIMENTS["nodes"].render(records, tmp_path)
    assert ("standardised columns only: crocodile." in (tmp_path / "nodes.md").read_text()) == reduced


@pytest.mark.parametrize(
    ("untrained", "verdict"), [(0.8, "helped on 1"), (0.9, "hurt on 1"), (0.83, "no difference on 1")]
)
def test_the_summary_counts_where_training_helped(tmp_path: Path, untrained: float, verdict: str) -> None:
    records = _records(tmp_path, tuned=0.83, untrained=untrained, raw=0.5)
    difference = added(records.matching(dataset="texas", row="tuned"))
    assert difference is not None
    assert difference.mean == pytest.approx(0.83 - untrained, abs=1e-6)
    EXPERIMENTS["nodes"].render(records, tmp_path)
    assert verdict in (tmp_path / "nodes.txt").read_text()


def test_ranks_put_ours_among_the_published(tmp_path: Path) -> None:
    records = _records(tmp_path, tuned=0.999, untrained=0.8, raw=0.5)
    EXPERIMENTS["nodes"].render(records, tmp_path)
    lines = (tmp_path / "nodes.txt").read_text().splitlines()
    row = next(line for line in lines if line.startswith("FD-MVGCL, tuned"))
    assert row.split()[-1] == "1.00"
    assert any(line.startswith("GraphACL *") for line in lines)
