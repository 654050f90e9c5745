"""Figures of many small panels in the library's quiet style, and their files."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from fdmvgcl.figures.pictures import FAINT, INK, SOFT, TEN, view_colours
from fdmvgcl.files import atomic_write

# Of the library's ten colours the seven that are dark enough for thin lines.
CATEGORIES = tuple(TEN[i] for i in (0, 1, 2, 3, 5, 8, 7))
_DOTS_PER_INCH = 110
_PALETTE = 96  # colours; more than antialiased lines of these colours need
_LABEL_HEIGHT = 0.062  # of a panel 2.4 inches high


def panels(
    rows: int, columns: int, *, width: float = 3.0, height: float = 2.4, side: float = 0.0, share_y: bool = False
) -> tuple[Figure, Any]:
    """A figure of rows × columns plain panels, ``side`` inches left for a key; the axes as an array of that shape."""
    figure = Figure(figsize=(columns * width + side, rows * height), layout="constrained", facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=share_y)
    for each in axes.flat:
        each.spines[["top", "right"]].set_visible(False)
        each.spines[["left", "bottom"]].set_color(FAINT)
        each.tick_params(which="both", colors=SOFT, labelsize=8)
    return figure, axes


def describe(axes: Axes, title: str = "", x: str = "", y: str = "") -> None:
    """Title and axis labels; empty ones stay away."""
    if title:
        axes.set_title(title, fontsize=9, color=INK, loc="left")
    if x:
        axes.set_xlabel(x, fontsize=8.5, color=SOFT)
    if y:
        axes.set_ylabel(y, fontsize=8.5, color=SOFT)


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, Any]]) -> None:
    """Names at the right edge, each at the height (in data) where its line ends, pushed apart if they would overlap."""
    places = _apart([_height(axes, y) for y, *_ in ends], _LABEL_HEIGHT)
    for place, (_, name, colour) in zip(places, ends, strict=True):
        ink = [0.8 * channel for channel in mpl.colors.to_rgb(colour)]  # text needs more contrast than a line
        axes.annotate(name, (1.02, place), xycoords="axes fraction", color=ink, fontsize=7.5, va="center")


def label_points(axes: Axes, points: Sequence[tuple[float, float, str, Any]]) -> None:
    """Names of points (x, y) at the right edge in the order of their heights, a hair from each to its point."""
    places = _apart([_height(axes, y) for _, y, *_ in points], _LABEL_HEIGHT)
    for place, (x, y, name, colour) in zip(places, points, strict=True):
        axes.annotate(
            name,
            (x, y),
            xytext=(1.02, place),
            textcoords="axes fraction",
            color=colour,
            fontsize=7.5,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.3, "shrinkB": 3, "relpos": (0, 0.5)},
        )


def _height(axes: Axes, y: float) -> float:
    """Of a number on the axis, as a share of the panel from below."""
    data = axes.transData.transform((axes.get_xlim()[1], y))
    return float(np.clip(axes.transAxes.inverted().transform(data)[1], 0, 1))


def _apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Places near the wanted ones, at least ``gap`` apart, none pushed above 1 as long as there is room."""
    order = np.argsort(wanted, kind="stable")
    placed = np.empty(len(wanted))
    floor = -np.inf
    for i in order:
        placed[i] = floor = max(wanted[i], floor + gap)
    ceiling = max(1.0, gap * (len(wanted) - 1))
    for i in order[::-1]:
        placed[i] = ceiling = min(placed[i], ceiling)
        ceiling -= gap
    return [float(place) for place in placed]


def order_key(figure: Figure, alphas: Sequence[float]) -> None:
    """Names of the colours of ascending orders, at the figure's right."""
    lines = [
        Line2D([], [], color=colour, label=f"α = {a:g}")
        for a, colour in zip(alphas, view_colours(len(alphas)), strict=True)
    ]
    figure.legend(handles=lines, loc="outside right upper", frameon=False, fontsize=8, labelcolor=SOFT)


def legend(axes: Axes, **options: Any) -> None:
    """A small legend without a frame."""
    axes.legend(**{"frameon": False, "fontsize": 7.5, "labelcolor": SOFT, **options})


def save(figure: Figure, path: Path) -> Path:
    """As PNG with a palette, a third of the size; the same figure gives the same bytes."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=_DOTS_PER_INCH)
    palette = Image.open(drawn).convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE)
    with atomic_write(path) as handle:
        palette.save(handle, format="png", optimize=True)
    return path
