"""The methods under their authors' settings and the plain probe beside their published figures.

    python benchmarks/methods.py [--datasets cora,photo] [--methods dgi,gcn] [--data-root DIR]

Records go to results/methods/oracle.jsonl as they end, and what is on record is not run again.
"""

import argparse
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import hide_test, score, summarise
from fdmvgcl.experiments.benchmark import benchmark, scored
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run, carry_out
from fdmvgcl.experiments.tables import MISSING, Table, percent, write_tables
from fdmvgcl.methods import CLASSIFIERS, make_classifier, make_method

FOLDER = Path(__file__).parents[1] / "results" / "methods"
CLOSE = 0.015
# Ten thousand epochs, all pairs of nodes, and all features filtered in every step: one seed.
LONG = ("bgrl", "graphacl", "polygcl")
# Adam's rate, weight decay and steps of the authors' own probes, which keep the step that is best on validation nodes.
PROBES = {"cca-ssg": (1e-2, 1e-4, 2000), "graphacl": (1e-3, 1e-5, 1000)}

# Published accuracy in %, where it stands, and the authors' settings where they are not the defaults. Cora is on its
# public split, Photo on random ones of 10/10/80.
TABLE_1 = "the FD-MVGCL paper's table, as others printed it"
CASES: dict[tuple[str, str], tuple[float, str, dict[str, Any]]] = {
    ("cora", "gcn"): (81.5, "Kipf & Welling 2017", {}),
    ("cora", "dgi"): (82.3, "Veličković et al. 2019", {}),
    ("cora", "cca-ssg"): (84.2, "Zhang et al. 2021", {}),
    ("cora", "grace"): (81.9, "Zhang et al. 2021, who ran it on the public split", {}),
    ("cora", "graphacl"): (84.2, "Xiao et al. 2023", {}),
    ("cora", "polygcl"): (82.74, TABLE_1, {}),
    ("cora", "bgrl"): (82.7, TABLE_1, {}),
    ("cora", "node2vec"): (67.2, "Veličković et al. 2019, for DeepWalk", {}),
    ("photo", "gcn"): (92.42, "Zhu et al. 2021 (GCA)", {}),
    ("photo", "node2vec"): (89.67, "Zhu et al. 2021 (GCA)", {}),
    ("photo", "dgi"): (91.61, TABLE_1, {}),
    ("photo", "cca-ssg"): (93.14, "Zhang et al. 2021", {"drop_features": 0.2, "drop_edges": 0.3, "features": "none"}),
    ("photo", "grace"): (92.5, TABLE_1, {}),
    ("photo", "bgrl"): (93.17, "Thakoor et al. 2022", {}),
    ("photo", "graphacl"): (
        93.31,
        "Xiao et al. 2023",
        {"epochs": 70, "weight_decay": 0.0, "layers": 1, "temperature": 0.75, "momentum": 0.9, "features": "none"},
    ),
    ("photo", "polygcl"): (91.45, TABLE_1, {}),
}

# Of each figure that is further off: what was measured, and why.
REMARKS: tuple[str, ...] = (
    "CCA-SSG on Cora: its seeds differ by more than a point, and what the authors print is read by their own probe. "
    "Loss, encoder and settings were held against their program line by line. They drop an edge's two directions each "
    "by itself, which go together here.",
)


def oracle(dataset: str, name: str, given: dict[str, Any], seed: int) -> Record:
    """Test scores over the splits, and seconds of training."""
    settings = {**given, "seed": seed}
    bench, started = benchmark(dataset), time.perf_counter()
    if name in CLASSIFIERS:
        found, taken = [], 0.0
        for split in bench.splits:
            started = time.perf_counter()
            known = hide_test(bench.dataset.labels, split)
            model = make_classifier(name, **settings).fit(bench.graph, known, split)
            taken += (time.perf_counter() - started) / len(bench.splits)
            decided = model.decide(bench.graph)[split.test].astype(float)
            found.append(score(bench.dataset.metric, decided, model.classes_, bench.dataset.labels[split.test]))
        return {"settings": model.settings, "test": found, "train_seconds": taken}
    method = make_method(name, **settings)
    rows = method.fit_transform(bench.graph)
    told = {"settings": method.settings, "train_seconds": time.perf_counter() - started}
    if name in PROBES:
        told["authors_probe"] = [
            _authors_probe(rows, bench.dataset.labels, split, *PROBES[name]) for split in bench.splits
        ]
    return {**told, **scored(bench.probe([rows]))}


def _authors_probe(rows: np.ndarray, labels: np.ndarray, split: Split, lr: float, decay: float, steps: int) -> float:
    """Test accuracy at the step whose validation accuracy is best, the first of equals."""
    torch.manual_seed(0)
    known, z = torch.from_numpy(hide_test(labels, split)), torch.from_numpy(rows)
    layer = torch.nn.Linear(z.shape[1], int(labels.max()) + 1)
    optimiser = torch.optim.Adam(layer.parameters(), lr=lr, weight_decay=decay)
    best, decided = -1.0, None
    for _ in range(steps):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(layer(z[split.train]), known[split.train]).backward()
        optimiser.step()
        with torch.no_grad():
            right = float((layer(z[split.val]).argmax(1) == known[split.val]).float().mean())
            if right > best:
                best, decided = right, layer(z[split.test]).argmax(1).numpy()
    return float((decided == labels[split.test]).mean())


def seeds_of(dataset: str, name: str) -> int:
    """Of random splits there are ten; on Cora's one, seeds of a method differ by more than a point."""
    return 5 if dataset == "cora" and name not in LONG else 1


def render(records: RecordFile) -> list[Path]:
    rows = []
    for (dataset, name), (published, source, _) in CASES.items():
        found = records.matching(dataset=dataset, method=name)[: seeds_of(dataset, name)]
        if not found:
            rows.append([dataset, name, f"{published:.1f}", "not run yet", "", "", MISSING, "", source])
            continue
        scores = summarise([record["test"] for record in found])
        gap = scores.mean - published / 100
        verdict = "yes" if abs(gap) <= CLOSE else "no"
        seconds = np.median([record["train_seconds"] for record in found])
        theirs = [record["authors_probe"] for record in found if "authors_probe" in record]
        own = percent(summarise(theirs).mean if theirs else None)
        told = [percent(scores.mean), str(len(found)), f"{100 * gap:+.1f} ({verdict})", own, f"{seconds:.0f}"]
        rows.append([dataset, name, f"{published:.1f}", *told, source])
    header = (
        "data set",
        "method",
        "published",
        "here",
        "seeds",
        "difference (within 1.5)",
        "by the authors' probe",
        "training s",
        "source",
    )
    notes = [
        "Authors' settings and the plain probe: it is told training labels, and validation nodes choose its penalty. "
        "Means over the seeds on record; Cora has its public split, Photo ten random ones. The authors' probe is "
        "Adam's step that validation nodes like best. Made by `python benchmarks/methods.py`. Seconds are of a busy "
        "machine and compare with nothing.",
        *REMARKS,
    ]
    return write_tables(
        [Table("Methods beside their published accuracy, in %", header, rows, notes)], FOLDER / "oracle"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="cora,photo")
    parser.add_argument("--methods", default=",".join(dict.fromkeys(name for _, name in CASES)))
    parser.add_argument("--data-root")
    options = parser.parse_args()
    if options.data_root:
        os.environ["FDMVGCL_DATA"] = options.data_root
    wanted: Sequence[tuple[str, str]] = [
        key for key in CASES if key[0] in options.datasets.split(",") and key[1] in options.methods.split(",")
    ]
    runs = [
        Run({"dataset": d, "method": m, "seed": seed}, partial(oracle, d, m, CASES[d, m][2], seed))
        for d, m in wanted
        for seed in range(seeds_of(d, m))
    ]
    records = RecordFile(FOLDER / "oracle.jsonl")
    for run, record in carry_out(runs, records):
        print(*run.key.values(), f"{np.mean(record['test']):.4f}", f"{record['train_seconds']:.0f} s", flush=True)
    render(records)


if __name__ == "__main__":
    main()
