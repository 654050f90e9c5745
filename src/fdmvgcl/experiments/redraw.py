"""Splits made of the known nodes of one: sharper judges where training nodes are few."""

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Split


def redrawn(known: NDArray[np.int64], split: Split, count: int, seed: int = 0) -> list[Split]:
    """``count`` splits with as many training nodes of each class, drawn from the training and validation nodes.

    The other training and validation nodes validate, and the test nodes stay where they are. With 140 training nodes a
    trial's score depends on which 140 they are; the mean over many draws does much less, and reads no label that the
    split itself hides.

    Args:
        known: labels without the test nodes' (:func:`fdmvgcl.evaluation.hide_test`), shape (N,).
        split: the split.
        count: how many.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    nodes = np.concatenate([split.train, split.val])
    classes, sizes = np.unique(known[split.train], return_counts=True)
    made = []
    for _ in range(count):
        order = rng.permutation(nodes)
        drawn = [order[known[order] == label][:size] for label, size in zip(classes, sizes, strict=True)]
        train = np.concatenate(drawn)
        made.append(Split(train, np.setdiff1d(nodes, train), split.test))
    return made
