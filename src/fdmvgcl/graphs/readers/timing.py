"""Edges of a table by their times: a column ``time`` or ``timestamp``."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, RowError
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers.tables import Table
from fdmvgcl.graphs.temporal import NAMES, Times, Window, read_times, within


@dataclass(frozen=True)
class Timed:
    """What the times of a table's edges decide.

    Args:
        kept: rows that count, None for all.
        weight: of these rows, None for ones.
        column: of the times, None without any.
        remarks: sentences on it.
        clock: the time that ages were counted from, and the half-life; None without decay.
    """

    kept: NDArray[np.int64] | None
    weight: NDArray[np.float64] | None
    column: int | None = None
    remarks: tuple[str, ...] = ()
    clock: tuple[float, float] | None = None


def by_time(table: Table, used: Collection[int | None], weight: NDArray[np.float64] | None, window: Window) -> Timed:
    """The rows that count by their times, and for how much; columns that are ``used`` are something else."""
    found = [column for name in NAMES if (column := table.find(name)) is not None and column not in used]
    if not found:
        if window:
            raise InputError(table.path, f"must have a column {' or '.join(NAMES)}, as a time is asked for")
        return Timed(None, weight)
    column = found[0]
    name = table.names[column]
    if not window:
        return Timed(None, weight, column, (f"times in `{name}`: all edges count alike (see since, until, half-life)",))
    try:
        times = _times(table.values([column])[0])
    except RowError as error:
        raise table.error(error.rule, error.row) from None
    counts = within(times, weight, window)
    left_out = len(counts.kept) - int(counts.kept.sum())
    told = f"times in `{name}`: {counted(left_out, 'edge', 'edges')} left out"
    clock = None if counts.half_life is None else (counts.now, counts.half_life)
    if clock is not None:
        told += f", weights halve with every {window.half_life} before {times.told(counts.now)}"
    return Timed(np.flatnonzero(counts.kept), counts.weight, column, (told,), clock)


def _times(column: pa.ChunkedArray) -> Times:
    """Times of a column of numbers, dates or texts."""
    if not column.null_count:
        if pa.types.is_temporal(column.type) and not pa.types.is_duration(column.type):
            micros = pc.cast(pc.cast(column, pa.timestamp("us")), pa.int64())
            return Times(micros.to_numpy() / 1e6, dates=True)
        try:
            values = pc.cast(column, pa.float64()).to_numpy()
            if np.isfinite(values).all():
                return Times(values, dates=False)
        except pa.ArrowException:
            pass
    return read_times(column.to_pylist())
