"""What comes after embedding, each command started anew, on a folder of 100 000 nodes × 512 dimensions.

python benchmarks/after.py [NODES]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from harness import in_own_process, peak_memory, print_table, save_record

from fdmvgcl import Graph
from fdmvgcl.evaluation.standing import Measured, Standing
from fdmvgcl.results.export import export_vectors
from fdmvgcl.results.outputs import ResultFolder

NODES, DIM, GROUPS, DEGREE, COLUMNS = 100_000, 512, 50, 10, 64
PROGRAM = [sys.executable, "-m", "fdmvgcl"]


def planted(nodes: int) -> Graph:
    """Groups of nodes, nine edges in ten inside, with features that tell the group among noise."""
    generator = np.random.default_rng(0)
    groups = generator.integers(GROUPS, size=nodes)
    order = np.argsort(groups, kind="stable")
    place = np.empty(nodes, np.int64)
    place[order] = np.arange(nodes)
    source = generator.integers(nodes, size=nodes * DEGREE // 2)
    near = order[np.clip(place[source] + generator.integers(-500, 501, size=len(source)), 0, nodes - 1)]
    target = np.where(generator.random(len(source)) < 0.9, near, generator.integers(nodes, size=len(source)))
    features = np.eye(GROUPS, COLUMNS, dtype=np.float32)[groups] + generator.random((nodes, COLUMNS), dtype=np.float32)
    return Graph.from_edges(source, target, nodes=np.arange(nodes), features=features)


def files(graph: Graph, folder: Path) -> tuple[Path, Path]:
    """The graph as files that a user would have."""
    edges, features = folder / "edges.csv", folder / "nodes.parquet"
    entries = graph.adjacency.tocoo()
    kept = entries.row < entries.col
    np.savetxt(
        edges, np.stack([entries.row[kept], entries.col[kept]], 1), "%d", ",", header="source,target", comments=""
    )
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = np.asarray(graph.features)
    columns = {"id": list(graph.ids)} | {f"f{i}": table[:, i] for i in range(table.shape[1])}
    pq.write_table(pa.table(columns), features)
    return edges, features


def seconds(*arguments: object) -> float:
    """How long a command takes, from its start to its end."""
    start = time.perf_counter()
    subprocess.run([*PROGRAM, *map(str, arguments)], check=True, capture_output=True)
    return time.perf_counter() - start


def copied(path: Path, scratch: Path) -> float:
    """How long the disk takes for as many bytes, written as one file and made durable."""
    data, start = path.read_bytes(), time.perf_counter()
    with open(scratch / "copy", "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    return time.perf_counter() - start


def child(source: str, target: str) -> None:
    """Memory of an export, in a process of its own, above what the process takes by itself."""
    before = peak_memory()
    export_vectors(source, target)
    print(json.dumps({"bytes": peak_memory() - before}))


def measure(nodes: int, scratch: Path) -> dict[str, Any]:
    edges, features = files(planted(nodes), scratch)
    out = ResultFolder(scratch / "out")
    embed = ("embed", edges, "--features", features, "--dim", DIM, "--no-report", "-q", "-o")
    found: dict[str, Any] = {"embed": seconds(*embed, out.path)}
    new = scratch / "new.csv"
    pairs = np.random.default_rng(1).integers(nodes, size=(1000, 2))
    np.savetxt(new, pairs, "%d", ",", header="source,target", comments="")
    found["update, 1000 edges"] = seconds("update", out.path, new, "--no-report", "-q")
    standing = Standing("AUC", "not measured here", Measured("embedding", (0.5,)), ())
    out.write_checks("links", [standing.record()])
    ids = scratch / "ids.txt"
    ids.write_text("id\n" + "\n".join(map(str, range(min(1000, nodes)))) + "\n")
    found["similar, 1000 ids"] = seconds("similar", out.path, "--ids", ids)
    found["cluster, k = 50"] = seconds("cluster", out.path, "-k", 50, "-o", scratch / "clusters.csv")
    found["links, one node"] = seconds("links", out.path, "--id", 7)
    found["links, top 10 000"] = seconds("links", out.path, "-k", 10_000, "-o", scratch / "links.parquet")
    one_copy = 4 * nodes * DIM
    for ending in ("parquet", "npy", "csv", "vec"):
        target = scratch / f"vectors.{ending}"
        found[f"export .{ending}"] = seconds("export", out.path, "-o", target)
        found[f"export .{ending}, bytes written anew by the disk"] = copied(target, scratch)
        memory = in_own_process(__file__, str(out.embeddings), str(scratch / f"again.{ending}"))["bytes"]
        found[f"export .{ending}, memory in copies of the vectors"] = memory / one_copy
    return found


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
        return
    nodes = int(sys.argv[1]) if sys.argv[1:] else NODES
    with tempfile.TemporaryDirectory() as scratch:
        found = measure(nodes, Path(scratch))
    print_table(["what", "s (or copies)"], [[name, value] for name, value in found.items()])
    if nodes == NODES:
        save_record("after", found, {"nodes": nodes, "dim": DIM})


if __name__ == "__main__":
    main()
