"""Predictions: the score is honest, and a better control is named."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from fdmvgcl.analysis.predictions import _folds, predict
from fdmvgcl.errors import UserError
from fdmvgcl.evaluation.standing import Measured, Standing


def table(count: int = 240, noise: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = generator.integers(3, size=count)
    return (np.eye(3, 8)[labels] * 2 + noise * generator.normal(size=(count, 8))).astype(np.float32), labels


def test_it_predicts_as_logistic_regression_does() -> None:
    z, truth = table()
    known = np.where(np.arange(240) % 3 == 0, truth, -1)
    found = predict(z, known)
    theirs = LogisticRegression().fit(z[known >= 0], known[known >= 0])
    rest = known < 0
    assert (found.labels == truth)[rest].mean() > theirs.score(z[rest], truth[rest]) - 0.03
    np.testing.assert_allclose(found.probabilities.sum(1), 1)
    assert found.standing.ours.mean == pytest.approx((found.labels == truth)[rest].mean(), abs=0.06)
    assert found.confidence == pytest.approx(found.standing.ours.mean, abs=0.06)


def test_the_score_of_labels_that_mean_nothing_is_chance() -> None:
    z, _ = table()
    labels = np.random.default_rng(5).integers(2, size=240)
    assert predict(z, labels).standing.ours.mean < 0.62


def test_a_control_that_wins_is_named() -> None:
    z, labels = table()
    noise = np.random.default_rng(1).normal(size=(240, 40)).astype(np.float32)
    assert predict(noise, labels, {"raw features": sparse.csr_array(z)}).standing.sentence.startswith(
        "raw features is ahead of the embedding"
    )
    won = predict(z, labels, {"raw features": noise}).standing
    assert won.sentence.startswith("the embedding is ahead of raw features")
    assert [each.name for each in won.controls] == ["raw features", "majority class"]


def test_folds_are_disjoint_and_share_the_classes() -> None:
    labels = np.repeat([0, 1], [50, 25])
    splits = _folds(labels, np.arange(75), seed=0)
    np.testing.assert_array_equal(np.sort(np.concatenate([split.test for split in splits])), np.arange(75))
    for split in splits:
        assert len({*split.train, *split.val, *split.test}) == 75
        assert np.bincount(labels[split.test]).tolist() == [10, 5]


def test_a_class_of_one_node_is_no_trouble() -> None:
    z, labels = table(40)
    labels[7] = 9
    assert set(predict(z, labels).classes) == {0, 1, 2, 9}


@pytest.mark.parametrize(("known", "told"), [([0] * 10, "two classes"), ([0, 1, 0, 1, 1], "at least 6 nodes")])
def test_too_little_to_learn_from_is_refused(known: list[int], told: str) -> None:
    z, _ = table(20)
    with pytest.raises(UserError, match=told):
        predict(z, np.array(known + [-1] * (20 - len(known))))


def test_sentences_say_what_is_clear() -> None:
    def sentence(ours: list[float], theirs: list[float]) -> str:
        return Standing("AUC", "", Measured("embedding", tuple(ours)), (Measured("x", tuple(theirs)),)).sentence

    assert sentence([0.9, 0.91, 0.92], [0.5, 0.51, 0.53]).startswith("the embedding is ahead of x: AUC 0.910")
    assert sentence([0.9, 0.5, 0.92], [0.5, 0.91, 0.53]).startswith("the embedding is ahead, though not clearly, of x")
    assert sentence([0.5, 0.51, 0.53], [0.9, 0.91, 0.92]).startswith("x is ahead of the embedding")
    assert sentence([0.5], [0.5]).startswith("x does as well")
    record = Standing("AUC", "on", Measured("embedding", (0.5,)), (Measured("x", (0.4,)),))
    assert Standing.from_record(record.record()) == record
    with pytest.raises(ValueError, match="one length"):
        Standing.from_record({"metric": "", "measured": "", "scores": {"a": [1], "b": []}})
