"""Pictures of what ``reproduce theory`` measured, each from its records."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fdmvgcl.experiments.records import Record
from fdmvgcl.figures import FAINT, INK, view_colours
from fdmvgcl.figures.drawing import CATEGORIES, describe, label_ends, legend, order_key, panels

SHOWN_ROUNDS = ("0", "1")


def energy(records: Sequence[Record]) -> Figure:
    """Energy up to each frequency, one row a graph; without and with the theorem's skip-connection."""
    figure, axes = panels(len(records), len(SHOWN_ROUNDS), width=4.0, share_y=True)
    for row, record in zip(axes, records, strict=True):
        edges = np.linspace(0, 2, len(record["input"]["binned"]) + 1)
        for panel, skip in zip(row, SHOWN_ROUNDS, strict=True):
            panel.stairs(np.cumsum(record["input"]["binned"]), edges, color=FAINT, baseline=None, linestyle="--")
            panel.annotate("input", (1.5, 0.72), color=FAINT, fontsize=7.5)
            for shares, colour in _orders(record, record["binned"][skip]):
                panel.stairs(np.cumsum(shares), edges, color=colour, baseline=None, linewidth=1.4)
            told = "no skip" if skip == "0" else "with the theorem's skip, m = 1"
            describe(panel, f"{record['key']['dataset']}, T = {record['shown_time']:g}, {told}", "graph frequency λ")
            panel.set(xlim=(0, 2), ylim=(0, 1.02))
        describe(row[0], y="share of energy up to λ")
    order_key(figure, records[0]["alphas"])
    return figure


def energy_over_time(records: Sequence[Record]) -> Figure:
    """Mean frequency, and number of frequencies used, against time; without and with skip."""
    figure, axes = panels(len(records), 4, width=2.9)
    columns = [(name, skip) for name in ("mean_frequency", "frequencies_used") for skip in SHOWN_ROUNDS]
    for row, record in zip(axes, records, strict=True):
        for panel, (name, skip) in zip(row, columns, strict=True):
            by_order = np.array(record["measures"][skip][name]).T
            for values, colour in _orders(record, by_order):
                panel.plot(record["times"], values, color=colour, linewidth=1.4)
            panel.axhline(record["input"][name], color=FAINT, linestyle="--", linewidth=0.9)
            panel.set_xscale("log")
            if name == "frequencies_used":
                panel.set_yscale("log")
            words = "mean frequency" if name == "mean_frequency" else "frequencies used"
            title = f"{record['key']['dataset']}: {words}{', skip' if skip == '1' else ''}"
            describe(panel, title, "time T")
    order_key(figure, records[0]["alphas"])
    return figure


def contrast(records: Sequence[Record]) -> Figure:
    """Difference of two orders' mean frequencies against their gap; lines join pairs with the same smaller order."""
    figure, axes = panels(1, len(records), width=3.6, height=2.7)
    for panel, record in zip(axes[0], records, strict=True):
        alphas = record["alphas"]
        values = record["measures"]["0"]["mean_frequency"][record["times"].index(record["shown_time"])]
        for low, colour in zip(range(len(alphas) - 1), view_colours(len(alphas)), strict=False):
            gaps = [alpha - alphas[low] for alpha in alphas[low:]]
            panel.plot(gaps, [values[low] - v for v in values[low:]], "o-", color=colour, markersize=3, linewidth=1.2)
            panel.annotate(
                f"{alphas[low]:g}",
                (gaps[-1], values[low] - values[-1]),
                (4, -1),
                fontsize=7,
                color=colour,
                textcoords="offset points",
            )
        title = f"{record['key']['dataset']}, T = {record['shown_time']:g}; smaller order at the line's end"
        describe(panel, title, "gap between the orders", "difference of mean frequencies")
    return figure


def limits(record: Record) -> Figure:
    """Distance to the limiting responses as the order nears 1 and 0."""
    figure, (left, right) = (made := panels(1, 2, width=4.2, height=2.8))[0], made[1][0]
    gaps = record["gaps"]
    for i, (time, colour) in enumerate(zip(record["times"], CATEGORIES, strict=False)):
        left.loglog(gaps, record["from_exponential"][i], "o-", color=colour, markersize=3, label=f"T = {time:g}")
        right.loglog(gaps, record["from_resolvent"][i], "o-", color=colour, markersize=3)
        right.loglog(gaps, record["from_identity"][i], "--", color=colour, linewidth=1)
    right.annotate("from the undiffused features", (gaps[3], 1.0), fontsize=7.5, color=INK, ha="center")
    right.annotate("from 1 / (1 + λ)", (gaps[2], record["from_resolvent"][0][2] / 4), fontsize=7.5, color=INK)
    right.set_ylim(top=4)
    describe(left, "α → 1: distance from exp(-λT)", "1 - α", "largest distance over λ")
    describe(right, "α → 0", "α")
    legend(left, loc="upper left")
    return figure


def asymptotics(record: Record) -> Figure:
    """What the theorem's series leaves of E_α(-t^α), as printed and with alternating signs."""
    figure, axes = panels(1, 2, width=4.2, height=2.8, share_y=True)
    times = np.array(record["times"])
    for panel, name in zip(axes[0], ("printed", "alternating"), strict=True):
        for order, colour in zip(record["orders"], view_colours(len(record["orders"])), strict=True):
            remainder = np.maximum(order[name], 1e-12)
            panel.loglog(times, remainder, color=colour, linewidth=1.4)
        panel.loglog(times, 1 / times, color=INK, linestyle=":", linewidth=1)
        panel.set_ylim(1e-10, 10)
    axes[0, 1].annotate("1/t, as claimed", (1e4, 1e-4), (8, 6), textcoords="offset points", fontsize=7.5, color=INK)
    describe(axes[0, 0], "series as printed: what is left", "time t", "|E - series|")
    describe(axes[0, 1], "the same with alternating signs", "time t")
    order_key(figure, [order["alpha"] for order in record["orders"]])
    return figure


def waiting(survivals: Sequence[Record], walks: Sequence[Record]) -> Figure:
    """Waiting times sampled beside E_α(-t^α), and walkers on nodes beside the solution."""
    figure, axes = panels(1, 2, width=4.2, height=3.0)
    left, right = axes[0]
    colours = view_colours(len(survivals))
    for record, colour in zip(survivals, colours, strict=True):
        sampled = np.array(record["sampled"])
        seen = sampled > 0
        left.loglog(record["times"], np.maximum(record["exact"], 1e-12), color=colour, linewidth=1.2)
        left.loglog(np.array(record["times"])[seen], sampled[seen], "o", color=colour, markersize=2.6)
    left.set_ylim(1e-4, 1.5)
    label_ends(
        left,
        [(max(r["exact"][-1], 1e-4), f"α {r['key']['alpha']:g}", c) for r, c in zip(survivals, colours, strict=True)],
    )
    describe(left, "waits longer than t: line E_α(-tᵅ), dots sampled", "t", "share of waits")
    for record, colour in zip(walks, view_colours(len(walks)), strict=True):
        share, exact = np.array(record["share"]), np.array(record["exact"])
        error = 2 * np.sqrt(exact * (1 - exact) / record["walkers"])
        right.errorbar(exact, share, yerr=error, fmt="o", color=colour, markersize=2.6, linewidth=0.8)
    if walks:
        span = (min(min(r["exact"]) for r in walks) / 2, 1.0)
        right.loglog(span, span, color=FAINT, linewidth=0.8, zorder=0)
        title = f"{walks[0]['key']['dataset']}: walkers at each node, T = {walks[0]['time']:g}"
        describe(right, title, "solution, random-walk operator", "share of walkers (± 2 errors)")
    return figure


def perturbation(records: Sequence[Record]) -> Figure:
    """How far the embedding moves over ε; dashed what O(ε T^(α-1)) allows if it held with equality at T = 1."""
    datasets = list(dict.fromkeys(r["key"]["dataset"] for r in records))
    noises = list(dict.fromkeys(r["key"]["noise"] for r in records))
    figure, axes = panels(len(datasets), len(noises), width=3.1, height=2.6, share_y=True)
    for row, dataset in zip(axes, datasets, strict=True):
        for panel, noise in zip(row, noises, strict=True):
            found = [r for r in records if r["key"]["dataset"] == dataset and r["key"]["noise"] == noise]
            if found:
                _growth(panel, found)
                describe(panel, f"{dataset}: noise on {noise}", "time T")
        describe(row[0], y="distance / ε")
    axes[0, 0].annotate("dashed: T^(α-1), as claimed,\nfrom the value at T = 1", (0.12, 0.008), fontsize=7.5, color=INK)
    order_key(figure, records[0]["alphas"])
    return figure


def _growth(panel: Axes, records: Sequence[Record]) -> None:
    times = np.array(records[0]["times"])
    growth = np.mean([r["growth"] for r in records], axis=0)
    one = int(np.argmin(np.abs(times - 1)))
    for values, alpha, colour in zip(growth, records[0]["alphas"], view_colours(len(growth)), strict=True):
        panel.loglog(times, values, color=colour, linewidth=1.5)
        panel.loglog(
            times[one:], values[one] * times[one:] ** (alpha - 1), color=colour, linestyle=(0, (2, 2)), linewidth=0.8
        )
    panel.set_ylim(5e-3, 1.3)


def _orders(record: Record, rows: Sequence[Sequence[float]] | np.ndarray) -> list[tuple[Sequence[float], object]]:
    return list(zip(rows, view_colours(len(record["alphas"])), strict=True))
