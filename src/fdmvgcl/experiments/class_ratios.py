"""``reproduce ratio``: how well classes keep together over training, ``r_c = d_c^inter / d_c^intra``."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.fixed_views import REMARK, fixed_views
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, write_tables
from fdmvgcl.figures.drawing import CATEGORIES, describe, label_ends, panels, save
from fdmvgcl.learning.diagnostics import class_ratio, significant
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.losses import unit_rows

VIEWS, DIM, EPOCHS = 2, 512, 50
EARLY = 10
ROWS = 1024

CLAIM = (
    "The paper: the ratio r_c (epoch 0 in its figure being the input features) generally increases at the beginning of "
    "training and stabilises, and is higher than PolyGCL's, which is not run here."
)


class ClassRatios:
    """``reproduce ratio``."""

    name = "ratio"
    summary = "distance between classes over distance within, for every class and epoch"
    datasets: tuple[str, ...] = ("cora", "wisconsin")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """One seed: a line for every class is to be looked at."""
        return [Run({"dataset": name, "seed": 0}, partial(_run, name, 0)) for name in datasets]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        found = records.records
        written = write_tables([table(record) for record in found], folder / self.name, [CLAIM, REMARK])
        return [*written, save(draw(found), folder / f"{self.name}.png")] if found else written


def _run(name: str, seed: int) -> Record:
    bench = benchmark(name)
    labels = torch.from_numpy(bench.dataset.labels)
    classes = len(bench.dataset.classes)

    def ratios(x: Tensor) -> list[list[float | None]]:
        found = class_ratio(x, labels, classes=classes, rows=ROWS)
        return cast("list[list[float | None]]", significant(found, 4))  # a class of one node has no distance within

    def observe(views: Tensor) -> dict[str, Any]:
        # The record of an epoch is of the views before its step: epoch e has made e steps.
        return {"ratios": ratios(torch.cat([views, unit_rows(views).mean(0, keepdim=True)]))}

    settings = fixed_views(name, VIEWS, dim=DIM, epochs=EPOCHS + 1)
    model = FDMVGCL.from_settings(settings | {"seed": seed}).fit(bench.graph, observe=observe)
    x = FeatureTransform.fit(bench.graph, "auto").scaled(bench.graph).to_dense()
    return {
        "settings": model.settings,
        "alphas": significant(model.alphas_),
        "input": ratios(x[None])[0],
        "ratios": [record["ratios"] for record in model.history_],
    }


def _array(values: Any) -> np.ndarray:
    return np.array(values, dtype=float)  # None becomes NaN


def names(record: Record) -> list[str]:
    """Of the curves: each view, and the sum."""
    return [*(f"view α = {alpha:g}" for alpha in record["alphas"]), "their sum"]


def draw(records: Sequence[Record]) -> Figure:
    """A row for each data set, a panel for each view and the sum, a line for each class; dots are the input's."""
    columns = max(len(names(record)) for record in records)
    figure, axes = panels(len(records), columns, width=3.0)
    for row, record in zip(axes, records, strict=True):
        curves, start = _array(record["ratios"]), _array(record["input"])
        for panel, name, of_view in zip(row, names(record), curves.transpose(1, 2, 0), strict=True):
            for c, (line, dot) in enumerate(zip(of_view, start, strict=True)):
                colour = CATEGORIES[c % len(CATEGORIES)]
                panel.plot(range(len(line)), line, color=colour, linewidth=1.3)
                panel.plot(-2, dot, "o", color=colour, markersize=3.5)
            panel.axhline(1, color="0.8", linewidth=0.8, zorder=0)
            describe(panel, f"{record['key']['dataset']}: {name}", "epochs (dots: input features)")
        ends = enumerate(curves[-1, -1])
        label_ends(row[-1], [(y, f"class {c}", CATEGORIES[c % len(CATEGORIES)]) for c, y in ends if np.isfinite(y)])
        describe(row[0], y="r_c")
    return figure


def table(record: Record) -> Table:
    """Mean over classes of the input, untrained, early and at the end; and in how many classes it rose."""
    curves, start = _array(record["ratios"]), _array(record["input"])
    known = ~np.isnan(start) & ~np.isnan(curves).any(axis=(0, 1))
    early = min(EARLY, len(curves) - 1)
    rows = []
    for v, name in enumerate(names(record)):
        first, soon, last = (curves[e, v, known] for e in (0, early, -1))
        means = [f"{values.mean():.3f}" for values in (start[known], first, soon, last)]
        count = int(known.sum())
        above = [f"{int((last > before).sum())} of {count}" for before in (first, start[known])]
        rows.append([name, *means, *above])
    epochs = (f"epoch {early}", f"epoch {len(curves) - 1}")
    header = ("", "input", "untrained", *epochs, "classes above untrained", "classes above input")
    rose = (curves[early, -1, known] > curves[0, -1, known]).all() if known.any() else False
    drift = float(np.mean(np.abs(curves[-1, -1, known] / curves[len(curves) // 2, -1, known] - 1)))
    note = (
        f"The sum's ratio {'rises' if rose else 'does not rise'} in every class within {early} epochs; over the "
        f"second half it changes by {drift:.1%} on average."
    )
    return Table(f"{record['key']['dataset']}: r_c, mean over classes", header, rows, [note])
