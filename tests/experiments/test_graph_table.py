"""``reproduce graphs`` on a data set of eight graphs: a record a row and repeat, and a table of them."""

from pathlib import Path

import networkx as nx
import pytest

from fdmvgcl.experiments import EXPERIMENTS, RecordFile, carry_out
from fdmvgcl.experiments import graph_table as t
from fdmvgcl.experiments.records import environment


@pytest.fixture
def _mutag_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight rings and stars in the place of MUTAG."""
    folder = tmp_path / "MUTAG" / "raw"
    folder.mkdir(parents=True)
    parts = [(nx.cycle_graph if i % 2 else nx.star_graph)(4 + i % 3) for i in range(8)]
    lines: dict[str, list[str]] = {"A": [], "graph_indicator": [], "graph_labels": [], "node_labels": []}
    first = 1
    for number, part in enumerate(parts):
        lines["A"] += [f"{first + a}, {first + b}" for edge in part.edges for a, b in (edge, edge[::-1])]
        lines["graph_indicator"] += [str(number + 1)] * len(part)
        lines["node_labels"] += [str(node % 2) for node in part]
        lines["graph_labels"].append(str(number % 2))
        first += len(part)
    for name, each in lines.items():
        (folder / f"MUTAG_{name}.txt").write_text("\n".join(each) + "\n")
    monkeypatch.setenv("FDMVGCL_DATA", str(tmp_path))
    t._dataset.cache_clear()
    t._model.cache_clear()
    t._fixed_kernels.cache_clear()


@pytest.mark.usefixtures("_mutag_of_our_own")
def test_every_row_makes_a_record_and_a_table(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["graphs"]
    records = RecordFile(tmp_path / "records.jsonl")
    runs = experiment.runs(["mutag"], 1)
    assert {run.key["row"] for run in runs} == set(t.ROWS)
    assert runs[-1].key["row"] == "InfoGraph"
    made = {run.key["row"]: record for run, record in carry_out(runs, records)}
    assert all(len(record["test"]) == 4 for record in made.values())
    assert sum(made["majority"]["test"]) / 4 == 0.5
    assert min(made[t.OURS]["test"]) == 1.0
    assert made["untrained"]["settings"]["epochs"] == 0
    assert made[t._PAPERS_READOUT]["settings"]["readout"]["kind"] == "mean"
    assert not list(carry_out(runs, RecordFile(records.path)))
    text = experiment.render(records, tmp_path)[0].read_text()
    assert "mutag: accuracy in %" in text
    assert "| FD-MVGCL | – | 100.0 |" in text


def test_printed_figures_stand_beside_and_shared_repeats_are_compared(tmp_path: Path) -> None:
    records = RecordFile(tmp_path / "records.jsonl")
    for row, seed, test in ((t.OURS, 0, [0.8, 0.7]), (t.OURS, 1, [0.8, 0.8]), ("size", 1, [0.6, 0.7])):
        key = {"dataset": "proteins", "row": row, "seed": seed}
        records.append({"key": key, "test": test, "optimistic": test, "environment": environment()})
    found = {row[0]: row for row in t.table(records, "proteins").rows}
    assert found[t.OURS][1:4] == ["75.4", "77.5", "3.54"]
    assert found["size"][5].startswith("+15.0 (")
    assert found["CI-GCL, printed"][1] == "76.5"
    (note,) = t.table(records, "proteins").notes
    assert note.startswith("FD-MVGCL has 77.5 (2 repeats). From the paper's figure it is +2.1 points away.")
    assert "The best other row is size; against it that is +15.0 (" in note
    assert "of 1 other row." in note
    assert t.reading(records, "dd") == []
