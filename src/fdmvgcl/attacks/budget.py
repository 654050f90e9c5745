"""How much an attack may change, from a rate."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.attacks.pairs import check_undirected
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.settings import check_number

_ROUNDING = 1e-9  # 0.29 · 100 is 28.999999999999996


def edge_budget(graph: Graph, rate: float) -> int:
    """Undirected flips: the rate times the number of edges, rounded down."""
    check_undirected(graph)
    return _share(rate, graph.num_edges)


def feature_budget(graph: Graph, rate: float) -> int:
    """Flips of binary features: the rate times the number of ones, rounded down."""
    check_binary(graph)
    return _share(rate, int(_entries(graph).sum()))


def check_binary(graph: Graph) -> None:
    """Refuse features that a flip means nothing for."""
    values = np.unique(_entries(graph))
    other = values[(values != 0) & (values != 1)]
    if len(other):
        rule = "must be 0 or 1 to be flipped; give a radius to shift features like these"
        raise ArgumentError("features", f"{rule}, got {float(other[0])!r}")


def feature_table(graph: Graph) -> NDArray[np.float32]:
    """The features as a dense array, shape (N, F)."""
    _check_present(graph)
    return np.asarray(graph.features.toarray() if sparse.issparse(graph.features) else graph.features)  # type: ignore[union-attr]


def check_budget(name: str, budget: int, most: int, told: str) -> None:
    """A budget must be a number of flips that the graph allows."""
    if not 0 <= budget <= most:
        raise ArgumentError(name, f"must lie in [0, {most}], {told}, got {budget}")


def _share(rate: float, count: int) -> int:
    check_number("rate", rate, 0, 1)
    return int(rate * count + _ROUNDING)


def _entries(graph: Graph) -> NDArray[np.float32]:
    _check_present(graph)
    return np.asarray(graph.features.data) if sparse.issparse(graph.features) else np.ravel(graph.features)  # type: ignore[union-attr, arg-type]


def _check_present(graph: Graph) -> None:
    if graph.features is None:
        raise ArgumentError("features", "must be there to be attacked; the graph has none")
