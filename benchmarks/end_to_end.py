"""From a Parquet file to vectors and report: ``fdmvgcl embed`` on graphs of up to 100 million edges.

    python benchmarks/end_to_end.py [--sizes 100k,1M,10M] [--scratch DIR] [--options "--dim 64 --memory 4GB"]

Graphs have communities and skewed degrees, and are drawn by a seed; ``cnr`` is cnr-2000 (real, directed, of the data
root). Each runs in a process of its own, with default epochs and the report. Of each phase the seconds, the CPU seconds
of all threads and the peak of memory. What was measured stays on record until the same is measured again. The first run
of a size and width leaves its vectors in the scratch folder, and later ones are held against them.
"""

import argparse
import json
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import machine, print_table, save_rows
from phases import run

from fdmvgcl.datasets import data_root
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile

# Nodes, edges, columns of features.
SIZES = {"10k": (10_000, 100_000, 128), "100k": (100_000, 1_000_000, 128), "1M": (1_000_000, 10_000_000, 128)}
SIZES["10M"] = (10_000_000, 100_000_000, 64)
KEYS = ("size", "options")
CNR, CNR_SIZE = "cnr", (325_557, 3_216_152, 0)
_COMMUNITY, _MIXING, _TOPICS, _PIECE = 1000, 0.2, 16, 2_000_000


def edges_of(nodes: int, edges: int, seed: int = 0) -> Iterator[pa.Table]:
    """Edges in pieces: four of five within a community of a thousand, ends of skewed degrees."""
    rng = np.random.default_rng(seed)
    size = min(_COMMUNITY, nodes)
    for start in range(0, edges, _PIECE):
        count = min(_PIECE, edges - start)
        source = rng.integers(0, nodes, count)
        near = np.minimum(source // size * size + (size * rng.random(count) ** 2).astype(np.int64), nodes - 1)
        far = (nodes * rng.random(count) ** 2).astype(np.int64)
        target = np.where(rng.random(count) < _MIXING, far, near)
        yield pa.table({"source": source, "target": target})


def features_of(nodes: int, columns: int, seed: int = 1) -> Iterator[pa.Table]:
    """Rows in pieces: a mean of the community, made of a few topics as words are, and noise."""
    rng = np.random.default_rng(seed)
    size, step = min(_COMMUNITY, nodes), max(1, _PIECE // columns)
    topics = rng.standard_normal((_TOPICS, columns)) / _TOPICS**0.5
    means = (rng.standard_normal((-(-nodes // size), _TOPICS)) @ topics).astype(np.float32)
    for start in range(0, nodes, step):
        numbers = np.arange(start, min(nodes, start + step))
        rows = means[numbers // size] + 2 * rng.standard_normal((len(numbers), columns), np.float32)
        yield pa.table({"id": numbers, **{f"x{j}": rows[:, j] for j in range(columns)}})


def cnr_edges() -> Iterator[pa.Table]:
    """The links of cnr-2000, from page to page."""
    with np.load(data_root() / "cnr-2000" / "raw" / "cnr-2000_csr.npz") as arrays:
        indptr, indices = arrays["indptr"], arrays["indices"]
    yield pa.table({"source": np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), "target": indices})


def write(path: Path, tables: Iterator[pa.Table]) -> None:
    """Pieces as one Parquet file, unless it is there."""
    if path.exists():
        return
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as file:
        file.write_table(first)
        for table in tables:
            file.write_table(table)


def files_of(name: str, folder: Path) -> list[str]:
    """SOURCE and options of a size."""
    if name == CNR:
        write(folder / "cnr-edges.parquet", cnr_edges())
        return [str(folder / "cnr-edges.parquet")]
    nodes, edges, columns = SIZES[name]
    write(folder / f"{name}-edges.parquet", edges_of(nodes, edges))
    write(folder / f"{name}-nodes.parquet", features_of(nodes, columns))
    return [str(folder / f"{name}-edges.parquet"), "--features", str(folder / f"{name}-nodes.parquet")]


def measure(name: str, folder: Path, options: list[str]) -> dict[str, Any]:
    """One run, with what it left on disk."""
    files, record, output = files_of(name, folder), folder / f"{name}.json", folder / f"{name}-out"
    about, start = machine(), time.perf_counter()
    code = run(record, [*files, "-o", str(output), "--quiet", *options])
    whole = time.perf_counter() - start
    size = dict(zip(("nodes", "edges", "columns"), SIZES.get(name, CNR_SIZE), strict=True))
    if code != 0:
        raise SystemExit(f"{name}: exit code {code}, nothing is recorded")
    found = {"size": name, **size, "options": options, "machine": about, "seconds": whole}
    found["apart"] = apart(output, folder / name)
    found["disk_bytes"] = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    shutil.rmtree(output, ignore_errors=True)
    return found | json.loads(record.read_text())


def apart(output: Path, first: Path) -> float | None:
    """The largest difference from the first run's vectors, as a part of their largest number; None for the first."""
    with VectorFile(ResultFolder(output).embeddings) as file:
        z = file.read("z")
    kept = first.with_name(f"{first.name}-{z.shape[1]}.npy")
    if not kept.exists():
        np.save(kept, z)
        return None
    known = np.load(kept)
    return float(np.abs(z - known).max() / np.abs(known).max())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100k", help=f"of {', '.join(SIZES)} and {CNR}, separated by commas")
    parser.add_argument("--scratch", type=Path, help="where graphs are kept between runs; else a temporary folder")
    parser.add_argument("--options", default="--dim 64", help="for embed")
    parser.add_argument("--no-record", action="store_true", help="only print")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    folder = options.scratch or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.sizes.split(","):
        row = measure(name, folder, shlex.split(options.options))
        whole = row | {"cpu_seconds": sum(took["cpu_seconds"] for took in row["phases"].values())}
        cells = [
            [name, phase, took["seconds"], took["cpu_seconds"], took["peak_bytes"] / 1e9]
            for phase, took in [*row["phases"].items(), ("all", whole)]
        ]
        print_table(["size", "phase", "s", "CPU s", "peak GB"], cells)
        if not options.no_record:
            save_rows("end_to_end", [row], KEYS)
    if options.scratch is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
