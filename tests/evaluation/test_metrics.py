import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from fdmvgcl.evaluation.metrics import closeness, likelihood

CLASSES = np.array([2, 5, 7])


@pytest.fixture
def decision():
    return np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def labels():
    return CLASSES[np.random.default_rng(1).integers(0, 3, 12)]


def test_likelihood_is_minus_the_log_loss(decision, labels):
    shares = np.exp(decision) / np.exp(decision).sum(1, keepdims=True)
    assert likelihood(decision, CLASSES, labels) == pytest.approx(-log_loss(labels, shares, labels=CLASSES))


def test_closeness_is_minus_the_brier_score(labels):
    shares = np.random.default_rng(2).dirichlet(np.ones(3), 12)
    expected = sum(brier_score_loss(labels == c, shares[:, i]) for i, c in enumerate(CLASSES))
    assert closeness(shares, CLASSES, labels) == pytest.approx(-expected)


@pytest.mark.parametrize("measure", [likelihood, closeness])
def test_labels_that_training_did_not_see_do_not_count(measure, decision, labels):
    strange = np.concatenate([labels, [1, 6, 9]])
    more = np.concatenate([decision, np.full((3, 3), 40.0)])
    assert measure(more, CLASSES, strange) == pytest.approx(measure(decision, CLASSES, labels))
    assert measure(more[-3:], CLASSES, strange[-3:]) == 0.0


@pytest.mark.parametrize("measure", [likelihood, closeness])
def test_rounding_errors_make_no_difference(measure, decision, labels):
    assert measure(decision * (1 + 1e-13), CLASSES, labels) == measure(decision, CLASSES, labels)
