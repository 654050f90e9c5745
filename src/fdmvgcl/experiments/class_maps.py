"""``reproduce tsne``: maps of single classes for several orders, and the distances that the maps are read for."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fdmvgcl.experiments.benchmark import benchmark, embed
from fdmvgcl.experiments.fixed_views import REMARK, fixed_views
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, write_tables
from fdmvgcl.figures import view_colours
from fdmvgcl.figures.drawing import describe, order_key, panels, save
from fdmvgcl.learning.diagnostics import significant

VIEWS, DIM, EPOCHS = 3, 512, 30
MOST_NODES = 100  # of a class on a map
FEWEST_NODES = 10  # a smaller class has no shape to speak of
GRID = 999  # map coordinates are whole numbers up to this

SIDES = {"untrained": 0, "trained": EPOCHS}

CLAIM = (
    "The paper: single-class embeddings with class means aligned; smaller α yields compact, core-concentrated "
    "clusters, larger α more evenly dispersed features. t-SNE keeps neighbours, not distances, so the spread of each "
    "class is measured in the embedding itself: root mean square distance from the class mean, as it is, and over that "
    "of all nodes from their mean; and in the map."
)


class ClassMaps:
    """``reproduce tsne``."""

    name = "tsne"
    summary = "t-SNE maps of single classes for several orders, with the spreads of the classes"
    datasets: tuple[str, ...] = ("cora", "wisconsin", "cornell")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """One seed: the maps are to be looked at."""
        return [
            Run({"dataset": name, "seed": 0, "side": side}, partial(_run, name, 0, epochs))
            for name in datasets
            for side, epochs in SIDES.items()
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        written = write_tables([table(record) for record in records.records], folder / self.name, [CLAIM, REMARK])
        for name in records.datasets():
            written.append(save(draw(records.matching(dataset=name)), folder / f"{self.name}-{name}.png"))
        return written


def _run(name: str, seed: int, epochs: int) -> Record:
    bench = benchmark(name)
    settings = fixed_views(name, VIEWS, dim=DIM, epochs=epochs, changes={"diffusion.view_scaling": "none"})
    embedded = embed(bench.graph, settings, seed)
    views, labels = embedded.views.astype(np.float64), bench.dataset.labels
    sizes = np.bincount(labels[labels >= 0])
    return {
        "settings": embedded.model.settings,
        "alphas": significant(embedded.model.alphas_),
        "overall": significant([spread(view) for view in views]),
        "classes": [
            {"label": int(c), "nodes": int(sizes[c]), **_mapped(views[:, labels == c])}
            for c in np.flatnonzero(sizes >= FEWEST_NODES)
        ],
    }


def spread(rows: NDArray[np.float64]) -> float:
    """Root mean square distance of rows (n, d) from their mean."""
    return float(np.sqrt(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean()))


def _mapped(views: NDArray[np.float64]) -> dict[str, Any]:
    """One class (K, n, d): its spreads, and a common map of all orders' rows, each order's mean at the origin."""
    from sklearn.manifold import TSNE

    count = views.shape[1]
    kept = np.linspace(0, count - 1, min(count, MOST_NODES)).round().astype(int)
    centred = views - views.mean(axis=1, keepdims=True)
    rows = centred[:, kept].reshape(-1, views.shape[2])
    perplexity = min(30.0, (len(rows) - 1) / 3)
    points = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(rows)
    low, size = points.min(axis=0), np.ptp(points, axis=0).max()
    grid = np.round((points - low) / size * GRID).astype(int).reshape(len(views), -1, 2)
    return {
        "spread": significant([spread(view) for view in views]),
        "map_spread": significant([spread(each.astype(float)) for each in grid], 4),
        "points": grid.reshape(len(views), -1).tolist(),
    }


def draw(records: Sequence[Record]) -> Figure:
    """A row for each side, a panel for each class; the orders' nodes in their colours."""
    figure, axes = panels(len(records), len(records[0]["classes"]), width=1.8, height=1.9)
    for row, record in zip(axes, records, strict=True):
        for panel, each in zip(row, record["classes"], strict=True):
            for flat, colour in zip(each["points"], view_colours(len(each["points"])), strict=True):
                x, y = np.reshape(flat, (-1, 2)).T
                panel.scatter(x, y, s=7, color=colour, alpha=0.75, linewidths=0)
            panel.set(xticks=[], yticks=[])
            panel.set_aspect("equal", adjustable="datalim")
            panel.spines[:].set_visible(False)
            describe(panel, f"class {each['label']} ({each['nodes']})")
        describe(row[0], y=record["key"]["side"])
    order_key(figure, records[0]["alphas"])
    return figure


def table(record: Record) -> Table:
    """Spreads of each class for each order, and in how many classes they rise with the order."""
    alphas, overall = record["alphas"], record["overall"]
    rows = []
    for each in record["classes"]:
        relative = [s / all_nodes for s, all_nodes in zip(each["spread"], overall, strict=True)]
        cells = [" ".join(f"{v:.3g}" for v in values) for values in (each["spread"], relative, each["map_spread"])]
        rows.append([f"{each['label']} ({each['nodes']} nodes)", *cells])
    count = len(record["classes"])
    wider = {
        "as it is": sum(c["spread"][0] < c["spread"][-1] for c in record["classes"]),
        "over all nodes'": sum(c["spread"][0] / overall[0] < c["spread"][-1] / overall[-1] for c in record["classes"]),
        "in the map": sum(c["map_spread"][0] < c["map_spread"][-1] for c in record["classes"]),
    }
    told = ", ".join(f"{number} of {count} {how}" for how, number in wider.items())
    orders = " ".join(f"{alpha:g}" for alpha in alphas)
    note = f"Classes in which the smallest order is the most compact beside the largest: {told}."
    header = ("class", f"spread at α = {orders}", "over that of all nodes", "in the map")
    return Table(f"{record['key']['dataset']}, {record['key']['side']}", header, rows, [note])
