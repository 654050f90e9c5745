"""Average ranks: by hand, by SciPy's Friedman test, and by Demšar's printed critical values."""

import numpy as np
import pytest
from scipy.stats import f, friedmanchisquare

from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation.ranks import average_ranks


def test_ranks_by_hand_with_ties() -> None:
    found = average_ranks([[0.9, 0.8, 0.7], [0.5, 0.5, 0.4], [0.1, 0.3, 0.2]])
    np.testing.assert_allclose(found.mean, [(1 + 1.5 + 3) / 3, (2 + 1.5 + 1) / 3, (3 + 3 + 2) / 3])
    assert (found.low <= found.mean).all()
    assert (found.mean <= found.high).all()


def test_the_test_is_friedmans_as_iman_and_davenport_have_it() -> None:
    for ties in (False, True):
        scores = np.random.default_rng(0).random((12, 5)) + np.linspace(0, 0.4, 5)
        scores = scores.round(1) if ties else scores
        chi = friedmanchisquare(*scores.T).statistic
        expected = f.sf(11 * chi / (12 * 4 - chi), 4, 44)
        assert average_ranks(scores).p_value == pytest.approx(expected)


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_demsars(methods: int, q: float) -> None:
    found = average_ranks(np.random.default_rng(0).random((14, methods))).critical
    assert found == pytest.approx(q * np.sqrt(methods * (methods + 1) / (6 * 14)), rel=1e-3)


def test_methods_that_never_differ_and_always_do() -> None:
    assert average_ranks(np.ones((4, 3))).p_value == 1
    sure = average_ranks(np.tile([3.0, 2.0, 1.0], (6, 1)))
    assert sure.p_value == 0
    np.testing.assert_array_equal(sure.low, sure.high)


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, np.nan], [1.0, 2.0]], [1.0, 2.0]])
def test_scores_that_have_no_ranks(scores: object) -> None:
    with pytest.raises(ArgumentError, match="scores must be finite"):
        average_ranks(scores)
