"""``reproduce cost``: seconds and peak memory of each method's training and inference, in a process of its own."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from fdmvgcl.experiments.budget import within
from fdmvgcl.experiments.cost_table import render
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.methods import METHODS, make_method

WARMING = {"epochs": 2}
SEEDS = 3


@dataclass(frozen=True)
class Cost:
    """Default settings, and no more epochs than the tables allow. Nothing else should run beside it.

    Args:
        methods: whose costs are measured; the supervised references make no vectors.
    """

    methods: tuple[str, ...] = tuple(METHODS)
    name = "cost"
    summary = "seconds and peak memory of each method's training and inference, by default"
    datasets: ClassVar[tuple[str, ...]] = ("cora", "photo", "pubmed")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Seed by seed, and the methods in turn, so that a slow hour of the machine is everybody's."""
        return [
            Run({"dataset": name, "method": method, "seed": seed}, partial(_in_own_process, method, name, seed))
            for seed in range(min(seeds, SEEDS))
            for name in datasets
            for method in self.methods
        ]

    def of(self, methods: tuple[str, ...]) -> "Cost":
        return replace(self, methods=methods)

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        return render(records, folder, records.datasets(first=self.datasets))


def _in_own_process(method: str, name: str, seed: int) -> Record:
    command = [sys.executable, "-m", "fdmvgcl.experiments.cost", method, name, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring {method} on {name} failed: {done.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def measure(method: str, name: str, seed: int) -> Record:
    """One fit and one transform, after a small one that compiles the kernels, and what the plain probe says of them."""
    from fdmvgcl.experiments.benchmark import benchmark

    warm = WARMING if "epochs" in make_method(method).settings else {}
    make_method(method, **warm).fit_transform(benchmark("karate").graph)
    bench = benchmark(name)
    model: Any = make_method(method, **within(method, {}), seed=seed)
    started = time.perf_counter()
    model.fit(bench.graph)
    trained = time.perf_counter()
    rows = model.transform(bench.graph)
    ended = time.perf_counter()
    peak = _peak_bytes()  # the probe comes after
    epochs = [record["seconds"] for record in model.history_]
    return {
        "nodes": bench.graph.num_nodes,
        "epochs": len(epochs),
        "train_seconds": trained - started,
        "epoch_seconds": sorted(epochs)[len(epochs) // 2] if epochs else 0.0,
        "inference_seconds": ended - trained,
        "peak_bytes": peak,
        "accuracy": float(np.mean([outcome.test for outcome in bench.probe([rows])])),
    }


def _peak_bytes() -> int:
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss of a forked process begins with its parent's
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
