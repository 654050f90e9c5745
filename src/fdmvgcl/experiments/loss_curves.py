"""``reproduce losses``: accuracy and effective rank over epochs for each loss, two views of orders 0.01 and 1."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.experiments.benchmark import Benchmark, after_steps, benchmark, scored
from fdmvgcl.experiments.fixed_views import fixed_views
from fdmvgcl.experiments.loss_report import CLAIM, draw, table
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import write_tables
from fdmvgcl.figures.drawing import save
from fdmvgcl.learning.diagnostics import significant
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import LOSS
from fdmvgcl.learning.training import initial_orders
from fdmvgcl.losses import LOSSES, unit_rows

GRID = (0, 1, 2, 5, 10, 20, 50, 100)
SPLITS = 3
DIM = 512
CONTROLS = ("raw", "diffused")


class LossCurves:
    """``reproduce losses``."""

    name = "losses"
    summary = "accuracy and effective rank over epochs for each loss, with controls"
    datasets: tuple[str, ...] = ("wisconsin", "cornell", "cora", "squirrel")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Controls first, then seed by seed."""
        made = [
            Run({"dataset": name, "row": row}, partial(_control, name, row)) for name in datasets for row in CONTROLS
        ]
        for seed in range(seeds):
            made += [
                Run({"dataset": name, "row": loss, "seed": seed}, partial(_curve, name, loss, seed))
                for name in datasets
                for loss in LOSSES
            ]
        return made

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        names = records.datasets(first=self.datasets)
        note = (
            f"Two views of orders 0.01 and 1, d = {DIM}, the paper's T, learning rate, weight decay and η for each "
            f"data set, solved exactly; the first {SPLITS} public splits (or as many as there are). What was lost "
            "since the best epoch describes the test curve; nothing is chosen by it."
        )
        written = write_tables(
            [table(records, name, tuple(LOSSES)) for name in names], folder / self.name, [CLAIM, note]
        )
        return [*written, save(draw(records, names, tuple(LOSSES)), folder / f"{self.name}.png")] if names else written


def _splits(bench: Benchmark) -> range:
    return range(min(SPLITS, len(bench.splits)))


def _settings(name: str, loss: str) -> dict[str, Any]:
    settings = fixed_views(name, 2, dim=DIM, epochs=GRID[-1] + 1, changes={"diffusion.view_scaling": "rows"})
    if loss != LOSS:
        settings.pop("loss.eta", None)  # of the paper's own loss alone
    return settings | {"loss": loss}


def _curve(name: str, loss: str, seed: int) -> Record:
    """One training run; at each epoch of the grid the views as they are then are probed."""
    bench = benchmark(name)
    probes: dict[int, dict[str, Any]] = {}

    def probe(views: Tensor) -> dict[str, Any]:
        return scored(bench.probe([_summed(views)], _splits(bench)))

    model = FDMVGCL.from_settings(_settings(name, loss) | {"seed": seed})
    ended, ranks = "", []

    def follow(trainer: Any, record: Mapping[str, Any]) -> None:
        ranks.append(record["effective_rank"])

    try:
        model.fit(bench.graph, observe=after_steps(GRID, probe, probes), on_epoch=follow)
    except FloatingPointError as error:
        ended = str(error)
    epochs = [epoch for epoch in probes if epoch < len(ranks)]
    return {
        "settings": model.settings,
        "epochs": epochs,
        "test": [probes[epoch]["test"] for epoch in epochs],
        "validation": [probes[epoch]["validation"] for epoch in epochs],
        "effective_rank": significant([ranks[epoch] for epoch in epochs], 4),
        **({"ended": ended} if ended else {}),
    }


def _summed(views: Tensor) -> np.ndarray:
    return unit_rows(views).mean(0).numpy()


def _control(name: str, row: str) -> Record:
    """The features themselves, or diffused by the same two orders and time and summed alike, without projection."""
    bench = benchmark(name)
    x = FeatureTransform.fit(bench.graph, "auto").scaled(bench.graph).to_dense()
    if row == "diffused":
        time = _settings(name, next(iter(LOSSES))).get("time", FDMVGCL().time)
        with torch.no_grad():
            x = unit_rows(diffuse(bench.graph, x, initial_orders(2), time)).mean(0)
    return scored(bench.probe([x.numpy()], _splits(bench)))
