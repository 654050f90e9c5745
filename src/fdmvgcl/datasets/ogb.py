"""The arXiv citation graph as OGB publishes it, with its subject labels or with classes of years (LINKX)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.graphs.arrays import as_features

from .dataset import Dataset, Split, coalesce, numbered, seeded_splits
from .root import Source

PARTS = ("train", "valid", "test")
YEAR_CLASSES = 5

SOURCE = Source(
    folder="ogbn_arxiv",
    files=(
        "raw/edge.csv.gz",
        "raw/node-feat.csv.gz",
        "raw/node-label.csv.gz",
        "raw/node_year.csv.gz",
        *(f"split/time/{part}.csv.gz" for part in PARTS),
    ),
    publisher="the Open Graph Benchmark (snap.stanford.edu/ogb), data set ogbn-arxiv",
    archive="http://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip",
)


def read_csv(path: Path, dtype: type) -> NDArray[Any]:
    """A gzipped table of numbers without a header, shape (rows, columns)."""
    from pyarrow import csv

    table = csv.read_csv(path, read_options=csv.ReadOptions(autogenerate_column_names=True))
    return np.stack([column.to_numpy().astype(dtype) for column in table.columns], axis=1)


def load_arxiv(name: str, source: Source, root: Path) -> Dataset:
    """Forty subject areas; split by year of publication."""
    folder = source.locate(root)
    labels = read_csv(folder / "raw/node-label.csv.gz", np.int64)[:, 0]
    parts = (read_csv(folder / f"split/time/{part}.csv.gz", np.int64)[:, 0] for part in PARTS)
    return Dataset(
        name=name,
        edge_index=read_edges(folder, len(labels)),
        features=as_features(read_csv(folder / "raw/node-feat.csv.gz", np.float32)),
        labels=labels,
        classes=numbered(int(labels.max()) + 1),
        splits=(Split(*parts),),
        public_splits=True,
    )


def load_arxiv_year(name: str, source: Source, root: Path) -> Dataset:
    """Five classes of publication year, as LINKX (Lim et al., 2021) makes them; ten seeded splits of 50/25/25 %."""
    folder = source.locate(root)
    labels, bounds = year_classes(read_csv(folder / "raw/node_year.csv.gz", np.int64)[:, 0])
    return Dataset(
        name=name,
        edge_index=read_edges(folder, len(labels)),
        features=as_features(read_csv(folder / "raw/node-feat.csv.gz", np.float32)),
        labels=labels,
        classes=(*(f"before {bound:g}" for bound in bounds), f"{bounds[-1]:g} or later"),
        splits=seeded_splits(labels, train=0.5, val=0.25),
        public_splits=False,
    )


def read_edges(folder: Path, num_nodes: int) -> NDArray[np.int64]:
    return coalesce(read_csv(folder / "raw/edge.csv.gz", np.int64).T, num_nodes)


def year_classes(years: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Class k holds the years y with ``q_k <= y < q_(k+1)``, where q_k is the k/5 quantile; with the inner bounds."""
    bounds = np.quantile(years, np.arange(1, YEAR_CLASSES) / YEAR_CLASSES)
    return np.searchsorted(bounds, years, side="right").astype(np.int64), bounds
