"""Edges alone: how well vectors know a tenth of the edges that they were made without, beside other methods' vectors.

    python benchmarks/links.py [--datasets cora,photo,cnr-2000] [--seeds 3] [--data-root DIR] [--rows spectral,ours]

Area under the ROC curve of the cosine of two nodes' vectors, 128 columns: hidden edges (at most 20 000) against pairs
of the same degrees without one. Features are withheld; directed links count both ways. NetMF is dense, and left out on
cnr-2000. pycleora is left out where it is not installed, and the table says so. Records go to
benchmarks/results/links.jsonl as they end, and what is on record is not run again.
"""

import argparse
import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from label_free import netmf_vectors, spectral_vectors
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.datasets import data_root
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run, carry_out
from fdmvgcl.experiments.tables import MISSING, Table, write_tables
from fdmvgcl.graphs.held_out import Pairs, cosines, hide_edges
from fdmvgcl.learning.controls import control

FOLDER = Path(__file__).parent / "results"
CNR, DIM = "cnr-2000", 128
DATASETS = ("cora", "photo", CNR)
OWN = ("columns made of the edges", "ours")

Vectors = Callable[[Graph, int], NDArray[Any]]


@cache
def edges_of(name: str) -> Graph:
    if name != CNR:
        return benchmark(name).graph.without_features()
    with np.load(data_root() / CNR / "raw" / "cnr-2000_csr.npz") as arrays:
        indptr, indices = arrays["indptr"], arrays["indices"]
    count = len(indptr) - 1
    links = sparse.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(count, count))
    both = links.maximum(links.T)
    both.setdiag(0)
    both.eliminate_zeros()
    return Graph.from_scipy(both)


@cache
def hidden(name: str, seed: int) -> tuple[Graph, Pairs, Pairs]:
    return hide_edges(edges_of(name), seed)


def measure(name: str, seed: int, vectors: Vectors) -> Record:
    graph, edges, others = hidden(name, seed)
    pairs = np.concatenate([edges, others])
    truth, scores = np.arange(len(pairs)) < len(edges), cosines(vectors(graph, seed), pairs)
    precision = float(average_precision_score(truth, scores))
    return {"auc": float(roc_auc_score(truth, scores)), "precision": precision, "hidden": len(edges)}


def pycleora_vectors(graph: Graph, seed: int, **settings: Any) -> NDArray[np.float32]:
    """pycleora's ``embed`` with its own defaults but for the width."""
    import pycleora

    edges = sparse.triu(graph.adjacency, k=1).tocoo()
    lines = (f"{i} {j}" for i, j in zip(edges.row, edges.col, strict=True))
    made = pycleora.SparseMatrix.from_iterator(lines, "complex::reflexive::node")
    found = pycleora.embed(made, feature_dim=DIM, seed=seed, **settings)
    rows = np.zeros((graph.num_nodes, DIM), np.float32)
    rows[np.array(made.entity_ids, dtype=np.int64)] = found  # a node without edges has none
    return rows


def ours(graph: Graph, seed: int) -> NDArray[np.float32]:
    return FDMVGCL(dim=DIM, seed=seed).fit_transform(graph)


def structure(graph: Graph, seed: int) -> NDArray[np.float32]:
    """The columns made of the edges, as ``--control structure`` writes them."""
    model = FDMVGCL(dim=DIM, seed=seed)
    return control(model, model.prepare(graph), "structure").transform(graph)


ROWS: dict[str, Vectors] = {
    "spectral": lambda graph, seed: spectral_vectors(graph),
    "NetMF": lambda graph, seed: netmf_vectors(graph),
    "pycleora": pycleora_vectors,
    "pycleora (4 steps)": partial(pycleora_vectors, num_iterations=4, whiten=False),
    "columns made of the edges": structure,
    "ours": ours,
}
OTHERS = tuple(row for row in ROWS if row not in OWN)


def runs(datasets: tuple[str, ...], rows: tuple[str, ...], seeds: int) -> list[Run]:
    return [
        Run({"dataset": name, "row": row, "seed": seed}, partial(measure, name, seed, ROWS[row]))
        for name in datasets
        for seed in range(seeds)
        for row in rows
        if not (name == CNR and row == "NetMF")
    ]


def table(records: RecordFile, measured: str, title: str) -> Table:
    lines = []
    for name in records.datasets(DATASETS):
        found = {row: [r[measured] for r in records.matching(dataset=name, row=row)] for row in ROWS}
        cells = [f"{100 * np.mean(values):.1f}" if values else MISSING for values in found.values()]
        others = [np.mean(found[row]) for row in OTHERS if found[row]]
        above = f"{100 * (np.mean(found['ours']) - max(others)):+.1f}" if others and found["ours"] else MISSING
        lines.append([name, *cells, above, str(len(found["ours"]))])
    header = ("data set", *ROWS, "above the best other method", "draws")
    note = (
        f"128 columns, features withheld, means of the draws of hidden edges. {MISSING}: not run, as NetMF is dense, "
    )
    note += "and pycleora no dependency. pycleora has its own defaults first, and then four steps and no whitening."
    return Table(title, header, lines, [note])


def render(records: RecordFile) -> list[Path]:
    told = "hidden edges against pairs of the same degrees, in %"
    tables = [table(records, "auc", f"Area under the ROC curve, {told}")]
    return write_tables([*tables, table(records, "precision", f"Average precision, {told}")], FOLDER / "links")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data-root")
    given = parser.parse_args()
    if given.data_root:
        os.environ["FDMVGCL_DATA"] = given.data_root
    asked = tuple(given.rows.split(","))
    try:
        import pycleora  # noqa: F401
    except ImportError:
        print("pycleora is not installed and left out")
        asked = tuple(row for row in asked if not row.startswith("pycleora"))
    kept = RecordFile(FOLDER / "links.jsonl")
    for run, record in carry_out(runs(tuple(given.datasets.split(",")), asked, given.seeds), kept):
        print(*run.key.values(), f"{record['auc']:.4f}", f"{record['seconds']:.0f} s", flush=True)
    for path in render(kept):
        print(path)
