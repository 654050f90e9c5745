"""Edges with a time: which count, and for how much."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fdmvgcl.errors import ArgumentError, RowError
from fdmvgcl.graphs.temporal import Times, Window, read_times, within

DATES = ["2026-01-01", "2026-01-31T12:00:00", "2026-03-02T00:00:00+02:00"]


def test_numbers_and_dates() -> None:
    assert read_times(["1", "2.5", 3]).values.tolist() == [1, 2.5, 3]
    found = read_times(DATES)
    assert found.dates
    assert found.values[0] == datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    assert found.values[2] == datetime(2026, 3, 1, 22, tzinfo=UTC).timestamp()
    assert found.told(found.values[0]) == "2026-01-01"
    assert read_times([datetime(2026, 1, 1)]).values.tolist() == [found.values[0]]


@pytest.mark.parametrize(
    ("cells", "row"),
    [(["1", "2026-01-01"], 1), (["2026-01-01", "7"], 1), (["x"], 0), (["1", "nan"], 1), (["1", None], 1), (["inf"], 0)],
)
def test_what_is_no_time_is_refused_by_its_row(cells: list, row: int) -> None:
    with pytest.raises(RowError, match="time must be") as caught:
        read_times(cells)
    assert caught.value.row == row


def test_a_window_has_both_ends() -> None:
    times = read_times([1, 2, 3, 4])
    assert within(times, None, Window("2", "3")).kept.tolist() == [False, True, True, False]
    assert within(times, None, Window()).weight is None
    days = read_times(DATES)
    assert within(days, None, Window(until="2026-01-31")).kept.tolist() == [True, True, False]
    assert within(days, None, Window(until="2026-01-31T11:59")).kept.tolist() == [True, False, False]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.integers(1, 20))
def test_weights_halve(values: list[int], half_life: int) -> None:
    times = Times(np.array(values, float), dates=False)
    found = within(times, np.full(len(values), 3.0), Window(half_life=str(half_life)))
    np.testing.assert_allclose(found.weight, [3 * 0.5 ** ((max(values) - v) / half_life) for v in values])
    # Decay composes: what was counted at an earlier now and aged since is what is counted now.
    later = within(times, None, Window(until=str(max(values) + 10), half_life=str(half_life)))
    np.testing.assert_allclose(later.weight, found.weight / 3 * 0.5 ** (10 / half_life))


def test_what_has_faded_is_no_edge() -> None:
    """Of weights that underflow some would be too small for a degree to be inverted."""
    times = read_times(["2014-01-01", "2021-02-25", "2024-01-01"])
    counted = within(times, None, Window(half_life="1d"))
    assert counted.weight is not None
    assert list(counted.weight) == [0, 0, 1]


def test_half_lives_of_dates_have_units() -> None:
    found = within(read_times(["2026-01-01", "2026-01-31"]), None, Window(half_life="30d"))
    np.testing.assert_allclose(found.weight, [0.5, 1])
    hours = within(read_times(["2026-01-01", "2026-01-31"]), None, Window(half_life="720 h"))
    np.testing.assert_allclose(hours.weight, [0.5, 1])


@pytest.mark.parametrize(
    ("window", "told"),
    [
        (Window(since="3", until="2"), "since must not be later than until"),
        (Window(since="9"), "since leaves no edge: since 9, but edges have 1 to 2"),
        (Window(until="2026-01-01"), "until must be a number, as the edges have"),
        (Window(half_life="0"), "half_life must be a number in the times' unit, above 0"),
        (Window(half_life="3d"), "half_life must be"),
        (Window(half_life="-1"), "half_life must be"),
    ],
)
def test_what_cannot_be_is_refused(window: Window, told: str) -> None:
    with pytest.raises(ArgumentError, match=told):
        within(read_times([1, 2]), None, window)
    with pytest.raises(ArgumentError, match="half_life must be a number with one of the units"):
        within(read_times(DATES), None, Window(half_life="30"))
