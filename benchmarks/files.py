"""Users' files, in seconds of CPU: edges above Arrow's own reading of the same file, features, and a file not there.

``python benchmarks/files.py``; with a number of edges, only that many, and no record.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
from harness import alternate, print_table, save_record

from fdmvgcl.graphs.readers import read_features, read_graph
from fdmvgcl.graphs.recognition import fit_encoding

EDGES, NODES = 1_000_000, 100_000
REPEATS = 5
KINDS = ("number", "number with blanks", "category", "truth value", "date")


def edges(count: int, scratch: Path) -> dict[str, Path]:
    """Edges between string ids, in each kind of file."""
    generator = np.random.default_rng(0)
    ids = pa.array([f"user-{i:06}" for i in range(max(2, count // 10))])
    ends = [ids.take(pa.array(generator.integers(len(ids), size=count))) for _ in range(2)]
    table = pa.table([*ends, generator.random(count).round(3)], names=["source", "target", "weight"])
    files = {"CSV": scratch / "edges.csv", "Parquet": scratch / "edges.parquet"}
    pv.write_csv(table, files["CSV"])
    pq.write_table(table, files["Parquet"])
    return files


def features(count: int, scratch: Path) -> Path:
    """A table of 50 columns of all kinds, as text."""
    generator = np.random.default_rng(1)
    cities = np.array([f"city {i}" for i in range(30)])
    columns: dict[str, Any] = {"id": [f"user-{i:06}" for i in range(count)]}
    for place in range(50):
        kind = KINDS[place % len(KINDS)]
        numbers = generator.normal(size=count).round(4)
        if kind == "number":
            columns[f"{kind} {place}"] = numbers
        elif kind == "number with blanks":
            columns[f"{kind} {place}"] = pa.array(numbers, mask=generator.random(count) < 0.05)
        elif kind == "category":
            columns[f"{kind} {place}"] = cities[generator.geometric(0.1, size=count) % len(cities)]
        elif kind == "truth value":
            columns[f"{kind} {place}"] = np.where(numbers > 0, "yes", "no")
        else:
            days = np.datetime64("2020-01-01") + generator.integers(2000, size=count)
            columns[f"{kind} {place}"] = days.astype(str)
    pv.write_csv(pa.table(columns), scratch / "nodes.csv")
    return scratch / "nodes.csv"


def cpu_of(command: list[str]) -> float:
    """Seconds of CPU of a process that ends with exit code 2."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(command, capture_output=True).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 2
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(count: int, scratch: Path) -> dict[str, float]:
    found = {}
    for form, path in edges(count, scratch).items():
        arrow = pv.read_csv if form == "CSV" else pq.read_table
        sides = {"Arrow": lambda path=path, read=arrow: read(path), "graph": lambda path=path: read_graph(path)}
        times = alternate(sides, repeats=REPEATS, clock=time.process_time)
        found[f"{form}: {count} edges, Arrow alone"] = times["Arrow"]["warm"]
        found[f"{form}: {count} edges, as a graph"] = times["graph"]["warm"]
    nodes = min(count, NODES)
    path = features(nodes, scratch)

    def encode() -> None:
        table = read_features(path)
        fit_encoding(table.columns).apply(table.columns)

    table = read_features(path).columns
    sides = {
        "read and encoded": encode,
        "encoded": lambda: fit_encoding(table).apply(table),
    }
    for name, times in alternate(sides, repeats=REPEATS, clock=time.process_time).items():
        found[f"features: {nodes} × 50, {name}"] = times["warm"]
    missing = [sys.executable, "-m", "fdmvgcl", "embed", str(scratch / "missing.csv")]
    found["a file that is not there"] = min(cpu_of(missing) for _ in range(REPEATS))
    return found


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else EDGES
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(count, Path(scratch))
    print_table(["what", "s of CPU"], [[name, value] for name, value in found.items()])
    if count == EDGES:
        above = {
            f"{form} above Arrow": found[f"{form}: {count} edges, as a graph"]
            - found[f"{form}: {count} edges, Arrow alone"]
            for form in ("CSV", "Parquet")
        }
        save_record("files", found, above)


if __name__ == "__main__":
    main()
