"""``reproduce curves``: validation accuracy and effective rank while the default trains, and where it would stop."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor

from fdmvgcl.evaluation import COARSE, Trial, choose, hide_test
from fdmvgcl.experiments.benchmark import after_steps, benchmark
from fdmvgcl.experiments.nodes import DEVELOPMENT, HELD_OUT
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, percent, write_tables
from fdmvgcl.figures import sweep
from fdmvgcl.learning.diagnostics import significant
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import Schedule
from fdmvgcl.learning.view_scaling import scale_views, view_norms

GRID = (0, 2, 5, 10, 20, 40)
SPLITS = 3


class ValidationCurves:
    """No test label is read: what a choice of the number of epochs would have to go by."""

    name = "curves"
    summary = "validation accuracy and effective rank while the default trains"
    datasets: tuple[str, ...] = DEVELOPMENT + HELD_OUT

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        return [
            Run({"dataset": name, "seed": seed}, partial(_curve, name, seed))
            for seed in range(seeds)
            for name in datasets
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        rows, lines = [], {}
        for name in records.datasets(first=self.datasets):
            found = records.matching(dataset=name)
            means = [sum(map(_mean, at)) / len(at) for at in zip(*(r["validation"] for r in found), strict=True)]
            lines[name] = means
            best = GRID[means.index(max(means))]
            stops = " ".join(str(record["stops"]) for record in found)
            ranks = found[0]["effective_rank"]
            rows.append([name, *map(percent, means), str(best), stops, f"{ranks[0]:.0f} → {ranks[-1]:.0f}"])
        header = ("data set", *(f"{epoch}" for epoch in GRID), "best epoch", "the default stops", "rank, seed 0")
        note = (
            f"Validation accuracy in % after so many epochs of the default, without its stop; up to {SPLITS} splits, a "
            "coarse probe, uniform β. The default stops when the effective rank has fallen to "
            f"{Schedule().min_rank:.0%} of its start, or after {FDMVGCL().epochs} epochs."
        )
        written = write_tables([Table("Validation while training", header, rows, [note])], folder / self.name)
        path = folder / f"{self.name}.png"
        sweep([str(epoch) for epoch in GRID], lines, "epoch", "validation accuracy, %").savefig(path, dpi=130)
        return [*written, path]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _curve(name: str, seed: int) -> Record:
    bench = benchmark(name)
    splits = bench.splits[:SPLITS]
    known = [hide_test(bench.dataset.labels, split) for split in splits]
    model = FDMVGCL(epochs=GRID[-1] + 1, schedule=Schedule(min_rank=0.0, merge_width=0.0), seed=seed)

    def probe(views: Tensor) -> list[float]:
        chosen = model.chosen_
        summed = scale_views(views, chosen.view_scaling, view_norms(views), chosen.anchored).mean(0).numpy()
        found = choose([Trial({}, lambda: [summed])], known, splits, metric=bench.dataset.metric, search=COARSE)
        return [choice.validation for choice in found]

    probes: dict[int, list[float]] = {}
    model.fit(bench.graph, observe=after_steps(GRID, probe, probes))
    ranks = [record["effective_rank"] for record in model.history_]
    return {
        "settings": model.settings,
        "epochs": list(GRID),
        "validation": [probes[epoch] for epoch in GRID],
        "effective_rank": significant([ranks[epoch] for epoch in GRID], 4),
        "stops": _stop(ranks),
    }


def _stop(ranks: Sequence[Any]) -> int:
    """After how many epochs the default's rule ends training."""
    usual = FDMVGCL()
    fallen = (epoch + 1 for epoch, rank in enumerate(ranks) if rank < usual.schedule.min_rank * ranks[0])
    return min(next(fallen, usual.epochs), usual.epochs)
