"""Table and figure of ``reproduce losses`` from its records."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fdmvgcl.evaluation import paired_difference
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.tables import MISSING, Table, percent, points
from fdmvgcl.figures import FAINT, SOFT
from fdmvgcl.figures.drawing import CATEGORIES, describe, panels
from fdmvgcl.losses import REGULARISED_COSMEAN

CLAIM = (
    "The paper: the regularised cosmean loss consistently outperforms the others, with stable accuracy over epochs, "
    "while the others degrade; it mitigates dimension collapse."
)
_DASHES = {"raw": (0, (1, 2)), "diffused": (0, (4, 2))}


def draw(records: RecordFile, names: Sequence[str], losses: Sequence[str]) -> Figure:
    """Accuracy above, effective rank below, a column for each data set, a line for each loss."""
    figure, axes = panels(2, len(names), width=2.9, side=1.6)
    for column, name in zip(axes.T, names, strict=True):
        for loss, colour in zip(losses, CATEGORIES, strict=False):
            found = records.matching(dataset=name, row=loss)
            if found:
                _line(column[0], found, "test", colour, loss, 100.0)
                _line(column[1], found, "effective_rank", colour, loss, 1.0)
        for control, dashes in _DASHES.items():
            for record in records.matching(dataset=name, row=control):
                column[0].axhline(
                    100 * np.mean(record["test"]), color=FAINT, linestyle=dashes, linewidth=1, label=control
                )
        column[1].set_yscale("log")
        describe(column[0], name)
        describe(column[1], x="epochs")
    describe(axes[0, 0], y="test accuracy in %")
    describe(axes[1, 0], y="effective rank")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8, labelcolor=SOFT)
    return figure


def _line(panel: Axes, records: Sequence[Record], what: str, colour: str, name: str, scale: float) -> None:
    epochs = max((record["epochs"] for record in records), key=len)
    full = [record for record in records if record["epochs"] == epochs]
    values = np.array([record[what] for record in full], dtype=float)
    mean = values.mean(axis=(0, *range(2, values.ndim))) * scale
    wide = 2.2 if name == REGULARISED_COSMEAN else 1.3
    panel.plot(range(len(epochs)), mean, "o-", color=colour, label=name, linewidth=wide, markersize=3)
    panel.set_xticks(range(len(epochs)), [str(epoch) for epoch in epochs])


def table(records: RecordFile, name: str, losses: Sequence[str]) -> Table:
    """Untrained, at its best by validation and at the end, and what is lost on the way; controls below."""
    rows, last, lost = [], {}, {}
    for loss in losses:
        found = [record for record in records.matching(dataset=name, row=loss) if record["epochs"]]
        if not found:
            continue
        first, end, best, drop = _summary(found)
        last[loss], lost[loss] = float(np.mean(end)), drop
        ranks = [np.mean([record["effective_rank"][i] for record in found]) for i in (0, -1)]
        ended = next((f", ended: {record['ended']}" for record in found if "ended" in record), "")
        means = [percent(float(np.mean(scores))) for scores in (first, best, end)]
        changes = [points(paired_difference(end, first)), percent(drop), f"{ranks[0]:.0f} → {ranks[1]:.0f}"]
        rows.append([f"{loss} (to epoch {found[0]['epochs'][-1]}{ended})", *means, *changes])
    for control in _DASHES:
        for record in records.matching(dataset=name, row=control):
            blank = [MISSING] * 3
            rows.append([control, *blank[:2], percent(float(np.mean(record["test"]))), *blank])
    scores = ("untrained", "epoch chosen on validation", "last epoch")
    header = ("loss", *scores, "last minus untrained", "lost since its best epoch", "effective rank")
    return Table(f"{name}: test accuracy in %", header, rows, _reading(last, lost))


def _summary(records: Sequence[Record]) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Scores (seeds, splits) untrained, at the end and at the epoch that validation chose; the drop from the peak."""
    first, end = (np.array([record["test"][i] for record in records]) for i in (0, -1))
    best = []
    for record in records:
        chosen = np.argmax(record["validation"], axis=0)  # for each split by its own validation nodes
        best.append([record["test"][epoch][split] for split, epoch in enumerate(chosen)])
    shortest = min(len(record["epochs"]) for record in records)
    means = np.mean([np.mean(record["test"][:shortest], axis=1) for record in records], axis=0)
    return first, end, np.array(best), float(means.max() - means[-1])


def _reading(last: dict[str, float], lost: dict[str, float]) -> list[str]:
    if REGULARISED_COSMEAN not in last or len(last) < 2:
        return []
    ours = last[REGULARISED_COSMEAN]
    above = [loss for loss, score in last.items() if score > ours]
    most, least = (f(lost, key=lambda loss: lost[loss]) for f in (max, min))
    stands = (
        f"{len(above)} of the other {len(last) - 1} are above it ({', '.join(above)})" if above else "none is above it"
    )
    return [
        f"At the last epoch the regularised cosmean loss has {percent(ours)} and {stands}; since its best epoch it has "
        f"lost {100 * lost[REGULARISED_COSMEAN]:.1f} points, the most being lost by {most} ({100 * lost[most]:.1f}), "
        f"the least by {least} ({100 * lost[least]:.1f})."
    ]
