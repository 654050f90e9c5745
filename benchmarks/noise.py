"""Random columns beside edges that tell: what they take from a graph that is read without them.

    python benchmarks/noise.py [--seeds 6]

Three planted groups of 200 nodes, an edge within a group with chance 3 %, across with 1.2 or 1.6 %, where groups hardly
show any more; beside them columns of noise, counts, or a constant. A plain linear probe on six splits of 10/10/80 %, by
default but for the seed, which is that of the graph, too. Records go to benchmarks/results/noise.jsonl.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.datasets.dataset import seeded_splits
from fdmvgcl.evaluation import Search, Trial, evaluate, paired_difference, summarise
from fdmvgcl.experiments.benchmark import scored
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run, carry_out
from fdmvgcl.experiments.tables import Table, percent, points, write_tables

FOLDER = Path(__file__).parent / "results"
GROUPS, SIZE, INSIDE, ACROSS = 3, 200, 0.03, (0.012, 0.016)
NODES = GROUPS * SIZE
ALONE = "no columns"

Columns = Callable[[np.random.Generator], NDArray[np.float64]]
COLUMNS: dict[str, Columns | None] = {
    ALONE: None,
    **{f"{count} of noise": lambda rng, count=count: rng.standard_normal((NODES, count)) for count in (1, 3, 30, 300)},
    "50 of counts": lambda rng: rng.poisson(1, (NODES, 50)).astype(float),
    "3 constant": lambda rng: np.ones((NODES, 3)),
}


def measure(across: float, columns: Columns | None, seed: int) -> Record:
    chances = np.full((GROUPS, GROUPS), across) + np.eye(GROUPS) * (INSIDE - across)
    graph = Graph.from_networkx(nx.stochastic_block_model([SIZE] * GROUPS, chances.tolist(), seed=seed))
    labels = np.array([int(node) // SIZE for node in graph.ids])
    if columns is not None:
        graph = graph.with_features(columns(np.random.default_rng(seed)))
    z = FDMVGCL(seed=seed).fit_transform(graph)
    splits = seeded_splits(labels, train=0.1, val=0.1, count=6)
    return scored(evaluate([Trial({}, lambda: [z])], labels, splits, metric="accuracy", search=Search(screen=True)))


def runs(seeds: int) -> list[Run]:
    return [
        Run({"across": across, "columns": name, "seed": seed}, partial(measure, across, columns, seed))
        for seed in range(seeds)
        for across in ACROSS
        for name, columns in COLUMNS.items()
    ]


def render(records: RecordFile) -> list[Path]:
    rows = []
    for name in COLUMNS:
        cells = [name]
        for across in ACROSS:
            found = [record["test"] for record in records.matching(across=across, columns=name)]
            alone = [record["test"] for record in records.matching(across=across, columns=ALONE)]
            cells += [percent(summarise(found).mean), "" if name == ALONE else points(paired_difference(found, alone))]
        rows.append([*cells, str(len(found))])
    header = ["columns beside the edges"]
    for across in ACROSS:
        header += [f"{across:.1%} across", "above no columns"]
    title = "Three planted groups, test accuracy in %"
    return write_tables([Table(title, [*header, "graphs"], rows, ["With 95 % intervals."])], FOLDER / "noise")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    kept = RecordFile(FOLDER / "noise.jsonl")
    for run, _ in carry_out(runs(parser.parse_args().seeds), kept):
        print(*run.key.values(), flush=True)
    for path in render(kept):
        print(path)
