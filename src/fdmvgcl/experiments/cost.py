"""``reproduce cost``: seconds and peak memory of training and inference, each data set in a process of its own."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, write_tables
from fdmvgcl.figures import SOFT, TEN
from fdmvgcl.figures.drawing import describe, panels

# What the paper prints for an epoch or a pass on its graphics card (seconds, seconds, MiB).
PAPER = {"cora": (0.37, 1.47, 1330), "wisconsin": (0.29, 1.41, 906)}


class Cost:
    """Default settings. Nothing else should run beside it."""

    name = "cost"
    summary = "seconds and peak memory of training and inference"
    datasets: tuple[str, ...] = (
        *("cora", "citeseer", "pubmed", "computers", "photo", "wisconsin", "cornell", "texas"),
        *("actor", "squirrel", "chameleon", "crocodile"),
    )

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        return [
            Run({"dataset": name, "seed": seed}, partial(_in_own_process, name, seed))
            for name in datasets
            for seed in range(seeds)
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        names = records.datasets(first=self.datasets)
        medians = {name: _medians(records.matching(dataset=name)) for name in names}
        rows = [
            [
                name,
                f"{median['nodes']:.0f}",
                f"{median['train_seconds']:.1f}",
                f"{1000 * median['epoch_seconds']:.0f}",
                f"{median['inference_seconds']:.2f}",
                f"{median['peak_bytes'] / 2**20:.0f}",
                "–" if name not in PAPER else f"{PAPER[name][0]} / {PAPER[name][1]} / {PAPER[name][2]}",
            ]
            for name, median in medians.items()
        ]
        header = ("data set", "nodes", "training s", "an epoch ms", "inference s", "peak MiB", "paper: s / s / MiB")
        note = (
            "Medians over seeds, default settings, on this machine's processor; the peak is of the whole process, "
            "Python and libraries included. The paper's figures are from a graphics card, with other settings, and "
            "do not say what a training second covers: no ratio is drawn between the two."
        )
        written = write_tables([Table("Cost", header, rows, [note])], folder / self.name)
        path = folder / "cost.png"
        _draw(medians).savefig(path, dpi=130)
        return [*written, path]


def _draw(medians: Mapping[str, Mapping[str, float]]) -> Figure:
    """A bar for each data set: training, inference, memory."""
    shown = {"train_seconds": ("training, s", 1.0), "inference_seconds": ("inference, s", 1.0)}
    shown["peak_bytes"] = ("peak memory, MiB", 2.0**-20)
    figure, axes = panels(1, len(shown), height=0.9 + 0.24 * len(medians), share_y=True)
    for panel, (what, (label, unit)) in zip(axes[0], shown.items(), strict=True):
        values = [unit * median[what] for median in medians.values()]
        drawn = panel.barh(list(medians), values, color=TEN[0], height=0.62)
        panel.bar_label(
            drawn,
            labels=[f"{value:.3g}" if value < 100 else f"{value:.0f}" for value in values],
            padding=3,
            color=SOFT,
            fontsize=7.5,
        )
        panel.margins(x=0.2)
        describe(panel, x=label)
    axes[0, 0].invert_yaxis()
    return figure


def _medians(records: Sequence[Record]) -> dict[str, float]:
    names = ("nodes", "train_seconds", "epoch_seconds", "inference_seconds", "peak_bytes")
    return {name: sorted(record[name] for record in records)[len(records) // 2] for name in names}


def _in_own_process(name: str, seed: int) -> Record:
    command = [sys.executable, "-m", "fdmvgcl.experiments.cost", name, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"measuring {name} failed: {done.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def measure(name: str, seed: int) -> Record:
    """One fit and one transform with default settings, after a small one that compiles the kernels."""
    from fdmvgcl.experiments.benchmark import benchmark
    from fdmvgcl.learning.model import FDMVGCL

    FDMVGCL(dim=16, epochs=2).fit_transform(benchmark("karate").graph)
    graph = benchmark(name).graph
    started = time.perf_counter()
    model = FDMVGCL(seed=seed).fit(graph)
    trained = time.perf_counter()
    model.transform(graph)
    ended = time.perf_counter()
    epochs = [record["seconds"] for record in model.history_]
    return {
        "nodes": graph.num_nodes,
        "epochs": len(epochs),
        "train_seconds": trained - started,
        "epoch_seconds": sorted(epochs)[len(epochs) // 2] if epochs else 0.0,
        "inference_seconds": ended - trained,
        "peak_bytes": _peak_bytes(),
        "order_of_work": model.chosen_.order_of_work,
    }


def _peak_bytes() -> int:
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss of a forked process begins with its parent's
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
