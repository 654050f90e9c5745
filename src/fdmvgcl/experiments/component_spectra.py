"""``reproduce pca``: shares of variance along the principal components of views of several orders."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from fdmvgcl.experiments.benchmark import benchmark, embed
from fdmvgcl.experiments.fixed_views import REMARK, fixed_views
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, percent, write_tables
from fdmvgcl.figures import view_colours
from fdmvgcl.figures.drawing import describe, order_key, panels, save
from fdmvgcl.learning.diagnostics import component_spectrum, effective_rank, significant

VIEWS, DIM, EPOCHS = 3, 512, 30
SHOWN = 24
SIDES = {"untrained": 0, "trained": EPOCHS}
MOST_SEEDS = 3
_ROWS = 4096

CLAIM = (
    "The paper: for at least the small order the bar chart of principal components is more spread out, which prevents "
    "dimension collapse (Cora and Wisconsin)."
)


class ComponentSpectra:
    """``reproduce pca``."""

    name = "pca"
    summary = "principal components of views of several orders, before and after training"
    datasets: tuple[str, ...] = ("cora", "wisconsin")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        return [
            Run({"dataset": name, "seed": seed, "side": side}, partial(_run, name, seed, epochs))
            for seed in range(min(seeds, MOST_SEEDS))
            for name in datasets
            for side, epochs in SIDES.items()
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        names = records.datasets()
        written = write_tables([_table(records, name) for name in names], folder / self.name, [CLAIM, REMARK])
        return [*written, save(draw(records, names), folder / f"{self.name}.png")] if names else written


def _run(name: str, seed: int, epochs: int) -> Record:
    graph = benchmark(name).graph
    settings = fixed_views(name, VIEWS, dim=DIM, epochs=epochs, changes={"diffusion.view_scaling": "none"})
    embedded = embed(graph, settings, seed)
    views = torch.from_numpy(embedded.views)
    shares = [component_spectrum(view.double(), rows=_ROWS) for view in views]
    return {
        "settings": embedded.model.settings,
        "alphas": significant(embedded.model.alphas_),
        "shares": [significant(each[:SHOWN], 4) for each in shares],
        "components_used": significant([components_used(each) for each in shares], 4),
        "effective_rank": significant([effective_rank(view) for view in views], 4),
    }


def components_used(shares: torch.Tensor) -> float:
    """``exp(-Σ p log p)``: as many components of equal variance as are equally spread."""
    positive = shares[shares > 0]
    return float(torch.exp(-(positive * positive.log()).sum()))


def draw(records: RecordFile, names: Sequence[str]) -> Figure:
    """The first components' shares, a panel for each data set and side, a line for each order."""
    figure, axes = panels(len(names), len(SIDES), width=4.2)
    orders: list[float] = []
    for row, name in zip(axes, names, strict=True):
        for panel, side in zip(row, SIDES, strict=True):
            found = records.matching(dataset=name, side=side)
            if not found:
                continue
            orders = found[0]["alphas"]
            shares = np.mean([record["shares"] for record in found], axis=0)
            for each, colour in zip(shares, view_colours(len(shares)), strict=True):
                panel.plot(range(1, len(each) + 1), each, "o-", color=colour, markersize=3, linewidth=1.2)
            panel.set_yscale("log")
            describe(panel, f"{name}, {side}", "principal component", "share of variance")
    order_key(figure, orders)
    return figure


def _table(records: RecordFile, name: str) -> Table:
    rows, spread = [], []
    for side in SIDES:
        found = records.matching(dataset=name, side=side)
        if not found:
            continue
        first, used, rank = (np.mean([pick(record) for record in found], axis=0) for pick in _COLUMNS)
        for k, alpha in enumerate(found[0]["alphas"]):
            rows.append([f"{side}, α = {alpha:g}", percent(first[k]), f"{used[k]:.1f}", f"{rank[k]:.0f}"])
        more = bool(used[0] > used[-1])
        spread.append(f"{side}, the smallest order {'is' if more else 'is not'} the more spread out")
    seeds = len({record["key"]["seed"] for record in records.matching(dataset=name)})
    notes = [
        f"{'; '.join(spread).capitalize()} ({_used_words(records, name)}). Seeds averaged: {seeds}; d = {DIM}, "
        f"{EPOCHS} epochs."
    ]
    return Table(name, ("view", "first component, %", "components used", "effective rank"), rows, notes)


def _used_words(records: RecordFile, name: str) -> str:
    """``components used: 210 against 3.1 untrained, …``, and what training leaves of the smallest order's."""
    told, smallest = [], []
    for side in SIDES:
        found = records.matching(dataset=name, side=side)
        if found:
            used = np.mean([record["components_used"] for record in found], axis=0)
            told.append(f"{used[0]:.1f} against {used[-1]:.1f} {side}")
            smallest.append(used[0])
    words = f"components used: {', '.join(told)}"
    if len(smallest) == len(SIDES):
        words += f"; training leaves {smallest[1] / smallest[0]:.0%} of the smallest order's"
    return words


_COLUMNS: tuple[Any, ...] = (
    lambda record: [shares[0] for shares in record["shares"]],
    lambda record: record["components_used"],
    lambda record: record["effective_rank"],
)
