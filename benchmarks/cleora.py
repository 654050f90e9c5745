"""cnr-2000 from a Parquet file to vectors, by ``fdmvgcl embed`` and by pycleora: seconds, memory, and hidden links.

    python benchmarks/cleora.py --python PYTHON [--data-root DIR] [--no-record]

PYTHON is one that has pycleora, numpy and pyarrow, in an environment of its own. A tenth of the links are hidden first,
the same from both; area under the ROC curve of the cosine of two nodes' vectors, hidden links (at most 20 000) against
pairs of the same degrees without one. Both take 128 columns and defaults, pycleora also four steps without whitening.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import machine, print_table, save_rows
from links import CNR, DIM, hidden
from phases import run
from scipy import sparse
from sklearn.metrics import roc_auc_score

from fdmvgcl.graphs.held_out import cosines
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile

ALONE = Path(__file__).with_name("pycleora_alone.py")


def ours(edges: Path, folder: Path, count: int) -> tuple[dict[str, Any], np.ndarray]:
    """``fdmvgcl embed`` with its defaults but for the width; the report is left out, as pycleora makes none."""
    record, output = folder / "ours.json", folder / "out"
    assert run(record, [str(edges), "--dim", str(DIM), "--no-report", "--quiet", "-o", str(output)]) == 0
    took = json.loads(record.read_text())
    with VectorFile(ResultFolder(output).embeddings) as file:
        found, ids = file.read("z"), np.array(file.ids().to_pylist(), dtype=np.int64)
    sums = {name: sum(each[name] for each in took["phases"].values()) for name in ("seconds", "cpu_seconds")}
    return {**sums, "peak_bytes": took["peak_bytes"], "phases": took["phases"]}, _placed(found, ids, count)


def theirs(python: str, edges: Path, folder: Path, count: int, *steps: str) -> tuple[dict[str, Any], np.ndarray]:
    """pycleora in a process of its own."""
    command = [python, str(ALONE), str(edges), str(folder / "theirs.npz"), str(DIM), *steps]
    took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    with np.load(folder / "theirs.npz") as arrays:
        return took, _placed(arrays["z"], arrays["ids"], count)


def _placed(found: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    """Rows by number; a node without edges has none."""
    rows = np.zeros((count, found.shape[1]), np.float32)
    rows[ids] = found
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="with pycleora")
    parser.add_argument("--data-root")
    parser.add_argument("--no-record", action="store_true", help="only print")
    given = parser.parse_args()
    if given.data_root:
        os.environ["FDMVGCL_DATA"] = given.data_root
    graph, edges, others = hidden(CNR, 0)
    pairs = np.concatenate([edges, others])
    truth, links = np.arange(len(pairs)) < len(edges), sparse.triu(graph.adjacency, k=1).tocoo()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "edges.parquet"
        pq.write_table(pa.table({"source": links.row, "target": links.col}), path)
        sides = {
            "fdmvgcl": lambda: ours(path, folder, graph.num_nodes),
            "pycleora": lambda: theirs(given.python, path, folder, graph.num_nodes),
            "pycleora, 4 steps": lambda: theirs(given.python, path, folder, graph.num_nodes, "4"),
        }
        for side, make in sides.items():
            about = machine()
            took, vectors = make()
            auc = float(roc_auc_score(truth, cosines(vectors, pairs)))
            size = {"nodes": graph.num_nodes, "links": links.nnz, "columns": DIM, "machine": about}
            rows.append({"side": side, "auc": auc, **took, **size})
            if not given.no_record:
                save_rows("cleora", rows[-1:], ("side",))
    cells = [[r["side"], r["seconds"], r["cpu_seconds"], r["peak_bytes"] / 1e9, r["auc"]] for r in rows]
    print_table(["", "s", "CPU s", "peak GB", "AUC"], cells)


if __name__ == "__main__":
    main()
