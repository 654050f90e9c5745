import numpy as np
import pytest

from fdmvgcl.evaluation.weights import STEPS, away, toward, tune, uniform


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_uniform_stays_where_nothing_is_better(count):
    beta, value = tune(lambda b: 0.7, count)
    np.testing.assert_array_equal(beta, uniform(count))
    assert value == 0.7


@pytest.mark.parametrize("count", [2, 3, 5])
def test_moves_stay_on_the_simplex(count):
    seen = []
    rng = np.random.default_rng(0)

    def objective(beta):
        seen.append(beta.copy())
        return float(rng.random())

    tune(objective, count)
    for beta in seen:
        assert beta.min() >= 0.0
        assert beta.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(seen[0], uniform(count))
    assert len(seen) <= 6 * count + 1


@pytest.mark.parametrize("target", [(1.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.45, 0.05, 0.5), (0.1, 0.8, 0.1)])
def test_a_planted_optimum_is_nearly_found(target):
    beta, value = tune(lambda b: -float(np.square(b - target).sum()), 3)
    assert np.abs(beta - target).max() < STEPS[-1]
    assert value == -float(np.square(beta - target).sum())


def test_moves():
    np.testing.assert_allclose(toward(np.array([0.5, 0.5]), 0, 0.2), [0.6, 0.4])
    np.testing.assert_allclose(away(np.array([0.5, 0.3, 0.2]), 0, 1.0), [0.0, 0.6, 0.4])
    np.testing.assert_allclose(away(np.array([1.0, 0.0]), 0, 0.5), [1.0, 0.0])
