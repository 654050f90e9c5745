"""Trained on a sample of rows, beside all rows: a plain linear probe, paired by seed and split.

    python benchmarks/train_rows.py [--datasets cora,photo] [--seeds 2] [--data-root DIR]

The public splits, or the first four seeded ones of 10/10/80 %. Records go to benchmarks/results/train_rows.jsonl as
they end, and what is on record is not run again; the table is made of them. ``within`` is where the interval of the
difference holds 0 or lies above it.
"""

import argparse
import os
from functools import partial
from pathlib import Path

from label_free import probed

from fdmvgcl import FDMVGCL, Schedule
from fdmvgcl.evaluation import paired_difference, summarise
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run, carry_out
from fdmvgcl.experiments.tables import Table, percent, write_tables

FOLDER = Path(__file__).parent / "results"
DATASETS = ("photo", "pubmed", "cora", "citeseer", "acm", "blogcatalog", "dblp", "computers")
ROWS, DIM = ("all", 1000, 2000), 128


def sampled(name: str, rows: int | str, seed: int) -> Record:
    bench = benchmark(name)
    model = FDMVGCL(dim=DIM, seed=seed, schedule=Schedule(train_rows=rows))
    return {"nodes": bench.graph.num_nodes, **probed(bench, model.fit_transform(bench.graph))}


def runs(datasets: tuple[str, ...], seeds: int) -> list[Run]:
    return [
        Run({"dataset": name, "rows": rows, "seed": seed}, partial(sampled, name, rows, seed))
        for seed in range(seeds)
        for name in datasets
        for rows in ROWS
    ]


def lines(records: RecordFile, name: str) -> list[list[str]]:
    """One for each number of rows of which all that have a partner among all rows count."""
    whole = {record["key"]["seed"]: record for record in records.matching(dataset=name, rows="all")}
    found = []
    for rows in ROWS[1:]:
        pairs = [
            (r, whole[seed]) for r in records.matching(dataset=name, rows=rows) if (seed := r["key"]["seed"]) in whole
        ]
        if not pairs:
            continue
        ours, theirs = ([pair[side]["test"] for pair in pairs] for side in (0, 1))
        gap = paired_difference(ours, theirs)
        shown = [f"{100 * end:+.2f}" for end in (gap.mean, gap.low, gap.high) if end is not None]
        within = "" if gap.high is None else "yes" if gap.high >= 0 else "no"
        cells = [percent(summarise(each).mean) for each in (theirs, ours)]
        nodes = str(pairs[0][0]["nodes"])
        found.append([name, nodes, str(rows), str(len(pairs)), *cells, shown[0], " to ".join(shown[1:]), within])
    return found


def render(records: RecordFile) -> list[Path]:
    header = ("data set", "nodes", "rows", "seeds", "all rows", "sample", "difference", "95 % interval", "within")
    rows = [line for name in DATASETS for line in lines(records, name)]
    title = f"Test accuracy in %, trained on a sample of rows ({DIM} dimensions)"
    return write_tables([Table(title, header, rows, [])], FOLDER / "train_rows") if rows else []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--data-root")
    given = parser.parse_args()
    if given.data_root:
        os.environ["FDMVGCL_DATA"] = given.data_root
    kept = RecordFile(FOLDER / "train_rows.jsonl")
    for run, _ in carry_out(runs(tuple(given.datasets.split(",")), given.seeds), kept):
        print(*run.key.values(), flush=True)
    for path in render(kept):
        print(path)
