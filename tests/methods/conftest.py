"""A planted partition that every method should see."""

import numpy as np
import pytest
from scipy import sparse

from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import Trial, evaluate
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.methods.base import Embedding


class Planted:
    """Three groups of 60 nodes, a tenth of them linked within and a hundredth between, weak words for features."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.labels = np.repeat(np.arange(3), 60)
        same = self.labels[:, None] == self.labels
        linked = np.triu(rng.random((180, 180)) < np.where(same, 0.1, 0.01), 1)
        words = rng.random((180, 48)) < 0.05
        words |= (rng.random((180, 48)) < 0.15) & (np.arange(48) % 3 == self.labels[:, None])
        self.graph = Graph.from_scipy(sparse.csr_array((linked | linked.T).astype(float)), words.astype(np.float32))
        order = rng.permutation(180)
        self.split = Split(order[:18], order[18:60], order[60:])

    def accuracy(self, rows: Embedding) -> float:
        """Of the plain probe on the test nodes."""
        return evaluate([Trial({}, lambda: [rows])], self.labels, [self.split])[0].test


@pytest.fixture(scope="session")
def planted() -> Planted:
    return Planted()
