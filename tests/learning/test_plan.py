"""The plan adds up, grows with the work, refuses what cannot be done, and knows what the head of a file tells."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdmvgcl import FDMVGCL, Graph, Schedule
from fdmvgcl.diffusion import rates
from fdmvgcl.diffusion.cost import REFERENCE, Rates, Work, Workload
from fdmvgcl.diffusion.group import ALONE
from fdmvgcl.graphs.readers import outlook as outlooks
from fdmvgcl.graphs.readers.outlook import Outlook, look_ahead
from fdmvgcl.graphs.store import save_store
from fdmvgcl.learning.plan import Phase, Plan, plan_ahead, plan_exactly

GB = 10**9
MODEL = FDMVGCL(dim=64)
MILLION = Outlook(size=10**8, edges=10**7, nodes=10**6, columns=128, feature_bytes=512 * 10**6)


def planned(outlook: Outlook = MILLION, model: FDMVGCL = MODEL, **more) -> Plan:
    return plan_ahead(model, outlook, present=24 * GB, memory=12 * GB, directed=False, **more)


def test_a_plan_adds_up() -> None:
    found = planned()
    assert [phase.name for phase in found.phases] == [
        "reading",
        "preparing",
        "basis",
        "training",
        "writing",
        "report",
    ]
    assert found.seconds == pytest.approx(sum(phase.seconds for phase in found.phases))
    assert found.memory == max(phase.memory for phase in found.phases) == found.largest.memory
    assert found.disk == sum(phase.disk for phase in found.phases) > 0
    record = json.loads(json.dumps(found.record()))
    assert record["memory"] == found.memory
    assert [phase["name"] for phase in record["phases"]] == [phase.name for phase in found.phases]
    assert [phase.name for phase in planned(report=False).phases][-1] == "writing"


def test_small_graphs_end_with_a_verdict_that_trains_a_copy() -> None:
    small = replace(MILLION, edges=10**5, nodes=10**4)
    seconds = {phase.name: phase.seconds for phase in planned(small).phases}
    assert seconds["verdict"] == pytest.approx(seconds["training"], rel=0.2)
    assert "verdict" not in [phase.name for phase in planned(small, FDMVGCL(dim=64, epochs=0)).phases]


def test_processes_share_the_work_in_blocks_with_a_basis_on_disk() -> None:
    small = replace(MILLION, edges=10**6, nodes=10**5)
    alone, two = (
        {phase.name: phase for phase in plan_ahead(MODEL, small, 24 * GB, memory, False, group=group).phases}
        for memory, group in ((GB, ALONE), (12 * GB, Mock(size=2)))
    )
    assert "on disk" in alone["basis"].why
    assert alone["basis"].why == two["basis"].why
    assert two["training"].seconds == pytest.approx(alone["training"].seconds / 2)
    assert two["basis"].seconds < alone["basis"].seconds


@pytest.mark.parametrize("field", ["edges", "nodes", "columns"])
def test_more_of_anything_takes_more(field: str) -> None:
    fewer = replace(MILLION, edges=10**6, nodes=10**5)
    less, more = planned(fewer), planned(replace(fewer, **{field: 2 * getattr(fewer, field)}))
    assert more.seconds > less.seconds
    assert more.memory > less.memory
    assert more.disk > less.disk


def test_a_slower_machine_takes_longer_and_no_more_memory() -> None:
    slower = Rates(*(2 * value for value in vars(REFERENCE).values()))
    assert planned(rates=slower).seconds == pytest.approx(2 * planned().seconds)
    assert planned(rates=slower).memory == planned().memory


def test_reading_in_pieces_takes_disk_instead_of_memory() -> None:
    at_once, in_pieces = (
        planned(pieces=pieces, outlook=replace(MILLION, edges=10**8)).phases[0] for pieces in (None, GB)
    )
    assert in_pieces.memory < 3 * GB < at_once.memory
    assert in_pieces.disk > 0 == at_once.disk


def test_what_the_model_needs_is_that_of_the_graph_prepared() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 500, 4000), rng.integers(0, 500, 4000))
    graph = graph.with_features(rng.standard_normal((graph.num_nodes, 40)))
    prepared = MODEL.prepare(graph)
    exact = plan_exactly(MODEL, prepared, 24 * GB)
    assert exact.exact
    assert not planned().exact
    assert exact.memory > prepared.memory
    assert "reading" not in [phase.name for phase in exact.phases]
    told = Outlook(0, graph.num_edges, graph.num_nodes, 40)
    ahead = {phase.name: phase for phase in planned(told).phases}
    for phase in exact.phases:
        assert phase.memory == pytest.approx(ahead[phase.name].memory, rel=0.1)


def test_the_refusal_names_what_lacks_and_the_phase() -> None:
    phases = (Phase("reading", 1, 2 * GB, GB, ""), Phase("training", 1, 8 * GB, GB, ""))
    assert Plan(phases, 24 * GB).refusal is None
    assert Plan(phases, 24 * GB).warning is None
    refused = Plan(phases, 5 * GB).refusal or ""
    assert "training needs about 8.0 GB" in refused
    assert "this machine has 5.0 GB" in refused
    assert "--dim" in refused
    assert "training" in (Plan(phases, 10 * GB).warning or "")
    assert "the disk has 1.5 GB" in (Plan(phases, 24 * GB, free=int(1.5 * GB)).refusal or "")
    reading = (Phase("reading", 1, 9 * GB, 0, ""),)
    assert "--reader duckdb" in (Plan(reading, 5 * GB).refusal or "")


def test_what_does_not_fit_is_interpolated_or_done_in_blocks() -> None:
    """Of 240 columns the terms exceed the memory; of narrow views the rest does not, of wide ones everything does."""
    wide = replace(MILLION, columns=240)
    narrow, full = (
        {phase.name: phase for phase in plan_ahead(model, wide, 48 * GB, memory * GB, False).phases}
        for model, memory in ((FDMVGCL(dim=16), 23), (MODEL, 13))
    )
    for found in (narrow, full):
        assert "14 functions" not in found["basis"].why
    assert "at a time" not in narrow["training"].why
    assert narrow["basis"].disk == 0
    assert "8192 at a time" in full["training"].why
    assert full["basis"].disk > 4 * 8 * 240 * 10**6
    assert full["training"].memory < narrow["training"].memory


def test_directed_graphs_have_no_basis() -> None:
    found = plan_ahead(MODEL, MILLION, 24 * GB, 12 * GB, directed=True)
    assert "basis" not in [phase.name for phase in found.phases]


def test_work_is_counted_and_priced() -> None:
    assert Work(gemm=2, stream=3).seconds(Rates(gemm=5, stream=7)) == 2 * 5 + 3 * 7
    work = Workload(1000, 5000, 20, 20_000, True, 64, 5, 12)
    assert work.projecting.seconds() == work.project_seconds
    assert work.diffusing.seconds() == work.diffuse_seconds


def test_rates_are_of_this_machine_and_leave_nothing_behind(tmp_path: Path) -> None:
    start = time.perf_counter()
    found = rates.measured(tmp_path / "not" / "there")
    took = time.perf_counter() - start
    assert all(0 < value < took for value in vars(found).values())
    assert not list(tmp_path.iterdir())


# -- what the head of a file tells ------------------------------------------------------------------------------------


def write(path: Path, nodes: int, edges: int, kind: str) -> None:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, edges))
    if kind == "text":
        path.write_text("source,target\n" + "".join(f"n{a},n{b}\n" for a, b in ends.T))
    else:
        columns = {"source": ends[0], "target": ends[1]}
        pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize("kind", ["text", "Parquet"])
@pytest.mark.parametrize("sample", [1 << 20, 4000])
def test_nodes_and_edges_are_told_from_the_head(
    tmp_path: Path, kind: str, sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlooks, "_SAMPLE", sample)
    monkeypatch.setattr("fdmvgcl.graphs.readers.pieces._ROWS", 4000)
    monkeypatch.setattr("fdmvgcl.graphs.readers.pieces._BYTES", 50_000)
    write(tmp_path / "edges", 5000, 20_000, kind)
    found = look_ahead(tmp_path / "edges")
    assert found is not None
    assert found.text == (kind == "text")
    assert found.edges == pytest.approx(20_000, rel=0.05)
    assert found.nodes == pytest.approx(5000, rel=0.1)


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64(), pa.string()], ids=str)
def test_ends_of_an_edge_may_be_of_two_types(tmp_path: Path, kind: pa.DataType) -> None:
    heads = pa.array([1, 2, 3]).cast(kind)
    pq.write_table(pa.table({"source": pa.array([0, 0, 1]), "target": heads}), tmp_path / "edges.parquet")
    found = look_ahead(tmp_path / "edges.parquet")
    assert found is not None
    assert (found.edges, found.nodes) == (3, 4)


def test_a_file_of_features_tells_the_number_of_nodes(tmp_path: Path) -> None:
    write(tmp_path / "edges", 100, 1000, "Parquet")
    rows = {"id": range(120), "x": [0.0] * 120, "v": pa.array([[0.0, 1.0, 2.0]] * 120)}
    pq.write_table(pa.table(rows), tmp_path / "nodes.parquet")
    found = look_ahead(tmp_path / "edges", features=tmp_path / "nodes.parquet")
    assert found is not None
    assert (found.nodes, found.columns) == (120, 4)


def test_a_store_tells_exactly_and_other_files_nothing(tmp_path: Path) -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    save_store(graph, tmp_path / "store")
    found = look_ahead(tmp_path / "store")
    assert found is not None
    assert (found.exact, found.nodes, found.edges) == (True, 3, 2)
    graph.save(tmp_path / "graph.npz")
    (tmp_path / "odd").write_bytes(b"\0" * 100)
    for name in ("graph.npz", "odd", "missing"):
        assert look_ahead(tmp_path / name) is None


MEASURE = """
import sys
from fdmvgcl import FDMVGCL, Graph, Schedule
import numpy as np
rng = np.random.default_rng(0)
n = 30_000
graph = Graph.from_edges(*rng.integers(0, n, (2, 10 * n)))
graph = graph.with_features(rng.standard_normal((graph.num_nodes, 64), np.float32))
model = FDMVGCL(dim=256, epochs=2, schedule=Schedule(min_rank=0.0))
model.fit_transform(graph)
line, = (l for l in open("/proc/self/status") if l.startswith("VmHWM"))
print(1024 * int(line.split()[1]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
def test_memory_is_told_within_three_tenths() -> None:
    found = subprocess.run([sys.executable, "-c", MEASURE], check=True, capture_output=True, text=True, env=os.environ)
    model = FDMVGCL(dim=256, epochs=2, schedule=Schedule(min_rank=0.0))
    told = planned(Outlook(0, 300_000, 30_000, 64), model).memory
    assert told == pytest.approx(int(found.stdout), rel=0.3)
