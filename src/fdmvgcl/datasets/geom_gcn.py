"""The WebKB graphs and the actor graph with the ten splits of Geom-GCN (Pei et al., 2020)."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.graphs.arrays import as_features

from .dataset import Dataset, Features, Split, coalesce, numbered
from .root import Source

URL = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master"
NODES = "raw/out1_node_feature_label.txt"
EDGES = "raw/out1_graph_edges.txt"


def split_files(folder: str) -> tuple[str, ...]:
    return tuple(f"raw/{folder}_split_0.6_0.2_{i}.npz" for i in range(10))


def source(folder: str, pyg: str) -> Source:
    """The files of ``folder``; ``pyg`` names the class of PyTorch Geometric that fetches them too."""
    splits = split_files(folder)
    tables = tuple(f"{URL}/new_data/{folder}/{Path(name).name}" for name in (NODES, EDGES))
    return Source(
        folder=folder,
        files=(NODES, EDGES, *splits),
        publisher=f"graphdml-uiuc-jlu/geom-gcn on GitHub, or torch_geometric.datasets.{pyg}",
        urls=tables + tuple(f"{URL}/splits/{Path(name).name}" for name in splits),
    )


def read_rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()[1:]]


def bag_of_words(lists: list[NDArray[np.int64]]) -> sp.csr_array:
    """Binary rows with ones at the listed columns."""
    indptr = np.cumsum([0, *map(len, lists)])
    columns = np.concatenate(lists)
    shape = (len(lists), int(columns.max()) + 1)
    matrix = sp.csr_array((np.ones(len(columns), dtype=np.float32), columns, indptr), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def read_nodes(path: Path, *, listed: bool) -> tuple[Features, NDArray[np.int64]]:
    """Features and labels, by node id. ``listed``: a row names its non-zero columns instead of giving every value."""
    rows = sorted(read_rows(path), key=lambda row: int(row[0]))
    if [int(row[0]) for row in rows] != list(range(len(rows))):
        raise InputError(path, f"node ids must be 0..{len(rows) - 1}, each once")
    labels = np.array([int(row[2]) for row in rows])
    if listed:
        return bag_of_words([np.array(row[1].split(","), dtype=np.int64) for row in rows]), labels
    values: list[NDArray[Any]] = [np.array(row[1].split(","), dtype=np.float32) for row in rows]
    return as_features(np.stack(values)), labels


def load(name: str, source: Source, root: Path, *, listed: bool = False) -> Dataset:
    folder = source.locate(root)
    features, labels = read_nodes(folder / NODES, listed=listed)
    edges = np.array(read_rows(folder / EDGES), dtype=np.int64).T
    masks = [np.load(folder / file, allow_pickle=False) for file in split_files(source.folder)]
    return Dataset(
        name=name,
        edge_index=coalesce(edges, len(labels)),
        features=features,
        labels=labels,
        classes=numbered(int(labels.max()) + 1),
        splits=tuple(Split.from_masks(m["train_mask"], m["val_mask"], m["test_mask"]) for m in masks),
        public_splits=True,
    )
