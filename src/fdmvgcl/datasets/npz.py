"""Data sets published as NumPy archives: co-purchase, citation and blog graphs, and Yandex's heterophilous graphs."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from fdmvgcl.graphs.arrays import as_features

from .dataset import Dataset, Metric, Split, coalesce, numbered, seeded_splits
from .root import Source

AMAZON_URL = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"
YANDEX_URL = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"


def amazon_source(folder: str) -> Source:
    file = f"amazon_electronics_{folder.lower()}.npz"
    return Source(
        folder=folder,
        files=(f"raw/{file}",),
        publisher=f"shchur/gnn-benchmark on GitHub, or torch_geometric.datasets.Amazon(root, {folder!r})",
        urls=(f"{AMAZON_URL}/{file}",),
    )


def load_amazon(name: str, source: Source, root: Path) -> Dataset:
    """Photo and Computers (Shchur et al., 2018): no public splits, so ten seeded ones of 10/10/80 %."""
    path = source.locate(root) / source.files[0]

    from torch_geometric.io import read_npz

    data = read_npz(str(path), to_undirected=True)
    labels = data.y.numpy()
    return Dataset(
        name=name,
        edge_index=coalesce(data.edge_index.numpy(), len(labels)),
        features=as_features(data.x.numpy()),
        labels=labels,
        classes=numbered(int(labels.max()) + 1),
        splits=seeded_splits(labels, train=0.1, val=0.1),
        public_splits=False,
    )


def graph_data_source(name: str) -> Source:
    return Source(
        folder=name,
        files=(f"raw/{name}.npz",),
        publisher="EdisonLeeeee/GraphData on GitHub, its archive written anew without pickles",
    )


def load_graph_data(name: str, source: Source, root: Path) -> Dataset:
    """ACM, BlogCatalog, DBLP and the political blogs, which have no features: ten seeded splits of 10/10/80 %."""
    with np.load(source.locate(root) / source.files[0], allow_pickle=False) as raw:
        labels = np.unique(raw["labels"], return_inverse=True)[1].astype(np.int64)
        sources = np.repeat(np.arange(len(labels)), np.diff(raw["adj_indptr"]))
        features = None
        if "attr_data" in raw:
            parts = raw["attr_data"].astype(np.float32), raw["attr_indices"], raw["attr_indptr"]
            features = sp.csr_array(parts, shape=tuple(raw["attr_shape"].tolist()))
        return Dataset(
            name=name,
            edge_index=coalesce(np.stack([sources, raw["adj_indices"]]), len(labels)),
            features=features,
            labels=labels,
            classes=numbered(int(labels.max()) + 1),
            splits=seeded_splits(labels, train=0.1, val=0.1),
            public_splits=False,
        )


def yandex_source(folder: str) -> Source:
    return Source(
        folder=folder,
        files=(f"raw/{folder}.npz",),
        publisher="yandex-research/heterophilous-graphs on GitHub",
        urls=(f"{YANDEX_URL}/{folder}.npz",),
    )


def load_yandex(name: str, source: Source, root: Path, *, metric: Metric = "accuracy") -> Dataset:
    """The graphs of Platonov et al. (2023) with their ten splits."""
    path = source.locate(root) / source.files[0]
    with np.load(path, allow_pickle=False) as raw:
        labels = raw["node_labels"].astype(np.int64)
        return Dataset(
            name=name,
            edge_index=coalesce(raw["edges"].T, len(labels)),
            features=as_features(raw["node_features"]),
            labels=labels,
            classes=numbered(int(labels.max()) + 1),
            splits=tuple(
                Split.from_masks(*masks)
                for masks in zip(raw["train_masks"], raw["val_masks"], raw["test_masks"], strict=True)
            ),
            public_splits=True,
            metric=metric,
        )
