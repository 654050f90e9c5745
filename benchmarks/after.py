"""What comes after embedding, each command started anew, on a folder of 100 000 nodes × 512 dimensions.

python benchmarks/after.py FOLDER [PART ...] [--nodes N]

FOLDER keeps the graph and its embedding, so that parts can be measured one after the other: embed, update, similar,
cluster, links, hidden, export; all of them without a name. Parts add to one record.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import RESULTS, in_own_process, peak_memory, print_table, save_record

from fdmvgcl import Graph
from fdmvgcl.results.export import export_vectors
from fdmvgcl.results.outputs import ResultFolder

NODES, DIM, GROUPS, DEGREE, COLUMNS = 100_000, 512, 50, 10, 64
NEW_EDGES, ASKED, CLUSTERS, TOP, REPEATS = 1000, 1000, 50, 10_000, 3
# A small process that starts the command: its own memory is not counted as the command's.
LAUNCHER = (
    "import json, resource, subprocess, sys, time; start = time.perf_counter(); "
    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
    "print(json.dumps({'seconds': time.perf_counter() - start, "
    "'bytes': 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}))"
)

Found = dict[str, float]


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
    features = 2 * np.eye(GROUPS, COLUMNS, dtype=np.float32)[groups]
    features += generator.random((nodes, COLUMNS), dtype=np.float32)
    return Graph.from_edges(source, target, nodes=np.arange(nodes), features=features)


def write_edges(path: Path, pairs: np.ndarray) -> None:
    np.savetxt(path, pairs, "%d", ",", header="source,target", comments="")


class Files:
    """What a user would have: the graph as files, and the folder that ``embed`` leaves."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, ResultFolder(folder / "out")
        self.edges, self.features = folder / "edges.csv", folder / "nodes.parquet"

    def write(self, nodes: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        graph = planted(nodes)
        entries = graph.adjacency.tocoo()
        kept = entries.row < entries.col
        write_edges(self.edges, np.stack([entries.row[kept], entries.col[kept]], 1))
        table = np.asarray(graph.features)
        columns = {"id": list(graph.ids)} | {f"f{i}": table[:, i] for i in range(table.shape[1])}
        pq.write_table(pa.table(columns), self.features)


def run(*arguments: object) -> Found:
    """Seconds that a command takes, from its start to its end, and the most bytes that it ever had."""
    command = [sys.executable, "-c", LAUNCHER, sys.executable, "-m", "fdmvgcl", *map(str, arguments)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def least(*arguments: object) -> Found:
    """The shortest of three runs: what else a shared machine does only adds."""
    return min((run(*arguments) for _ in range(REPEATS)), key=lambda found: found["seconds"])


def embed(files: Files, nodes: int) -> dict[str, Found]:
    shutil.rmtree(files.out.path, ignore_errors=True)
    files.write(nodes)
    given = ("--features", files.features, "--dim", DIM, "--no-report", "-q")
    return {"embed": run("embed", files.edges, *given, "-o", files.out.path)}


def update(files: Files, nodes: int) -> dict[str, Found]:
    changed, new = files.folder / "changed", files.folder / "new.csv"
    shutil.copytree(files.out.path, changed, dirs_exist_ok=True)
    write_edges(new, np.random.default_rng(1).integers(nodes, size=(NEW_EDGES, 2)))
    return {f"update, {NEW_EDGES} new edges": run("update", changed, new, "--no-report", "-q")}


def similar(files: Files, nodes: int) -> dict[str, Found]:
    ids = files.folder / "ids.txt"
    ids.write_text("id\n" + "\n".join(map(str, range(min(ASKED, nodes)))) + "\n")
    return {f"similar, {ASKED} ids": least("similar", files.out.path, "--ids", ids)}


def cluster(files: Files, nodes: int) -> dict[str, Found]:
    to = files.folder / "clusters.csv"
    return {f"cluster, k = {CLUSTERS}": least("cluster", files.out.path, "-k", CLUSTERS, "-o", to, "--force")}


def links(files: Files, nodes: int) -> dict[str, Found]:
    """Answers alone."""
    to = ("-o", files.folder / "links.parquet", "--force")
    return {
        "links, one node": least("links", files.out.path, "--id", 7, "--no-check"),
        f"links, top {TOP}": run("links", files.out.path, "-k", TOP, "--no-check", *to),
    }


def hidden(files: Files, nodes: int) -> dict[str, Found]:
    """With the measurement of how good links are, which the first answer without ``--no-check`` makes."""
    files.out.checks.unlink(missing_ok=True)
    return {"links, one node, and the AUC of hidden edges, once": run("links", files.out.path, "--id", 7)}


def export(files: Files, nodes: int) -> dict[str, Found]:
    """Beside each the export alone, without the start of a process, and the disk: as many bytes made durable."""
    found = {}
    for ending in ("parquet", "npy", "csv", "vec"):
        target = files.folder / f"vectors.{ending}"
        taken = least("export", files.out.path, "-o", target, "--force")
        own = in_own_process(__file__, os.fspath(files.out.embeddings), os.fspath(target))
        disk = min(copied(target, files.folder / "copy") for _ in range(REPEATS))
        found[f"export .{ending}"] = taken | {
            "alone": own["seconds"],
            "disk": disk,
            "written": float(target.stat().st_size),
            "copies": own["bytes"] / (4 * nodes * DIM),
        }
        target.unlink()
    return found


def copied(path: Path, to: Path) -> float:
    """How long the disk takes for as many bytes, written as one file and made durable."""
    data, start = path.read_bytes(), time.perf_counter()
    with open(to, "wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())
    seconds = time.perf_counter() - start
    to.unlink()
    return seconds


def child(source: str, target: str) -> None:
    """Exports in a process that has begun: the least time of three, and memory above what the process takes itself."""
    before, seconds = peak_memory(), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        export_vectors(source, target)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"bytes": peak_memory() - before, "seconds": min(seconds)}))


PARTS: dict[str, Callable[[Files, int], dict[str, Found]]] = {
    "embed": embed,
    "update": update,
    "similar": similar,
    "cluster": cluster,
    "links": links,
    "hidden": hidden,
    "export": export,
}


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--nodes", type=int, default=NODES)
    asked = parser.parse_args()
    found: dict[str, Found] = {}
    for name in asked.parts or PARTS:
        found |= PARTS[name](Files(asked.folder), asked.nodes)
    print_table(
        ["what", "s", "peak MB"], [[name, each["seconds"], each["bytes"] / 1e6] for name, each in found.items()]
    )
    if asked.nodes == NODES:
        kept = RESULTS / "after.json"
        earlier = json.loads(kept.read_bytes())["measured"] if kept.exists() else {}
        save_record("after", earlier | found, {"nodes": NODES, "dim": DIM})


if __name__ == "__main__":
    main()
