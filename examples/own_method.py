"""A method of one's own beside the library's: what meets the protocol joins (python examples/own_method.py)."""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from sklearn.decomposition import TruncatedSVD

from fdmvgcl.evaluation import Trial, evaluate
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.graphs.inputs import as_graph
from fdmvgcl.methods import Embedder, make_method


@dataclass
class SmoothedSVD:
    """Singular vectors of the features averaged over neighbours a few times."""

    dim: int = 32
    rounds: int = 2
    seed: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        return asdict(self)

    def fit(self, graph: Any) -> Self:
        self.svd_ = TruncatedSVD(self.dim, random_state=self.seed).fit(self._smoothed(graph))
        self.history_: list[dict[str, Any]] = []
        return self

    def transform(self, graph: Any) -> np.ndarray:
        return self.svd_.transform(self._smoothed(graph)).astype(np.float32)

    def fit_transform(self, graph: Any) -> np.ndarray:
        return self.fit(graph).transform(graph)

    def _smoothed(self, given: Any) -> np.ndarray:
        graph = as_graph(given)
        x = np.asarray(graph.features, dtype=np.float64)
        for _ in range(self.rounds):
            x = (x + graph.adjacency @ x) / (1 + graph.degrees[:, None])
        return x


if __name__ == "__main__":
    digits = benchmark("digits")
    methods: dict[str, Embedder] = {"own": SmoothedSVD(), "spectral": make_method("spectral", dim=32)}
    for name, method in methods.items():
        rows = method.fit_transform(digits.graph)
        outcomes = evaluate([Trial({}, lambda rows=rows: [rows])], digits.dataset.labels, digits.splits[:2])
        print(f"{name:8} {np.mean([outcome.test for outcome in outcomes]):.3f}  {method.settings}")
