import numpy as np
import pytest

from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import diffused, majority, raw

LABELS = np.array([0, 1, 1, 2] * 30)
SPLIT = Split(np.arange(0, 40), np.arange(40, 80), np.arange(80, 120))


def test_majority_is_the_share_of_the_most_frequent_class():
    outcome = majority(LABELS, [SPLIT])[0]
    assert outcome.test == outcome.choice.validation == 0.5
    skewed = LABELS.copy()
    skewed[SPLIT.test] = 2
    assert majority(skewed, [SPLIT])[0].test == 0.0


def test_majority_has_no_ranking():
    assert majority(LABELS % 2, [SPLIT], metric="roc_auc")[0].test == 0.5


def test_raw_chooses_how_features_are_normalised():
    rng = np.random.default_rng(0)
    features = {"noise": rng.standard_normal((120, 3)), "signal": np.eye(3)[LABELS]}
    outcome = raw(features, LABELS, [SPLIT])[0]
    assert outcome.choice.settings == {"features": "signal"}
    assert outcome.test == 1.0


def test_diffused_chooses_order_and_time_on_validation():
    rng = np.random.default_rng(1)
    asked = []

    def diffuse(alpha, time):
        asked.append((alpha, time))
        return np.eye(3)[LABELS] * (alpha == 0.5 and time == 3) + rng.standard_normal((120, 3)) * 0.1

    outcome = diffused({"x": diffuse}, LABELS, [SPLIT])[0]
    assert outcome.choice.settings == {"features": "x", "alpha": 0.5, "time": 3.0}
    assert outcome.test == pytest.approx(1.0)
    assert asked == [(alpha, time) for alpha in (0.1, 0.5, 1.0) for time in (1.0, 3.0, 10.0, 20.0)]
