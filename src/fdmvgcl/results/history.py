"""A training history as curves, for figures and report. Records may lack keys, have more, or have been edited."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

Point = tuple[float, float]

MOST_POINTS = 400
# Keys of a record that are no terms of the loss: the state of training, and what diagnostics measure.
STATE = frozenset({"phase", "epoch", "loss", "alpha", "time", "skip_weight", "rate", "seconds"})
DIAGNOSTICS = frozenset(
    {
        *("view_similarity", "effective_rank", "cka", "alignment", "uniformity", "spectrum"),
        *("class_ratio", "neighbour_homophily"),
    }
)


@dataclass(frozen=True)
class Curve:
    """A named line in pieces: one for each phase, as weights start anew between phases."""

    name: str
    pieces: list[list[Point]]


@dataclass(frozen=True)
class Path:
    """One view's order over all epochs trained; ``pruned`` if the view was dropped at the end of it."""

    points: list[Point]
    pruned: bool = False


def number(value: object) -> float | None:
    """A finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def numbers(value: object) -> list[float] | None:
    """A list of finite numbers, else None."""
    if not isinstance(value, list | tuple) or not value:
        return None
    found = [number(each) for each in value]
    return None if None in found else found  # type: ignore[return-value]


class Timeline:
    """Records in order, the x-axis being the number of epochs trained before, all phases together.

    Attributes:
        records: those that are dictionaries.
        phases: (first, end) of each phase.
    """

    def __init__(self, history: Sequence[Any]) -> None:
        self.records: list[dict[str, Any]] = [record for record in history if isinstance(record, dict)]
        starts = [i for i, r in enumerate(self.records) if i == 0 or r.get("phase") != self.records[i - 1].get("phase")]
        self.phases = list(pairwise([*starts, len(self.records)]))

    def curve(self, name: str, value: Callable[[dict[str, Any]], float | None]) -> Curve | None:
        """The line of what ``value`` finds in each record; None if it finds nothing."""
        pieces = []
        for first, end in self.phases:
            found = [(float(x), value(self.records[x])) for x in range(first, end)]
            piece = [(x, y) for x, y in found if y is not None]
            if piece:
                pieces.append(thinned(piece))
        return Curve(name, pieces) if pieces else None

    def scalar(self, key: str) -> Curve | None:
        return self.curve(key, lambda record: number(record.get(key)))

    def loss_terms(self) -> list[Curve]:
        """The loss first, then its terms, unweighted as they are logged."""
        known = STATE | DIAGNOSTICS
        keys = dict.fromkeys(key for record in self.records for key in record if key not in known)
        curves = [self.scalar("loss"), *(self.scalar(key) for key in keys)]
        return [curve for curve in curves if curve is not None]

    def diagnostics(self) -> list[Curve]:
        """What was measured beside the loss, of what is a number an epoch, or a list of them, whose mean is shown."""
        curves = [self.curve(key.replace("_", " "), _mean_of(key)) for key in sorted(DIAGNOSTICS)]
        return [curve for curve in curves if curve is not None]

    def order_paths(self, final: Sequence[float] = ()) -> list[Path]:
        """Each view's order, followed through the phases; ``final`` are the orders after the last epoch."""
        living: list[list[Point]] = []
        done: list[Path] = []
        for first, end in self.phases:
            rows = [(float(x), found) for x in range(first, end) if (found := numbers(self.records[x].get("alpha")))]
            rows = [row for row in rows if len(row[1]) == len(rows[0][1])]
            if not rows:
                continue
            living, dropped = _continued(living, *rows[0])
            done += [Path(thinned(path), pruned=True) for path in dropped]
            for x, orders in rows[1:]:
                for path, order in zip(living, orders, strict=True):
                    path.append((x, order))
        if living and len(final) == len(living):
            for path, order in zip(living, final, strict=True):
                path.append((float(len(self.records)), float(order)))
        return [*(Path(thinned(path)) for path in living), *done]


def _mean_of(key: str) -> Callable[[dict[str, Any]], float | None]:
    def value(record: dict[str, Any]) -> float | None:
        found = _of_classes(record.get(key)) if key == "class_ratio" else numbers(record.get(key))
        return number(record.get(key)) if not found else sum(found) / len(found)

    return value


def _of_classes(value: object) -> list[float]:
    """The numbers of a list of lists, without those that a class does not have."""
    if not isinstance(value, list):
        return []
    return [n for row in value if isinstance(row, list) for each in row if (n := number(each)) is not None]


def _continued(paths: list[list[Point]], x: float, orders: list[float]) -> tuple[list[list[Point]], list[list[Point]]]:
    """Paths that go on with these orders, each taken up by the nearest, and those that end."""
    cost = np.array([[abs(path[-1][1] - order) for order in orders] for path in paths]).reshape(len(paths), len(orders))
    old, new = linear_sum_assignment(cost)
    taken = dict(zip(new.tolist(), old.tolist(), strict=True))
    going = [[*paths[taken[i]], (x, order)] if i in taken else [(x, order)] for i, order in enumerate(orders)]
    return going, [path for i, path in enumerate(paths) if i not in taken.values()]


def thinned(points: list[Point], most: int = MOST_POINTS) -> list[Point]:
    """At most so many of them, evenly spaced, the ends kept."""
    if len(points) <= most:
        return points
    return [points[i] for i in np.linspace(0, len(points) - 1, most).round().astype(int)]
