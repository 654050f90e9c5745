import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel

from fdmvgcl.evaluation import paired_difference, summarise


def test_two_spreads():
    found = summarise([[0.8, 0.6, 0.7], [0.9, 0.7, 0.8]])
    assert found.mean == pytest.approx(0.75)
    assert found.over_seeds == pytest.approx(np.std([0.7, 0.8], ddof=1))
    assert found.over_splits == pytest.approx(np.std([0.85, 0.65, 0.75], ddof=1))
    assert (found.seeds, found.splits) == (2, 3)


def test_one_of_a_kind_has_no_spread():
    assert summarise([[0.8], [0.9]]).over_splits is None
    assert summarise([[0.8, 0.9]]).over_seeds is None
    with pytest.raises(ValueError, match=r"shape \(seeds, splits\)"):
        summarise([0.8, 0.9])


def test_seeds_that_agree_add_no_certainty_to_splits_and_the_other_way_round():
    rng = np.random.default_rng(0)
    by_split = rng.standard_normal(5)
    expected = ttest_1samp(by_split, 0).confidence_interval(0.95)
    many_seeds = np.tile(by_split, (20, 1))
    for table in (by_split, many_seeds, many_seeds.T):
        found = paired_difference(table, np.zeros_like(table))
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.pairs == 100


def test_interval_of_one_split_is_that_of_the_paired_t_test_over_seeds():
    rng = np.random.default_rng(1)
    ours, theirs = rng.random((6, 1)) + 0.1, rng.random((6, 1))
    found = paired_difference(ours, theirs)
    expected = ttest_rel(ours.ravel(), theirs.ravel()).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx((ours - theirs).mean())


@pytest.mark.parametrize(
    "spreads", [(0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (1.0, 1.0, 1.0), (0.3, 1.0, 1.0), (0.0, 0.0, 1.0)]
)
@pytest.mark.parametrize(("seeds", "splits"), [(10, 10), (3, 10)])
def test_interval_holds_the_truth_nineteen_times_of_twenty(spreads, seeds, splits):
    """Seeds, splits and the rest are drawn with these deviations around a true difference of nothing."""
    rng = np.random.default_rng(0)
    repeats = 1500
    of_seed, of_split, of_run = (
        spread * rng.standard_normal((repeats, *shape))
        for spread, shape in zip(spreads, [(seeds, 1), (1, splits), (seeds, splits)], strict=True)
    )
    found = [paired_difference(table, np.zeros_like(table)) for table in of_seed + of_split + of_run]
    right = np.mean([each.verdict == "no difference" for each in found])
    assert right >= 0.935
    if seeds == splits:  # enough of both to be no wider than need be
        assert right <= 0.985


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [([0.9, 0.91, 0.92], "helped"), ([0.1, 0.11, 0.12], "hurt"), ([0.4, 0.5, 0.61], "no difference")],
)
def test_verdict(ours, verdict):
    assert paired_difference(ours, [0.5, 0.51, 0.5]).verdict == verdict


def test_one_pair_has_a_mean_and_no_interval():
    found = paired_difference([0.8], [0.6])
    assert found.mean == pytest.approx(0.2)
    assert (found.low, found.high, found.verdict) == (None, None, "no difference")
    with pytest.raises(ValueError, match="one shape"):
        paired_difference([0.8], [0.6, 0.5])
