"""Cora and CiteSeer as published attacks left them, with their own split: Pro-GNN's files (Jin et al. 2020).

The nodes are those of the largest component. Metattack has flipped 5 to 25 % of the edges; Nettack one to five edges
at each of some test nodes of more than ten edges.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import scipy.sparse as sp

from fdmvgcl.errors import ArgumentError

from .dataset import Dataset, Features, IndexArray, Split, coalesce, numbered
from .root import Source, data_root

AttackedName = Literal["cora", "citeseer"]
AttackedBy = Literal["metattack", "nettack"]

# How files are named, and for each attack how strong it may have been: a share of the edges, or flips at a target.
_FILES = {"metattack": "meta_adj", "nettack": "nettack_adj"}
STRENGTHS: dict[AttackedBy, tuple[float, ...]] = {
    "metattack": (0.05, 0.1, 0.15, 0.2, 0.25),
    "nettack": (1.0, 2.0, 3.0, 4.0, 5.0),
}


@dataclass(frozen=True, eq=False)
class AttackedDataset:
    """A clean graph with its labels and split, and the graphs that attacks made of it.

    Args:
        clean: before any attack.
        targets: test nodes that Nettack was made for, ascending.
        folder: where the files lie.
    """

    clean: Dataset
    targets: IndexArray
    folder: Path

    def after(self, attack: AttackedBy, strength: float) -> Dataset:
        """The data set with the edges that an attack of this strength left."""
        if strength not in STRENGTHS[attack]:
            raise ArgumentError("strength", f"must be one of {STRENGTHS[attack]} for {attack}, got {strength}")
        raw = np.load(self.folder / f"{self.clean.name}_{_FILES[attack]}_{strength}.npz", allow_pickle=False)
        return replace(self.clean, edge_index=_edges(_matrix(raw, "")))


def load_attacked(name: AttackedName, root: Path | None = None) -> AttackedDataset:
    """The files of one of the two data sets, from the folder ``attacked`` below the data root."""
    if name not in get_args(AttackedName):
        raise ArgumentError("name", f"must be one of {get_args(AttackedName)}, got {name!r}")
    folder = _source(name).locate(data_root(root))
    raw = np.load(folder / f"{name}_clean.npz", allow_pickle=False)  # names of words and classes in it stay unread
    adjacency = _matrix(raw, "adj_")
    nodes = _largest_component(adjacency)
    labels = raw["labels"].astype(np.int64)[nodes]
    features: Features = sp.csr_array(_matrix(raw, "attr_")[nodes])
    split = json.loads((folder / f"{name}_prognn_splits.json").read_text())
    targets = json.loads((folder / f"{name}_nettacked_nodes.json").read_text())["attacked_test_nodes"]
    clean = Dataset(
        name=name,
        edge_index=_edges(sp.csr_array(adjacency[nodes][:, nodes])),
        features=features,
        labels=labels,
        classes=numbered(int(labels.max()) + 1),
        splits=(Split(*(np.array(split[f"idx_{part}"]) for part in ("train", "val", "test"))),),
        public_splits=True,
    )
    return AttackedDataset(clean, np.unique(targets), folder)


def _source(name: str) -> Source:
    graphs = [f"{name}_{_FILES[attack]}_{strength}.npz" for attack, all_ in STRENGTHS.items() for strength in all_]
    others = [f"{name}_clean.npz", f"{name}_prognn_splits.json", f"{name}_nettacked_nodes.json"]
    return Source(folder="attacked", files=(*others, *graphs), publisher="ChandlerBang/Pro-GNN on GitHub")


def _matrix(raw: "np.lib.npyio.NpzFile", prefix: str) -> sp.csr_array:
    parts = (raw[f"{prefix}{part}"] for part in ("data", "indices", "indptr"))
    data, indices, indptr = parts
    return sp.csr_array((data.astype(np.float32), indices, indptr), shape=tuple(raw[f"{prefix}shape"].tolist()))


def _largest_component(adjacency: sp.csr_array) -> IndexArray:
    _, component = sp.csgraph.connected_components(adjacency, directed=False)
    return np.flatnonzero(component == np.bincount(component).argmax())


def _edges(adjacency: sp.csr_array) -> IndexArray:
    ends = np.stack(adjacency.nonzero())
    return coalesce(np.concatenate([ends, ends[::-1]], axis=1), adjacency.shape[0])
