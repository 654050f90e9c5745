"""Matplotlib figures of a run, from plain records and arrays: what the report shows, for papers and notebooks.

Every function returns a new :class:`matplotlib.figure.Figure` and touches no global state; save it with ``savefig``, or
let a notebook show it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fdmvgcl.diffusion.spectrum import Spectrum
from fdmvgcl.results.history import Timeline

INK, SOFT, FAINT, BARS = "#1c2127", "#59626c", "#8a929b", "#d9d5cc"
# Petroff's colours, made to be told apart by colour-blind readers; Okabe and Ito's green and pink for his two greys.
TEN = ("#3f90da ffa90e bd1f01 832db6 92dadd a96b59 e76300 b9ac70 009e73 dd7fb1").replace(" ", " #").split()
_TERMS = (INK, "#1f5fa8", "#c2571a", "#7b52ab", "#2b8a6b")
_LABEL_GAP = 0.055


def loss_terms(history: Sequence[Mapping[str, Any]]) -> Figure:
    """The loss and its terms over epochs; a dashed line where a phase begins."""
    figure, axes = _figure("epochs trained", "")
    timeline = Timeline(history)
    ends = []
    for i, curve in enumerate(timeline.loss_terms()):
        for piece in curve.pieces:
            axes.plot(*zip(*piece, strict=True), color=_TERMS[i % len(_TERMS)])
        ends.append((curve.pieces[-1][-1], curve.name, _TERMS[i % len(_TERMS)]))
    _mark_phases(axes, timeline)
    _label_ends(axes, ends)
    return figure


def order_paths(history: Sequence[Mapping[str, Any]], alphas: Sequence[float] = ()) -> Figure:
    """Each view's order over epochs, × where one was pruned; ``alphas`` are the orders after the last epoch."""
    figure, axes = _figure("epochs trained", "order α")
    timeline = Timeline(history)
    paths = timeline.order_paths(alphas)
    living = sorted((path for path in paths if not path.pruned), key=lambda path: path.points[-1][1])
    colours = view_colours(len(living))
    for path in paths:
        if path.pruned:
            axes.plot(*zip(*path.points, strict=True), color=FAINT)
            axes.plot(*path.points[-1], marker="x", color=FAINT, markersize=7)
    ends = []
    for path, colour in zip(living, colours, strict=True):
        axes.plot(*zip(*path.points, strict=True), color=colour)
        ends.append((path.points[-1], f"α {path.points[-1][1]:.2f}", colour))
    axes.set_ylim(-0.02, 1.05)
    _mark_phases(axes, timeline)
    _label_ends(axes, ends)
    return figure


def responses(
    frequency: ArrayLike, phi: ArrayLike, alphas: Sequence[float], spectrum: Spectrum | None = None
) -> Figure:
    """φ(λ) of each view over the graph's frequencies, and below it where the graph's eigenvalues lie.

    Args:
        frequency: λ, shape (M,).
        phi: responses, shape (K, M).
        alphas: order of each view, shape (K,).
        spectrum: of the graph, from :func:`fdmvgcl.diffusion.spectrum.graph_spectrum`.
    """
    figure = _blank(height=3.4 if spectrum is None else 4.2)
    heights = [1] if spectrum is None else [4, 1]
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    axes = _styled(figure.add_subplot(grid[0]), "graph frequency λ", "response φ(λ)")
    curves = np.atleast_2d(np.asarray(phi, dtype=float))
    order = np.argsort(alphas, kind="stable")
    ends = []
    for k, colour in zip(order, view_colours(len(order)), strict=True):
        axes.plot(frequency, curves[k], color=colour)
        ends.append(((float(np.asarray(frequency)[-1]), float(curves[k, -1])), f"α {alphas[k]:.2f}", colour))
    axes.set_ylim(bottom=min(0.0, float(curves.min())))
    _label_ends(axes, ends)
    if spectrum is not None:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
        _draw_spectrum(_styled(figure.add_subplot(grid[1], sharex=axes), "graph frequency λ", ""), spectrum)
    return figure


def _draw_spectrum(axes: Axes, spectrum: Spectrum) -> None:
    axes.bar(spectrum.edges[:-1], spectrum.shares, np.diff(spectrum.edges), align="edge", color=BARS)
    told = "" if spectrum.method == "exact" else " (estimate)"
    axes.set_title(f"share of the graph’s eigenvalues{told}", fontsize=8.5, color=SOFT, loc="left", pad=3)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def component_spectra(shares: Mapping[str, ArrayLike]) -> Figure:
    """Share of variance that the first components hold together, for each named list of shares, local views first."""
    figure, axes = _figure("number of principal components, largest first", "share of variance")
    ends = []
    for (name, each), colour in zip(shares.items(), view_colours(len(shares)), strict=True):
        held = np.cumsum(np.asarray(each, dtype=float))
        axes.plot(np.arange(1, len(held) + 1), held, color=colour)
        ends.append(((float(len(held)), float(held[-1])), f"{name} · {held[-1]:.0%}", colour))
    axes.set_ylim(0, 1.03)
    _label_ends(axes, ends)
    return figure


def accuracy_over_epochs(lines: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Accuracy against epochs, a named line each of points (epoch, accuracy in [0, 1])."""
    figure, axes = _figure("epochs", "accuracy in %")
    ends = []
    for i, (name, points) in enumerate(lines.items()):
        x, y = zip(*points, strict=True)
        colour, dashes = TEN[i % len(TEN)], "-" if i < len(TEN) else "--"
        axes.plot(x, 100 * np.asarray(y), dashes, color=colour)
        ends.append(((x[-1], 100 * y[-1]), name, colour))
    _label_ends(axes, ends)
    return figure


def sweep(
    variants: Sequence[str], lines: Mapping[str, Sequence[float | None]], axis: str, label: str = "test accuracy, %"
) -> Figure:
    """Accuracy in [0, 1] of each variant, a named line each; a name that ends in ", paper" is dashed, in its colour."""
    figure, axes = _figure(axis, label)
    colours = dict(zip(dict.fromkeys(name.removesuffix(", paper") for name in lines), TEN * 2, strict=False))
    ends = []
    for name, values in lines.items():
        points = [(x, 100 * value) for x, value in enumerate(values) if value is not None]
        if points:
            colour = colours[name.removesuffix(", paper")]
            style: dict[str, Any] = (
                {"linestyle": "--", "alpha": 0.7} if name.endswith(", paper") else {"marker": "o", "markersize": 4}
            )
            axes.plot(*zip(*points, strict=True), color=colour, clip_on=False, **style)
            ends.append((points[-1], name, colour))
    axes.set_xticks(range(len(variants)), variants)
    _label_ends(axes, ends)
    return figure


def embedding_map(points: NDArray[np.floating], labels: Sequence[object] | None = None) -> Figure:
    """Points (n, 2) of a map, coloured by label; past ten labels the less frequent share a grey."""
    figure, axes = _figure("", "", width=5.6, height=5.6)
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)
    names = np.asarray(["" if label is None else str(label) for label in labels or [""] * len(points)])
    found, counts = np.unique(names, return_counts=True)
    frequent = found if len(found) <= len(TEN) else np.sort(found[np.argsort(-counts, kind="stable")[: len(TEN) - 1]])
    size = float(np.clip(4000 / max(1, len(points)), 2, 40))
    rest = ~np.isin(names, frequent)
    if rest.any():
        axes.scatter(
            points[rest, 0],
            points[rest, 1],
            s=size,
            color=BARS,
            linewidths=0,
            label=f"{len(found) - len(frequent)} others",
        )
    for name, colour in zip(frequent, TEN, strict=False):
        own = points[names == name]
        axes.scatter(own[:, 0], own[:, 1], s=size, color=colour, linewidths=0, alpha=0.85, label=name)
    if len(found) > 1:
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), labelcolor=INK, markerscale=2)
    return figure


def view_colours(count: int) -> list[Any]:
    """Viridis from local to global, its palest end left out."""
    return list(mpl.colormaps["viridis"](np.linspace(0, 0.8, count)))


def _blank(width: float = 6.2, height: float = 3.4) -> Figure:
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _figure(xlabel: str, ylabel: str, width: float = 6.2, height: float = 3.4) -> tuple[Figure, Axes]:
    figure = _blank(width, height)
    return figure, _styled(figure.add_subplot(), xlabel, ylabel)


def _styled(axes: Axes, xlabel: str, ylabel: str) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=SOFT, labelsize=9)
    axes.set_xlabel(xlabel, color=SOFT, fontsize=9)
    axes.set_ylabel(ylabel, color=SOFT, fontsize=9)
    axes.margins(x=0)
    return axes


def _mark_phases(axes: Axes, timeline: Timeline) -> None:
    for first, _ in timeline.phases[1:]:
        axes.axvline(first, color=FAINT, linewidth=0.8, linestyle=(0, (3, 3)), zorder=0)


def _label_ends(axes: Axes, ends: Sequence[tuple[tuple[float, float], str, Any]]) -> None:
    """Names beside the lines' ends, pushed apart where they would overlap."""
    low, high = axes.get_ylim()
    darker = 0.75  # text needs more contrast than a line
    floor = -np.inf
    for (_, y), name, colour in sorted(ends, key=lambda end: end[0][1]):
        floor = max((y - low) / (high - low), floor + _LABEL_GAP)
        ink = [darker * channel for channel in mpl.colors.to_rgb(colour)]
        axes.annotate(name, (1.02, floor), xycoords="axes fraction", color=ink, fontsize=8.5, va="center")
