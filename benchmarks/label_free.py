"""The default beside controls that see no labels either, on graphs with their features and on edges alone.

    python benchmarks/label_free.py [--datasets cora,photo] [--seeds 1] [--data-root DIR]

A plain linear probe on the public splits, or on the first four seeded ones of 10/10/80 %. Records go to
benchmarks/results/label_free.jsonl as they end, and what is on record is not run again; the table is made of them.
"""

import argparse
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.decomposition import PCA

from fdmvgcl import FDMVGCL, Graph, diffuse
from fdmvgcl.evaluation import summarise
from fdmvgcl.experiments.benchmark import Benchmark, benchmark, scored
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run, carry_out
from fdmvgcl.experiments.tables import Table, percent, write_tables

FOLDER = Path(__file__).parent / "results"
DEVELOPMENT = ("cora", "photo", "wisconsin", "chameleon", "acm", "blogcatalog", "dblp", "twitch_es")
OTHERS = ("citeseer", "pubmed", "computers", "squirrel", "crocodile", "actor", "cornell", "texas")
EDGES_ALONE = ("polblogs", "cora", "acm", "blogcatalog", "photo", "dblp")
SPLITS, WIDEST, COMPONENTS = 4, 4096, 512
ALPHA, TIMES = 0.7, (1.0, 3.0)
DIM, STEPS = 128, 5


def probed(bench: Benchmark, z: Any) -> Record:
    splits = range(len(bench.splits) if bench.dataset.public_splits else SPLITS)
    return scored(bench.probe([z], list(splits)))


def narrowed(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Principal components in place of columns that are very many."""
    return x if x.shape[1] <= WIDEST else PCA(COMPONENTS, random_state=0).fit_transform(x).astype(np.float32)


def features(name: str) -> NDArray[np.float32]:
    table: Any = benchmark(name).graph.features
    return np.asarray(table.toarray() if sparse.issparse(table) else table, np.float32)


def raw(name: str) -> Record:
    return probed(benchmark(name), narrowed(features(name)))


def diffused(name: str, time: float) -> Record:
    bench = benchmark(name)
    return probed(bench, narrowed(diffuse(bench.graph, torch.from_numpy(features(name)), ALPHA, time).numpy()))


def default(name: str, seed: int) -> Record:
    bench = benchmark(name)
    model = FDMVGCL(seed=seed)
    return {"told": list(model.prepare(bench.graph).sentences), **probed(bench, model.fit_transform(bench.graph))}


def spectral_vectors(graph: Graph) -> NDArray[np.float64]:
    """128 eigenvectors of the normalised adjacency, times the root of their value, over the root of the degree."""
    root = np.sqrt(np.maximum(graph.degrees, 1e-12))
    inverse = sparse.diags_array(np.where(graph.degrees > 0, 1 / root, 0))
    start = np.random.default_rng(0).standard_normal(len(root))
    values, vectors = eigsh((inverse @ graph.adjacency @ inverse).tocsr(), k=DIM, which="LA", v0=start)
    return np.asarray(inverse @ (vectors * np.sqrt(np.maximum(values, 0))))


def netmf_vectors(graph: Graph) -> NDArray[np.float32]:
    """NetMF (Qiu et al. 2018), dense: 128 singular vectors of the truncated log of the five-step proximity."""
    degrees = graph.degrees
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    walk = sparse.diags_array(inverse) @ graph.adjacency
    power = total = walk.toarray().astype(np.float32)
    for _ in range(STEPS - 1):
        power = walk.astype(np.float32) @ power
        total = total + power
    proximity = np.log(np.maximum(degrees.sum() / STEPS * total * inverse[None].astype(np.float32), 1))
    left, values, _ = torch.svd_lowrank(torch.from_numpy(proximity), q=DIM + 16, niter=6)
    return np.asarray((left * values.sqrt())[:, :DIM].numpy())


def spectral(name: str) -> Record:
    bench = benchmark(name)
    return probed(bench, spectral_vectors(bench.graph))


def netmf(name: str) -> Record:
    bench = benchmark(name)
    return probed(bench, netmf_vectors(bench.graph))


def edges_alone(name: str, seed: int) -> Record:
    bench = benchmark(name)
    return probed(bench, FDMVGCL(dim=DIM, seed=seed).fit_transform(bench.graph.without_features()))


def runs(datasets: tuple[str, ...], seeds: int) -> list[Run]:
    made: list[Run] = []
    for name in datasets:
        controls: dict[str, Callable[[], Record]] = {}
        if name in DEVELOPMENT + OTHERS:
            controls |= {"raw": partial(raw, name)}
            controls |= {f"diffused, T = {time:g}": partial(diffused, name, time) for time in TIMES}
        if name in EDGES_ALONE:
            controls |= {"spectral": partial(spectral, name), "NetMF": partial(netmf, name)}
        made += [Run({"dataset": name, "row": row}, run) for row, run in controls.items()]
        for seed in range(seeds):
            if name in DEVELOPMENT + OTHERS:
                made.append(Run({"dataset": name, "row": "default", "seed": seed}, partial(default, name, seed)))
            if name in EDGES_ALONE:
                key = {"dataset": name, "row": "edges alone", "seed": seed}
                made.append(Run(key, partial(edges_alone, name, seed)))
    return made


def scores(records: RecordFile, name: str, row: str) -> list[list[float]]:
    return [record["test"] for record in records.matching(dataset=name, row=row)]


def table(records: RecordFile, title: str, datasets: tuple[str, ...], rows: tuple[str, ...]) -> Table:
    """Test accuracy; the last row of each is ours, and the last column how far it is above the best control."""
    lines, above = [], []
    for name in datasets:
        found = [scores(records, name, row) for row in rows]
        if not all(found):
            continue
        means = [summarise(each).mean for each in found]
        above.append(100 * (means[-1] - max(means[:-1])))
        lines.append([name, *map(percent, means), f"{above[-1]:+.1f}", str(len(found[-1]))])
    header = ("data set", *rows, "above the best", "seeds")
    if not above:
        return Table(title, header, [], [])
    note = f"On average {np.mean(above):+.1f} points above the best control of each; at worst {min(above):+.1f}."
    return Table(title, header, lines, [note, *structure_told(records, datasets, rows[-1])])


def structure_told(records: RecordFile, datasets: tuple[str, ...], row: str) -> list[str]:
    """On which graphs the default took columns made of the edges beside the features, and so can have lost by them."""
    if row != "default":
        return []
    taken = [
        name
        for name in datasets
        for record in records.matching(dataset=name, row=row)
        if any("made of the edges" in sentence for sentence in record["told"])
    ]
    names = ", ".join(dict.fromkeys(taken)) or "none of them, so that real features lose nothing by it"
    return [f"Columns made of the edges were put beside the features on {names}."]


def render(records: RecordFile) -> list[Path]:
    controls = ("raw", *(f"diffused, T = {time:g}" for time in TIMES), "default")
    tables = [
        table(records, "Test accuracy in %, graphs on which the rules were developed", DEVELOPMENT, controls),
        table(records, "Test accuracy in %, other graphs", OTHERS, controls),
        table(records, "Test accuracy in %, edges alone", EDGES_ALONE, ("spectral", "NetMF", "edges alone")),
    ]
    return write_tables([each for each in tables if each.rows], FOLDER / "label_free")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(dict.fromkeys((*DEVELOPMENT, *OTHERS, *EDGES_ALONE))))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data-root")
    given = parser.parse_args()
    if given.data_root:
        os.environ["FDMVGCL_DATA"] = given.data_root
    kept = RecordFile(FOLDER / "label_free.jsonl")
    for run, _ in carry_out(runs(tuple(given.datasets.split(",")), given.seeds), kept):
        print(*run.key.values(), flush=True)
    for path in render(kept):
        print(path)
