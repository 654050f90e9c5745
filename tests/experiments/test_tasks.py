"""The table of tasks: what is run, that hidden edges stay hidden, and what is read from the records."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fdmvgcl.evaluation import evaluate_tasks
from fdmvgcl.evaluation.labelled import Labelled
from fdmvgcl.experiments import EXPERIMENTS, OfMethods, RecordFile, carry_out, tasks
from fdmvgcl.experiments.benchmark import Benchmark, benchmark
from fdmvgcl.experiments.budget import FEWER_SEEDS
from fdmvgcl.experiments.entrants import Embedded, Vectors
from fdmvgcl.experiments.method_table import scored_row
from fdmvgcl.experiments.tables import MISSING
from fdmvgcl.experiments.task_table import BARE, GROUPS, LINKS
from fdmvgcl.figures.drawing import label_points, panels
from fdmvgcl.graphs.held_out import hide_edges
from fdmvgcl.learning.model import FDMVGCL

TASKS = EXPERIMENTS["tasks"]


def test_every_method_has_every_task_and_classifiers_only_that_with_labels() -> None:
    runs = TASKS.runs(["cora", "photo"], seeds=10)
    keys = [run.key for run in runs]
    assert len({str(key) for key in keys}) == len(keys)
    for row in (GROUPS, LINKS, BARE):
        methods = {key.get("method") for key in keys if key["row"] == row}
        assert {None, "dgi", "spectral"} <= methods
        assert ("gcn" in methods) == (row == BARE)
    assert max(key["seed"] for key in keys) == FEWER_SEEDS - 1
    assert isinstance(TASKS, OfMethods)
    assert {key.get("method") for key in (r.key for r in TASKS.of(("dgi",)).runs(["cora"], 1))} == {None, "dgi"}


def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The graphs that a method is fitted on."""
    graphs: list[Any] = []

    def vectors(bench: Benchmark, *_: Any) -> Vectors:
        graphs.append(bench.graph)
        rows = np.random.default_rng(0).standard_normal((bench.graph.num_nodes, 4)).astype(np.float32)
        return Vectors([rows], rows, {})

    monkeypatch.setattr(tasks, "embedder", lambda _: Embedded(vectors))
    monkeypatch.setattr(tasks, "entrant", lambda _: Embedded(vectors))
    return graphs


def test_a_method_sees_no_hidden_edge_and_no_feature_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = seen(monkeypatch)
    for seed in (0, 1):
        record = tasks.TASKS[LINKS]("dgi", "karate", seed)
        rest, hidden, _ = hide_edges(benchmark("karate").graph, seed)
        assert graphs[-1].adjacency[hidden[:, 0], hidden[:, 1]].sum() == 0
        assert (graphs[-1].adjacency != rest.adjacency).nnz == 0
        assert 0 <= record["AUC"][0] <= 1
    assert (graphs[0].adjacency != graphs[1].adjacency).nnz > 0
    tasks.TASKS[BARE]("dgi", "digits", 0)
    assert graphs[-1].features is None


def test_the_numbers_are_those_of_evaluate() -> None:
    bench = benchmark("karate")
    own = FDMVGCL(seed=0).fit(bench.graph)
    tasks_of_own = evaluate_tasks(own, bench.graph, Labelled.of_data_set(bench.dataset))
    found = {task.name: task.standings for task in tasks_of_own}
    record = tasks.TASKS[GROUPS]("fd-mvgcl", "karate", 0)
    assert record["NMI"] == pytest.approx(found["clustering"][0].ours.values)
    area = tasks.TASKS[LINKS]("fd-mvgcl", "karate", 0)["AUC"]
    assert area == pytest.approx(found["link prediction"][0].ours.values[:1])
    indices = tasks.CONTROLS[LINKS]("karate", 0)
    for control in found["link prediction"][0].controls:
        if control.name in indices:
            assert indices[control.name]["AUC"] == pytest.approx(control.values[:1])


def test_records_become_tables_with_the_best_bold_and_controls_beside(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for dataset in ("cora", "photo"):
        records.append(
            {
                "key": {"dataset": dataset, "row": f"{GROUPS}, controls", "seed": 0},
                "raw features": {"NMI": [0.2], "ARI": [0.1]},
            }
        )
        for method, score in ((None, 0.5), ("dgi", 0.6)):
            key = {"dataset": dataset, "row": GROUPS, "seed": 0} | ({"method": method} if method else {})
            records.append({"key": key, "NMI": [score, score + 0.02], "ARI": [score, score]})
    TASKS.render(records, tmp_path)
    told = (tmp_path / "tasks.md").read_text()
    assert "| cora | 51.0 | **61.0** | 20.0 |" in told
    assert "| cora | 50.0 | **60.0** | 10.0 |" in told
    assert "| cora | DGI | -10.0 (-10.0 to -10.0) | – | – | – | – |" in told
    assert "| DGI | 1.00 (1.0 to 1.0) | – | – |" in told
    assert "Hidden edges" not in told


def test_runs_make_records_that_are_not_made_again(tmp_path: Path) -> None:
    assert isinstance(TASKS, OfMethods)
    runs, records = TASKS.of(("spectral",)).runs(["karate"], 1), RecordFile(tmp_path / "records.jsonl")
    assert len(list(carry_out(runs, records))) == len(runs) == 5
    assert list(carry_out(runs, records)) == []
    TASKS.render(records, tmp_path)
    assert (tmp_path / "tasks.txt").exists()


def test_one_method_alone_is_the_best_of_nothing() -> None:
    assert scored_row("cora", {"dgi": 0.8, "grace": None, "gcn": 0.9}) == ["cora", "80.0", MISSING, "90.0"]
    assert scored_row("cora", {"dgi": 0.8, "grace": 0.7, "gcn": 0.9}) == ["cora", "**80.0**", "70.0", "90.0"]


def test_names_beside_a_picture_do_not_overlap() -> None:
    _, axes = panels(1, 1)
    panel: Any = axes[0, 0]
    points = [(1.0, y, name, "black") for y, name in ((80.0, "first"), (80.1, "second"), (50.0, "third"))]
    for x, y, *_ in points:
        panel.plot(x, y, "o")
    label_points(panel, points)
    first, second, third = (text.xyann[1] for text in panel.texts)
    assert first + 0.05 < second
    assert third < first
