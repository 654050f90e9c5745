"""Histories as curves, also of records that were edited."""

import pytest

from fdmvgcl.results.history import Timeline, number, numbers, thinned

HISTORY = [
    {"phase": 0, "loss": 3.0, "cosmean": 2.0, "alpha": [0.1, 0.5, 0.5], "view_similarity": [0.2, 0.4]},
    {"phase": 0, "loss": 2.0, "cosmean": 1.5, "alpha": [0.2, 0.6, 0.7], "view_similarity": [0.4, 0.6]},
    {"phase": 1, "loss": 4.0, "cosmean": 3.5, "alpha": [0.2, 0.7], "effective_rank": 9.0, "cka": [[1.0]]},
]


def test_a_curve_breaks_where_a_phase_begins() -> None:
    loss, cosmean = Timeline(HISTORY).loss_terms()
    assert (loss.name, cosmean.name) == ("loss", "cosmean")
    assert loss.pieces == [[(0, 3), (1, 2)], [(2, 4)]]


def test_paths_follow_views_through_pruning() -> None:
    local, distant, pruned = Timeline(HISTORY).order_paths([0.25, 0.75])
    assert local.points == [(0, 0.1), (1, 0.2), (2, 0.2), (3, 0.25)]
    assert distant.points == [(0, 0.5), (1, 0.7), (2, 0.7), (3, 0.75)]
    assert pruned.pruned
    assert pruned.points == [(0, 0.5), (1, 0.6)]


def test_diagnostics_are_no_terms() -> None:
    timeline = Timeline(HISTORY)
    rank, similarity = timeline.diagnostics()
    assert (rank.name, similarity.name) == ("effective rank", "view similarity")
    assert similarity.pieces == [[(0, pytest.approx(0.3)), (1, pytest.approx(0.5))]]


def test_nothing_makes_nothing() -> None:
    timeline = Timeline([])
    assert (timeline.phases, timeline.loss_terms(), timeline.order_paths()) == ([], [], [])
    assert timeline.diagnostics() == []


@pytest.mark.parametrize("value", [None, True, "1", float("nan"), float("inf"), 10**400, [1]])
def test_what_is_no_number(value: object) -> None:
    assert number(value) is None
    assert numbers([1.0, value]) is None


def test_many_points_are_thinned_and_the_ends_kept() -> None:
    points = [(float(i), 0.0) for i in range(10_000)]
    kept = thinned(points)
    assert len(kept) == 400
    assert (kept[0], kept[-1]) == (points[0], points[-1])


def test_class_ratios_are_charted_by_their_mean_and_spectra_are_not() -> None:
    records = [
        {"epoch": e, "phase": 0, "class_ratio": [[1.0, None], [2.0, 3.0]], "spectrum": [[0.5]]} for e in range(2)
    ]
    (curve,) = Timeline(records).diagnostics()
    assert curve.name == "class ratio"
    assert curve.pieces[0][0][1] == 2.0
    assert Timeline([{**records[0], "class_ratio": [[None]]}]).diagnostics() == []
