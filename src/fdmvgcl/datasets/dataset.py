"""A labelled benchmark graph and its splits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fdmvgcl.errors import UserError

if TYPE_CHECKING:
    from fdmvgcl.graphs.graph import Graph

Metric = Literal["accuracy", "roc_auc", "macro_f1", "r2"]
IndexArray: TypeAlias = NDArray[np.int64]
Features: TypeAlias = NDArray[np.float32] | sp.csr_array


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint, non-empty sets of node indices, each sorted, int64."""

    train: IndexArray
    val: IndexArray
    test: IndexArray

    def __post_init__(self) -> None:
        parts = {"train": self.train, "val": self.val, "test": self.test}
        for name, part in parts.items():
            if len(part) == 0:
                raise UserError(f"a split needs at least one {name} node, got none")
            object.__setattr__(self, name, np.sort(np.asarray(part, dtype=np.int64)))
        everything = np.concatenate(list(parts.values()))
        nodes, counts = np.unique(everything, return_counts=True)
        if counts.max() > 1:
            raise UserError(f"the parts of a split must be disjoint, but node {nodes[counts.argmax()]} is in two")

    @property
    def few_labels(self) -> bool:
        """Whether training nodes are fewer than half of the validation nodes: drawn by class, then, as a rule."""
        return 2 * len(self.train) < len(self.val)

    @classmethod
    def from_masks(cls, train: NDArray[Any], val: NDArray[Any], test: NDArray[Any]) -> "Split":
        """From three masks of shape (N,), boolean or 0/1."""
        return cls(*(np.flatnonzero(mask) for mask in (train, val, test)))


def seeded_splits(labels: IndexArray, *, train: float, val: float, count: int = 10) -> tuple[Split, ...]:
    """``count`` random splits of the labelled nodes (label ≥ 0): shares ``train``, ``val``, and the rest for test.

    Split i is the permutation drawn by ``numpy.random.default_rng(i)``, cut in three; it is not stratified.
    """
    labelled = np.flatnonzero(labels >= 0)
    first, second = round(train * len(labelled)), round((train + val) * len(labelled))
    orders = (np.random.default_rng(seed).permutation(labelled) for seed in range(count))
    return tuple(Split(order[:first], order[first:second], order[second:]) for order in orders)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph with labels and splits. Node i has the id ``str(i)``.

    Args:
        name: name in the registry.
        edge_index: edges as published, each listed once or in both directions, without duplicates, shape (2, E), int64.
        features: X, shape (N, F), float32, dense or compressed by rows; None if the graph has none.
        labels: class of each node, shape (N,), int64.
        classes: name of each class.
        splits: the public splits, or the seeded ones where there are none.
        public_splits: whether ``splits`` were published with the data.
        metric: ``accuracy``, or ``roc_auc`` for two unbalanced classes.
    """

    name: str
    edge_index: IndexArray
    features: Features | None
    labels: IndexArray
    classes: tuple[str, ...]
    splits: tuple[Split, ...]
    public_splits: bool
    metric: Metric = "accuracy"

    def __post_init__(self) -> None:
        if self.edge_index.min() < 0 or self.edge_index.max() >= self.num_nodes:
            raise UserError(f"{self.name}: an edge names a node outside 0..{self.num_nodes - 1}")
        if self.features is not None and self.features.shape[0] != self.num_nodes:
            raise UserError(f"{self.name}: {self.features.shape[0]} feature rows for {self.num_nodes} labels")
        if self.labels.max() >= len(self.classes):
            raise UserError(f"{self.name}: label {self.labels.max()} with {len(self.classes)} classes")

    @property
    def num_nodes(self) -> int:
        return len(self.labels)

    def undirected_edges(self) -> IndexArray:
        """Each pair of distinct linked nodes once, as (smaller, larger), shape (2, E)."""
        low, high = self.edge_index.min(axis=0), self.edge_index.max(axis=0)
        keys = np.unique((low * self.num_nodes + high)[low < high])
        return np.stack([keys // self.num_nodes, keys % self.num_nodes])

    def graph(self) -> "Graph":
        """The graph with its features and without its labels."""
        from fdmvgcl.graphs.graph import Graph

        ones = np.ones(self.edge_index.shape[1], dtype=np.float32)
        shape = (self.num_nodes, self.num_nodes)
        adjacency = sp.coo_array((ones, (self.edge_index[0], self.edge_index[1])), shape=shape).tocsr()
        return Graph.from_scipy(adjacency, self.features)


def coalesce(edges: NDArray[Any], num_nodes: int) -> IndexArray:
    """Edges of shape (2, E) without duplicates, sorted by first and then second node; self-loops stay."""
    keys = np.unique(edges[0].astype(np.int64) * num_nodes + edges[1].astype(np.int64))
    return np.stack([keys // num_nodes, keys % num_nodes])


def numbered(count: int) -> tuple[str, ...]:
    """Class names "0", "1", … where the publisher gives none."""
    return tuple(map(str, range(count)))
