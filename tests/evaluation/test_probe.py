import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax

from fdmvgcl.datasets import load
from fdmvgcl.evaluation import Rows, fit_path, raw
from fdmvgcl.evaluation.probe import least_squares
from fdmvgcl.evaluation.span import _factor, span_of


def problem(count, width, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    rows = rng.standard_normal((count, width)) + 0.7 * rng.standard_normal((classes, width))[labels] + 2.0
    return rows, labels, rng.standard_normal((25, width)) + 2.0


def newton(rows, labels, l2):
    """Coefficients and intercept by damped Newton steps on the whole problem, to rounding error."""
    count, classes = len(rows), labels.max() + 1
    extended = np.hstack([rows, np.ones((count, 1))])
    penalty = np.full(extended.shape[1], l2)
    penalty[-1] = 0.0
    weights = np.zeros((extended.shape[1], classes))

    def gradient(weights):
        shares = softmax(extended @ weights, axis=1)
        return shares, extended.T @ (shares - np.eye(classes)[labels]) + penalty[:, None] * weights

    for _ in range(40):
        shares, slope = gradient(weights)
        curvature = np.einsum("nc,ce->nce", shares, np.eye(classes)) - np.einsum("nc,ne->nce", shares, shares)
        hessian = np.einsum("ni,nj,nce->icje", extended, extended, curvature, optimize=True)
        hessian += np.einsum("ij,ce->icje", np.diag(penalty), np.eye(classes))
        # Adding one number to all intercepts changes nothing; this holds their sum at zero.
        hessian[-1, :, -1, :] += 1.0
        step = np.linalg.solve(hessian.reshape(slope.size, slope.size), slope.ravel()).reshape(slope.shape)
        size = 1.0
        while size > 1e-3 and np.linalg.norm(gradient(weights - size * step)[1]) > np.linalg.norm(slope):
            size /= 2
        weights = weights - size * step
        if np.abs(step).max() < 1e-14:
            break
    return weights[:-1], weights[-1]


def centred(scores):
    """Decision values up to what is the same for all classes."""
    return scores - scores.mean(axis=1, keepdims=True)


def plain(rows, labels, others, penalty):
    """The same optimum from the whole matrix."""
    l2 = penalty * np.square(rows - rows.mean(axis=0)).sum(axis=1).mean()
    coefficients, intercept = newton(rows, labels, l2)
    return centred(others @ coefficients + intercept)


def ours(rows, labels, others, penalties, axes=None):
    path = fit_path(Rows(rows), labels, penalties, tolerance=1e-9, axes=axes)
    return [centred(probe.decision(Rows(others))) for probe in path]


@pytest.mark.parametrize("shape", [(30, 200), (30, 30), (200, 12)])
@pytest.mark.parametrize("l2", [10.0, 0.01])
def test_the_span_of_the_training_rows_has_the_same_optimum(shape, l2):
    """The reduction alone, both sides solved to rounding error."""
    rows, labels, others = problem(*shape)
    coefficients, intercept = newton(rows, labels, l2)
    span = span_of(Rows(rows))
    assert span.coordinates.shape[1] <= min(shape)
    reduced, offset = newton(span.coordinates.dense(), labels, l2)
    found = (others - span.centre) @ span.expand(reduced) + offset
    np.testing.assert_allclose(centred(found), centred(others @ coefficients + intercept), atol=1e-9)


@pytest.mark.parametrize("shape", [(30, 200), (30, 30), (200, 12)])
def test_the_path_ends_at_the_plain_solution(shape):
    """To the square root of rounding error, which is what a method that compares values can reach."""
    rows, labels, others = problem(*shape)
    penalties = (3.0, 0.1, 0.01)
    for penalty, decision in zip(penalties, ours(rows, labels, others, penalties), strict=True):
        np.testing.assert_allclose(decision, plain(rows, labels, others, penalty), atol=1e-6)


def test_any_orthonormal_axes_lead_to_the_same_optimum():
    rows, labels, others = problem(200, 12)
    axes = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
    penalties = (3.0, 0.01)
    for penalty, decision in zip(penalties, ours(rows, labels, others, penalties, axes), strict=True):
        np.testing.assert_allclose(decision, plain(rows, labels, others, penalty), atol=1e-6)


def test_large_problems_are_not_reduced_and_give_the_same(monkeypatch):
    rows, labels, others = problem(60, 40)
    expected = plain(rows, labels, others, 0.5)
    for limit in ("LARGEST_GRAM", "LARGEST_SPARSE_GRAM"):
        monkeypatch.setattr(f"fdmvgcl.evaluation.span.{limit}", 5)
    np.testing.assert_allclose(ours(rows, labels, others, (0.5,))[0], expected, atol=1e-6)
    sparse = Rows(sp.csr_array(rows), np.ones(60), np.full(40, 2.0))
    probe = next(fit_path(sparse, labels, (0.5,), tolerance=1e-9))
    np.testing.assert_allclose(centred(probe.decision(Rows(others - 2.0))), expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(60, 150), (150, 60)])
def test_single_precision_gives_the_same(shape, monkeypatch):
    rows, labels, others = problem(*shape)
    expected = plain(rows, labels, others, 0.01)
    for limit in ("LARGEST_DOUBLE", "LARGEST_DOUBLE_GRAM"):
        monkeypatch.setattr(f"fdmvgcl.evaluation.span.{limit}", 0)
    np.testing.assert_allclose(ours(rows, labels, others, (1.0, 0.01))[1], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shape", [(60, 150), (150, 60)])
@pytest.mark.parametrize("factored", [False, True])
def test_rows_taken_a_few_at_a_time_give_the_same(shape, factored, monkeypatch):
    """Bands of sixteen rows, the last of fewer; of a triangular factor without the zeros to the right."""
    rows, labels, others = problem(*shape)
    monkeypatch.setattr("fdmvgcl.evaluation.span.BAND", 1)
    if factored:
        monkeypatch.setattr("fdmvgcl.evaluation.span.LARGEST_DOUBLE_GRAM", 0)
    span = span_of(Rows(rows))
    bands = span.bands(classes=3)
    assert span.triangular == (factored and shape == (60, 150))
    assert len(bands) == -(-len(rows) // 16)
    whole = np.zeros(span.coordinates.shape)
    for part, band in bands:
        whole[part, : band.shape[1]] = band.dense()
    np.testing.assert_array_equal(whole, span.coordinates.dense())
    expected = plain(rows, labels, others, 0.01)
    error = 1e-3 if span.triangular else 1e-6
    np.testing.assert_allclose(ours(rows, labels, others, (1.0, 0.01))[1], expected, rtol=error, atol=error)


def test_rounding_below_zero_is_raised_as_little_as_it_needs():
    gram = np.diag(np.array([3.0, 1.0, -1e-3], dtype=np.float32))
    lower = _factor(gram)
    np.testing.assert_allclose(lower @ lower.T, gram, atol=2e-2)


def test_single_precision_takes_equal_rows(monkeypatch):
    """The Gram matrix has hardly any rank: its factor needs a raised diagonal, and still gives the same."""
    monkeypatch.setattr("fdmvgcl.evaluation.span.LARGEST_DOUBLE_GRAM", 0)
    few, kinds, others = problem(6, 150)
    rows, labels = 1e3 * np.tile(few, (20, 1)), np.tile(kinds, 20)
    expected = plain(rows, labels, 1e3 * others, 0.01)
    np.testing.assert_allclose(ours(rows, labels, 1e3 * others, (1.0, 0.01))[1], expected, rtol=5e-3, atol=5e-3)
    constant = next(fit_path(Rows(np.ones((30, 40))), np.arange(30) % 3, (0.1,)))
    assert np.isfinite(constant.decision(Rows(np.ones((1, 40))))).all()


def test_default_tolerance_keeps_the_predictions():
    rows, labels, others = problem(60, 150)
    for penalty, probe in zip((1.0, 0.01), fit_path(Rows(rows), labels, (1.0, 0.01)), strict=True):
        exact = plain(rows, labels, others, penalty)
        decision = probe.decision(Rows(others))
        np.testing.assert_array_equal(decision.argmax(axis=1), exact.argmax(axis=1))


@pytest.mark.parametrize("shape", [(60, 150), (150, 60)])
def test_least_squares_solves_the_normal_equations_at_every_penalty(shape):
    rows, labels, _ = problem(*shape)
    centred_rows = rows - rows.mean(axis=0)
    penalties = (1.0, 0.1)
    for penalty, probe in zip(penalties, least_squares(Rows(rows), labels, penalties), strict=True):
        residual = (labels[:, None] == probe.classes) - probe.decision(Rows(rows))
        strength = penalty * np.square(centred_rows).sum() / len(rows)
        np.testing.assert_allclose(centred_rows.T @ residual, strength * probe.coefficients, atol=1e-8)
        np.testing.assert_allclose(residual.sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8 / 3])
@pytest.mark.parametrize("columns", [2, 9])
def test_least_squares_on_equal_rows_gives_the_shares_of_the_classes(value, columns):
    rows = Rows(np.full((7, columns), value))
    (probe,) = least_squares(rows, np.array([0, 0, 0, 0, 0, 1, 1]), [0.1])
    np.testing.assert_allclose(probe.decision(rows), [[5 / 7, 2 / 7]] * 7)


def test_penalty_means_the_same_at_every_scale():
    rows, labels, others = problem(30, 50)
    small = ours(rows, labels, others, (0.1,))[0]
    large = ours(1000 * rows, labels, 1000 * others, (0.1,))[0]
    np.testing.assert_allclose(small, large, atol=1e-6)


def test_labels_need_not_be_contiguous():
    rows, labels, others = problem(30, 50)
    names = np.array([7, -3, 100])
    probe = next(fit_path(Rows(rows), names[labels], (0.1,)))
    assert probe.classes.tolist() == [-3, 7, 100]
    same = next(fit_path(Rows(rows), labels, (0.1,)))
    np.testing.assert_allclose(probe.decision(Rows(others)), same.decision(Rows(others))[:, [1, 0, 2]], atol=1e-2)


def test_one_class_or_constant_rows_give_the_prior():
    rows, _, others = problem(30, 50)
    alone = next(fit_path(Rows(rows), np.full(30, 4), (0.1,)))
    assert alone.classes.tolist() == [4]
    assert np.isfinite(alone.decision(Rows(others))).all()
    skewed = np.where(np.arange(30) < 20, 1, 2)
    constant = next(fit_path(Rows(np.ones((30, 3))), skewed, (0.1,)))
    assert (constant.classes[constant.decision(Rows(np.ones((5, 3)))).argmax(axis=1)] == 1).all()


def test_raw_features_of_real_graphs(data_root):
    cora = load("cora", data_root)
    outcome = raw({"as published": cora.features}, cora.labels, cora.splits)[0]
    assert 0.57 < outcome.test < 0.64
    texas = load("texas", data_root)
    scores = [outcome.test for outcome in raw({"as published": texas.features}, texas.labels, texas.splits[:3])]
    assert np.mean(scores) > 0.75
