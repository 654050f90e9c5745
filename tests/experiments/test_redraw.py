"""Splits made of the known nodes of one."""

import numpy as np
import pytest

from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import hide_test
from fdmvgcl.experiments.redraw import redrawn

LABELS = np.random.default_rng(0).integers(0, 3, 90)
SPLIT = Split(np.arange(12), np.arange(12, 50), np.arange(50, 90))


def test_known_nodes_are_dealt_anew_and_test_nodes_stay() -> None:
    known = hide_test(LABELS, SPLIT)
    made = redrawn(known, SPLIT, 5)
    assert len({tuple(split.train) for split in made}) == 5
    for split in made:
        assert sorted([*split.train, *split.val]) == list(range(50))
        np.testing.assert_array_equal(split.test, SPLIT.test)
        np.testing.assert_array_equal(np.bincount(known[split.train]), np.bincount(known[SPLIT.train]))


def test_the_same_every_time_whatever_the_test_labels_are() -> None:
    other = LABELS.copy()
    other[SPLIT.test] = (other[SPLIT.test] + 1) % 3
    first, second = (redrawn(hide_test(labels, SPLIT), SPLIT, 3) for labels in (LABELS, other))
    assert [split.train.tolist() for split in first] == [split.train.tolist() for split in second]


def test_a_class_without_training_nodes_gets_none() -> None:
    known = hide_test(LABELS, SPLIT)
    known[SPLIT.train[known[SPLIT.train] == 2]] = 1
    for split in redrawn(known, SPLIT, 3):
        assert not (known[split.train] == 2).any()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_seed_decides(seed: int) -> None:
    known = hide_test(LABELS, SPLIT)
    assert not np.array_equal(redrawn(known, SPLIT, 1)[0].train, redrawn(known, SPLIT, 1, seed)[0].train)
