"""Edges with a time: which of them count, and for how much. Decided before there is a graph.

Times are numbers in any unit (a year, a day's number, seconds since 1970), or dates as ISO 8601 writes them. Dates
without a zone are in UTC.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, RowError, shown
from fdmvgcl.graphs.arrays import FAINTEST

NAMES = ("time", "timestamp")  # of columns that hold times
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0, "y": 31_556_952.0}  # in seconds
_DURATION = re.compile(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?) *([a-z]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Times:
    """When each of E edges was.

    Args:
        values: seconds since 1970 where ``dates``, else plain numbers; shape (E,).
        dates: whether they were written as dates.
    """

    values: NDArray[np.float64]
    dates: bool

    def told(self, value: float) -> str:
        """A time as it would be written."""
        if not self.dates:
            return f"{value:g}"
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").removesuffix("T00:00:00Z")


@dataclass(frozen=True)
class Window:
    """Which edges count: those from ``since`` until ``until``, both included, older ones for less.

    Args:
        since, until: times as they would be written in the file; None for no bound.
        half_life: an edge this much older than the end of the window counts half: a number in the unit of the times, or
            for dates ``30d``, ``12h``, ``2w`` (s, min, h, d, w, y); None for no decay.
    """

    since: str | None = None
    until: str | None = None
    half_life: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.since, self.until, self.half_life))


@dataclass(frozen=True)
class Counted:
    """What a window leaves of E edges.

    Args:
        kept: whether each edge counts, shape (E,).
        weight: of the kept edges, shape (n,); None where they have none of their own and none by age.
        now: the end of the window, from which ages are counted: ``until``, else the latest time.
        half_life: in the unit of the times; None for no decay.
    """

    kept: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    now: float
    half_life: float | None


def read_times(cells: Sequence[object]) -> Times:
    """Times of a column: all of them numbers, or all of them dates; a :class:`RowError` for the first that is neither.

    Args:
        cells: strings, numbers or datetimes.
    """
    first = _number(cells[0]) if len(cells) else 0.0
    dates = first is None
    values = np.empty(len(cells))
    for row, cell in enumerate(cells):
        value = _date(cell) if dates else _number(cell)
        if value is None or not math.isfinite(value):
            kinds = "an ISO date, as the first one is" if dates else "a finite number, as the first one is"
            raise RowError(f"time must be {kinds if row else 'a finite number or an ISO date'}, got {shown(cell)}", row)
        values[row] = value
    return Times(values, dates)


def within(times: Times, weight: NDArray[np.float64] | None, window: Window) -> Counted:
    """Which edges count, and for how much: with a half-life h, ``weight · 2^(-(now - time) / h)``.

    Of an edge that is listed at many times a graph counts the largest weight: with a half-life, that of the latest of
    equals.

    Args:
        times: of each edge.
        weight: of each edge, shape (E,); None for ones.
        window: see :class:`Window`.
    """
    since = -math.inf if window.since is None else _bound("since", window.since, times)
    until = math.inf if window.until is None else _bound("until", window.until, times)
    if since > until:
        raise ArgumentError("since", f"must not be later than until, got {window.since} and {window.until}")
    kept = (times.values >= since) & (times.values <= until)
    if not kept.any():
        span = f"{times.told(times.values.min())} to {times.told(times.values.max())}" if len(kept) else "no times"
        bounds = " and ".join(
            f"{name} {value}" for name, value in (("since", window.since), ("until", window.until)) if value
        )
        raise ArgumentError(
            "until" if window.since is None else "since", f"leaves no edge: {bounds}, but edges have {span}"
        )
    now = until if math.isfinite(until) else float(times.values.max())
    if window.half_life is None:
        return Counted(kept, None if weight is None else weight[kept], now, None)
    half_life = _duration(window.half_life, dates=times.dates)
    share = np.exp2(-(now - times.values[kept]) / half_life)
    counted = share if weight is None else weight[kept] * share
    return Counted(kept, np.where(counted < FAINTEST, 0.0, counted), now, half_life)


def _bound(name: str, text: str, times: Times) -> float:
    """A bound; of a date without a time of day, ``until`` means the end of that day."""
    value = _date(text) if times.dates else _number(text)
    if value is None or not math.isfinite(value):
        kind = "an ISO date, as the edges have" if times.dates else "a number, as the edges have"
        raise ArgumentError(name, f"must be {kind}, got {shown(text)}")
    whole_day = name == "until" and times.dates and len(text.strip()) == len("2026-01-31")
    return value + UNITS["d"] - 1e-6 if whole_day else value


def _duration(text: str, *, dates: bool) -> float:
    found = _DURATION.fullmatch(text.strip())
    unit = found[2].lower() if found else ""
    wanted = (
        f"a number with one of the units {', '.join(UNITS)}, such as 30d" if dates else "a number in the times' unit"
    )
    if found is None or (unit not in UNITS if dates else unit != "") or not 0 < float(found[1]) < math.inf:
        raise ArgumentError("half_life", f"must be {wanted}, above 0, got {shown(text)}")
    return float(found[1]) * (UNITS[unit] if dates else 1.0)


def _number(cell: object) -> float | None:
    try:
        return float(cell) if isinstance(cell, int | float | str | np.number) else None
    except ValueError:
        return None


def _date(cell: object) -> float | None:
    try:
        found = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell).strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
