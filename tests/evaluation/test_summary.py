import numpy as np
import pytest
from scipy.stats import ttest_rel

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


def test_interval_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    ours, theirs = rng.random((4, 5)) + 0.1, rng.random((4, 5))
    found = paired_difference(ours, theirs)
    expected = ttest_rel(ours.ravel(), theirs.ravel()).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.mean == pytest.approx((ours - theirs).mean())
    assert found.pairs == 20


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
