import numpy as np
import pytest
from scipy.special import log_softmax

from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import LinearProbe, Rows, Search, Trial, evaluate, fit_path
from fdmvgcl.evaluation.metrics import likelihood
from fdmvgcl.evaluation.shares import log_shares, with_shares

CLASSES = np.array([2, 5, 7])
COMMON = np.array([0.75, 0.2, 0.05])
CENTRES = np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])


def nodes(shares, count, seed):
    """Features and labels of a mixture of three round Gaussians with these shares."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(3, count, p=shares)
    return CENTRES[drawn] + rng.standard_normal((count, 2)), CLASSES[drawn]


def probe_of(x, labels, penalty=1e-3):
    return next(iter(fit_path(Rows(x), labels, [penalty])))


def accuracy(probe, x, labels):
    return np.mean(probe.classes[probe.decision(Rows(x)).argmax(1)] == labels)


@pytest.fixture(scope="module")
def even():
    return nodes(np.full(3, 1 / 3), 3000, seed=0)


@pytest.fixture(scope="module")
def uneven():
    return nodes(COMMON, 3000, seed=1)


def test_shares_are_counts_with_half_a_node_more():
    labels = np.array([5, 5, 2, 5, 9])  # 9 is no class of the probe's, and no node is of class 7
    np.testing.assert_allclose(np.exp(log_shares(labels, CLASSES)), np.array([1.5, 3.5, 0.5]) / 5.5)


@pytest.mark.parametrize("penalty", [1e-3, 3.0])
def test_bayes_rule_for_the_shares_of_other_nodes(even, uneven, penalty):
    """Even under a penalty that leaves the probe unsure of everything."""
    plain = probe_of(*even, penalty)
    mended = with_shares(plain, plain.decision(Rows(uneven[0])), uneven[1], even[1])
    x, labels = nodes(COMMON, 40_000, seed=2)
    best = CLASSES[(x @ CENTRES.T - (CENTRES**2).sum(1) / 2 + np.log(COMMON)).argmax(1)]
    optimum = np.mean(best == labels)
    assert accuracy(plain, x, labels) < optimum - 0.05
    assert accuracy(mended, x, labels) == pytest.approx(optimum, abs=0.004)


def test_the_factor_makes_the_validation_nodes_likeliest(even, uneven):
    plain = probe_of(*even, 1e4)
    values = plain.decision(Rows(uneven[0]))
    mended = with_shares(plain, values, uneven[1], even[1])
    shift = log_shares(uneven[1], CLASSES) - log_shares(even[1], CLASSES)
    grid = [likelihood(s * values + shift, CLASSES, uneven[1]) for s in np.geomspace(0.1, 1000, 400)]
    reached = likelihood(mended.decision(Rows(uneven[0])), CLASSES, uneven[1])
    assert reached >= max(grid) - 1e-8
    assert reached > likelihood(values + shift, CLASSES, uneven[1]) + 0.01


def test_equal_shares_change_no_prediction(even):
    plain = probe_of(*even)
    values = plain.decision(Rows(even[0]))
    mended = with_shares(plain, values, even[1], even[1])
    np.testing.assert_array_equal(mended.decision(Rows(even[0])).argmax(1), values.argmax(1))


def test_a_probe_that_knows_nothing_says_the_shares():
    blank = LinearProbe(CLASSES, np.zeros((2, 3)), np.zeros(3))
    labels = np.repeat(CLASSES, (1, 6, 2))
    mended = with_shares(blank, np.zeros((9, 3)), labels, CLASSES)
    np.testing.assert_allclose(log_softmax(mended.intercept), log_shares(labels, CLASSES))
    assert not mended.coefficients.any()


@pytest.mark.parametrize("labels", [[2, 2, 2], [2, 5, 5], [8, 8, 8], [1, 2, 9]])
def test_classes_missing_on_either_side_leave_numbers(even, labels):
    plain = probe_of(*even)
    mended = with_shares(plain, plain.decision(Rows(even[0][:3])), np.array(labels), even[1])
    assert np.isfinite(mended.decision(Rows(even[0]))).all()


class TestSearch:
    """Shares of validation nodes serve where training nodes are few beside them, and nowhere else."""

    @pytest.fixture
    def data(self):
        x, labels = nodes(COMMON, 4000, seed=3)
        by_class = np.concatenate([np.flatnonzero(labels == c)[:30] for c in CLASSES])
        return x, labels, by_class, np.setdiff1d(np.arange(4000), by_class)

    def test_few_training_nodes_of_each_class(self, data):
        x, labels, train, others = data
        split = Split(train, others[:500], others[500:])
        assert split.few_labels
        with_them, without = (
            evaluate([Trial({}, lambda: [x])], labels, [split], search=Search(class_shares=shares))[0]
            for shares in (True, False)
        )
        assert with_them.test > without.test + 0.05

    def test_half_as_many_training_nodes(self, data):
        x, labels, train, others = data
        split = Split(train, others[: 2 * len(train)], others[500:])
        assert not split.few_labels
        with_them, without = (
            evaluate([Trial({}, lambda: [x])], labels, [split], search=Search(class_shares=shares))[0]
            for shares in (True, False)
        )
        np.testing.assert_array_equal(with_them.choice.decision, without.choice.decision)
