"""Data sets of many graphs with a label each, by name: the TU collection's."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from fdmvgcl.errors import UserError

from .dataset import IndexArray
from .root import Source, data_root

if TYPE_CHECKING:
    from fdmvgcl.graphs.collection import GraphSet

URL = "https://www.chrsmrrs.com/graphkerneldatasets"


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """Many graphs and their classes.

    Args:
        name: name in the registry.
        graphs: G graphs, with the columns of their nodes' labels as features.
        labels: class of each graph, shape (G,).
        classes: name of each class, as published.
    """

    name: str
    graphs: "GraphSet"
    labels: IndexArray
    classes: tuple[str, ...]


@dataclass(frozen=True)
class GraphEntry:
    """One line of ``fdmvgcl datasets``; ``graphs``, ``nodes`` and ``edges`` as counted in the published files."""

    name: str
    description: str
    source: Source
    graphs: int
    nodes: int
    edges: int

    def available(self, root: str | os.PathLike[str] | None = None) -> bool:
        """Whether its files are at hand, without fetching anything."""
        folder = data_root(root) / self.source.folder
        return all((folder / file).is_file() for file in self.source.files)


def _source(name: str) -> Source:
    kinds = ("A", "graph_indicator", "graph_labels", "node_labels")
    return Source(
        folder=f"{name}/raw",
        files=tuple(f"{name}_{kind}.txt" for kind in kinds),
        publisher=f"the TU collection, or torch_geometric.datasets.TUDataset(root, {name!r})",
        archive=f"{URL}/{name}.zip",
    )


_ENTRIES = (
    GraphEntry("proteins", "proteins, enzyme or not", _source("PROTEINS"), 1113, 43471, 81044),
    GraphEntry("dd", "proteins, enzyme or not; a node an amino acid", _source("DD"), 1178, 334925, 843046),
    GraphEntry("mutag", "molecules, mutagenic or not", _source("MUTAG"), 188, 3371, 3721),
)
_BY_NAME = MappingProxyType({entry.name: entry for entry in _ENTRIES})


def graph_datasets() -> Mapping[str, GraphEntry]:
    """Every known data set of many graphs by name."""
    return _BY_NAME


def load_graphs(name: str, root: str | os.PathLike[str] | None = None) -> GraphDataset:
    """Read the data set ``name`` from the data root; of its nodes the labels alone are features, as is usual."""
    if name not in _BY_NAME:
        close = difflib.get_close_matches(name.lower(), _BY_NAME, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise UserError(f"unknown data set of graphs {name!r}{hint} Known: {', '.join(_BY_NAME)}")
    from fdmvgcl.graphs.readers.tu import read_tu  # late: naming a data set reads none

    found = read_tu(_BY_NAME[name].source.locate(data_root(root)), attributes=False)
    assert found.labels is not None
    classes, labels = np.unique(found.labels, return_inverse=True)
    return GraphDataset(name, found.graphs, labels.astype(np.int64), tuple(map(str, classes)))
