"""The node table: what is run, what a test label may change, and what the table says of the records."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdmvgcl.experiments import EXPERIMENTS, OfMethods, RecordFile, Run
from fdmvgcl.experiments.benchmark import Benchmark, benchmark, embed, embed_with_start
from fdmvgcl.experiments.entrants import ENTRANTS
from fdmvgcl.experiments.method_table import ranks, waiting
from fdmvgcl.experiments.node_table import READINGS, above_control, added, best_control, summary

SMALL: dict[str, Any] = {"dim": 16, "views": 2, "epochs": 2}


@pytest.fixture(scope="module")
def small() -> Benchmark:
    return benchmark("karate")


def rows_of(dataset: str, runs: list[Run], method: str | None = None) -> list[str]:
    return [run.key["row"] for run in runs if (run.key["dataset"], run.key.get("method")) == (dataset, method)]


def test_runs_cover_controls_and_rows_and_their_keys_differ() -> None:
    runs = EXPERIMENTS["nodes"].runs(["cora", "digits", "pubmed"], seeds=6)
    keys = [json.dumps(run.key) for run in runs]
    assert len(set(keys)) == len(keys)
    ours, theirs, large = rows_of("cora", runs), rows_of("cora", runs, "grace"), rows_of("pubmed", runs, "dgi")
    for reading in READINGS:
        assert ours.count(reading) == 3
        assert reading not in theirs
    assert (ours.count("default"), theirs.count("default"), large.count("default")) == (6, 5, 3)
    for rows, trials, seeds in ((ours, 12, 5), (theirs, 12, 5), (large, 4, 3), (rows_of("digits", runs), 12, 5)):
        assert (rows.count("trial"), rows.count("tuned")) == (trials, seeds)
    assert rows_of("cora", runs, "gcn").count("default") == 5


def test_runs_of_some_methods_are_theirs_alone() -> None:
    nodes = EXPERIMENTS["nodes"]
    assert isinstance(nodes, OfMethods)
    of_two = nodes.of(("spectral", "gcn")).runs(["cora"], seeds=1)
    assert {run.key.get("method") for run in of_two} == {None, "spectral", "gcn"}
    assert rows_of("cora", of_two) == ["majority", "raw", "diffused"]


def test_defaults_of_small_data_sets_come_first_and_what_is_needed_comes_before() -> None:
    runs = EXPERIMENTS["nodes"].runs(["crocodile", "cora", "digits"], seeds=2)
    order = [(run.key["row"], run.key["dataset"] == "crocodile") for run in runs]
    parts = [(row, slow) for slow in (False, True) for row in ("raw", "default")]
    firsts = [order.index(part) for part in (*parts, ("trial", False), ("trial", True), ("published", False))]
    assert firsts == sorted(firsts)
    assert order[firsts[4] :].count(("default", False)) == order[firsts[4] :].count(("default", True)) == 0
    for place, run in enumerate(runs):
        before = [other.key for other in runs[:place]]
        assert all(key in before for key in run.needs)


@pytest.mark.parametrize("change", [{}, {"features.initialisation": "joint"}, {"diffusion.dynamics": "gread"}])
def test_the_start_of_training_is_the_untrained_encoder(small: Benchmark, change: dict[str, Any]) -> None:
    embedded, start = embed_with_start(small.graph, {**SMALL, **change}, 0)
    np.testing.assert_array_equal(start, embed(small.graph, {**SMALL, **change, "epochs": 0}, 0).views)
    np.testing.assert_array_equal(embedded.views, embed(small.graph, {**SMALL, **change}, 0).views)
    assert not np.allclose(embedded.views, start)


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


def _main_table(folder: Path) -> str:
    return (folder / "nodes.md").read_text().partition("**All methods")[0].partition("**Distance")[0]


@pytest.mark.parametrize(("tuned", "bold"), [(0.83, True), (0.82, True), (0.81, False)])
def test_a_number_is_bold_only_above_paper_and_controls(tmp_path: Path, tuned: float, bold: bool) -> None:
    records = _records(tmp_path, tuned=tuned, untrained=0.8, raw=0.82)
    EXPERIMENTS["nodes"].render(records, tmp_path)
    assert (f"**{100 * tuned:.1f}**" in _main_table(tmp_path)) == bold
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
    assert "**95.0**" not in _main_table(tmp_path)


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


def test_the_papers_figures_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    records = _records(tmp_path, tuned=0.999, untrained=0.8, raw=0.5)
    EXPERIMENTS["nodes"].render(records, tmp_path)
    printed = (tmp_path / "nodes.txt").read_text().partition("The paper's printed figures")[2]
    (theirs,) = [line for line in printed.splitlines() if line.startswith("GraphACL ")]
    assert "71.1" in theirs
    assert "99.9" not in printed


def test_records_of_other_methods_do_not_count_as_ours(tmp_path: Path) -> None:
    records = _records(tmp_path, tuned=0.83, untrained=0.8, raw=0.5)
    for seed in range(2):
        records.append({"key": {"dataset": "texas", "method": "dgi", "row": "tuned", "seed": seed}, "test": [0.9, 0.9]})
    EXPERIMENTS["nodes"].render(records, tmp_path)
    assert "**83.0**" in _main_table(tmp_path)
    assert "90.0" not in _main_table(tmp_path)
    assert "| texas | – | – | DGI | -7.0 (" in (tmp_path / "nodes.md").read_text()


def test_effort_shows_the_budget_and_what_went_beyond_it(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for dataset, method, seconds in (("cora", "dgi", 12.0), ("cora", "bgrl", 400.0), ("photo", "bgrl", 900.0)):
        key = {"dataset": dataset, "method": method, "row": "default", "seed": 0}
        records.append({"key": key, "test": [0.5], "seconds": 1e6, "processor_seconds": seconds})
    EXPERIMENTS["nodes"].render(records, tmp_path)
    told = (tmp_path / "nodes.md").read_text().partition("**Effort")[2]
    assert "| cora | 12 | 5 | 12 | 400 |" in told
    assert "| photo | 4 | 3 | – | 900 |" in told
    assert "and 12 trials all the same: BGRL on cora." in told


def test_what_waits_to_be_run_is_named(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for method in ENTRANTS[1:-1]:
        key = {"dataset": "cora", "method": method, "row": "default", "seed": 0}
        records.append({"key": key, "test": [0.5]})
    told = waiting(records, ("cora", "photo"))
    assert f"{len(ENTRANTS) - 2} of {4 * len(ENTRANTS)} rows" in told
    assert told.endswith("No row yet of FD-MVGCL, FROND-like (supervised).")


def test_a_method_with_few_data_sets_does_not_take_the_others_out_of_the_ranks(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for place, dataset in enumerate(("cora", "photo", "texas")):
        for method, score in (("dgi", 0.6), ("grace", 0.5), *((("bgrl", 0.9),) if place == 0 else ())):
            key = {"dataset": dataset, "method": method, "row": "default", "seed": 0}
            records.append({"key": key, "test": [score]})
    found = ranks(records, ("cora", "photo", "texas"), "default")
    assert found is not None
    assert found[:2] == (("dgi", "grace"), ["cora", "photo", "texas"])
