"""What an attack did, as a value: flips of edges and of features that turn one graph into another."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.attacks.budget import check_binary, feature_table
from fdmvgcl.attacks.pairs import Pairs, are_edges, check_undirected, edge_pairs, keys_of
from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.files import StrPath, read_npz, write_npz
from fdmvgcl.graphs.arrays import Features, as_features, canonical_csr
from fdmvgcl.graphs.graph import Graph

VERSION_KEY = "fdmvgcl_perturbation_version"
VERSION = 1


def _nothing() -> Pairs:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Flips by node number, distinct and sorted.

    Args:
        flips: pairs of nodes (u, v) whose edge is added (with weight 1) or removed, shape (M, 2).
        feature_flips: entries (node, column) of binary features that turn from 0 to 1 or back, shape (P, 2).
        shift: what is added to features that are not binary, shape (N, F), float32; None for nothing.
    """

    flips: Pairs = field(default_factory=_nothing)
    feature_flips: Pairs = field(default_factory=_nothing)
    shift: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        flips = _listed("flips", self.flips)
        if (flips[:, 0] == flips[:, 1]).any():
            node = int(flips[flips[:, 0] == flips[:, 1]][0, 0])
            raise ArgumentError("flips", f"must be of two different nodes, got {node} with itself")
        object.__setattr__(self, "flips", _distinct("flips", np.sort(flips, axis=1)))
        object.__setattr__(
            self, "feature_flips", _distinct("feature_flips", _listed("feature_flips", self.feature_flips))
        )

    def __len__(self) -> int:
        return len(self.flips) + len(self.feature_flips)

    def apply(self, graph: Graph) -> Graph:
        """The attacked graph: the same ids in the same order."""
        if len(self.flips):
            graph = _with_flipped_edges(graph, self.flips)
        if len(self.feature_flips):
            graph = _with_flipped_features(graph, self.feature_flips)
        if self.shift is not None:
            graph = _with_shift(graph, self.shift)
        return graph

    def save(self, path: StrPath) -> None:
        """Write an ``.npz`` without pickle, aside and renamed."""
        arrays: dict[str, NDArray[np.generic]] = {
            VERSION_KEY: np.array(VERSION, dtype=np.int64),
            "flips": self.flips,
            "feature_flips": self.feature_flips,
        }
        write_npz(path, arrays if self.shift is None else arrays | {"shift": self.shift})

    @classmethod
    def load(cls, path: StrPath) -> "Perturbation":
        """Read what :meth:`save` wrote, every rule checked anew."""
        arrays = read_npz(path)
        version = arrays.get(VERSION_KEY)
        if version is None or version.shape != () or version.dtype.kind != "i" or int(version) != VERSION:
            raise InputError(path, f"is not a perturbation of format {VERSION} saved by fdmvgcl")
        try:
            shift = arrays.get("shift")
            if shift is not None and (shift.ndim != 2 or shift.dtype != np.float32 or not np.isfinite(shift).all()):
                raise ArgumentError("shift", "must be finite float32 numbers of shape (N, F)")
            return cls(arrays["flips"], arrays["feature_flips"], shift)
        except KeyError as error:
            raise InputError(path, f"is not a whole perturbation: array {error} is missing") from None
        except UserError as error:
            raise InputError(path, f"is not a valid perturbation: {error}") from None


def _listed(name: str, flips: Pairs) -> Pairs:
    found = np.asarray(flips)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ArgumentError(name, f"must be whole numbers of shape (M, 2), got {found.dtype} {found.shape}")
    if found.size and found.min() < 0:
        raise ArgumentError(name, f"must not be negative, got {found.min()}")
    return found.astype(np.int64)


def _distinct(name: str, flips: Pairs) -> Pairs:
    found = np.unique(flips, axis=0)
    if len(found) < len(flips):
        raise ArgumentError(name, "must be distinct: a pair that is flipped twice is not flipped")
    return found


def _check_range(name: str, flips: Pairs, shape: tuple[int, int]) -> None:
    bad = flips[(flips >= np.array(shape)).any(axis=1)]
    if len(bad):
        raise ArgumentError(name, f"must lie within {shape} for this graph, got {tuple(bad[0].tolist())}")


def _with_flipped_edges(graph: Graph, flips: Pairs) -> Graph:
    check_undirected(graph)
    n = graph.num_nodes
    _check_range("flips", flips, (n, n))
    edges = edge_pairs(graph)
    weight = np.asarray(graph.adjacency[edges[:, 0], edges[:, 1]]).ravel()
    kept = ~np.isin(keys_of(edges, n), keys_of(flips, n))
    added = flips[~are_edges(graph, flips)]
    low, high = np.concatenate([edges[kept], added]).T
    values = np.concatenate([weight[kept], np.ones(len(added))])
    return replace(graph, adjacency=symmetric(low, high, values, n))


def symmetric(
    low: NDArray[np.int64], high: NDArray[np.int64], values: NDArray[np.float64], nodes: int
) -> sparse.csr_array:
    """The adjacency of undirected edges that are listed once."""
    ends = (np.concatenate([low, high]), np.concatenate([high, low]))
    matrix = sparse.coo_array((np.concatenate([values, values]), ends), shape=(nodes, nodes))
    return canonical_csr(matrix.tocsr(), np.float64)


def _with_flipped_features(graph: Graph, flips: Pairs) -> Graph:
    check_binary(graph)
    _check_range("feature_flips", flips, (graph.num_nodes, graph.num_features))
    table = feature_table(graph).copy()
    rows, columns = flips.T
    table[rows, columns] = 1 - table[rows, columns]
    return replace(graph, features=_as_before(graph, table))


def _with_shift(graph: Graph, shift: NDArray[np.float32]) -> Graph:
    if graph.features is None or shift.shape != graph.features.shape:
        raise ArgumentError("shift", f"must have the shape of the graph's features, got {shift.shape}")
    return replace(graph, features=_as_before(graph, feature_table(graph) + shift))


def _as_before(graph: Graph, table: NDArray[np.float32]) -> Features:
    """Sparse features stay sparse and dense ones dense, so that a flip changes no other number's rounding."""
    if isinstance(graph.features, np.ndarray):
        return table
    return as_features(sparse.csr_array(table))
