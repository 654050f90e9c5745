"""The crocodile page graph of Wikipedia (MUSAE; Rozemberczki et al., 2021)."""

import json
from pathlib import Path

import numpy as np

from .dataset import Dataset, coalesce, seeded_splits
from .geom_gcn import bag_of_words
from .root import Source

CLASSES = 5

SOURCE = Source(
    folder="crocodile",
    files=tuple(f"raw/musae_crocodile_{part}" for part in ("edges.csv", "features.json", "target.csv")),
    publisher="SNAP's MUSAE Wikipedia networks (snap.stanford.edu/data/wikipedia.zip), unpacked there by hand",
)


def load(name: str, source: Source, root: Path) -> Dataset:
    """All 13 183 nouns as binary features, not the 128 columns that some papers use; five classes of page traffic.

    Classes are the quintiles of the target, ties going to the lower class: the first boundary alone has 1333 ties.
    """
    folder = source.locate(root)
    edges, features, target = (folder / file for file in source.files)
    table = np.loadtxt(target, delimiter=",", skiprows=1, dtype=np.int64)
    traffic = np.empty(len(table))
    traffic[table[:, 0]] = table[:, 1]
    bounds = np.quantile(traffic, np.arange(1, CLASSES) / CLASSES)
    labels = np.searchsorted(bounds, traffic, side="left").astype(np.int64)
    words = {int(node): columns for node, columns in json.loads(features.read_text()).items()}
    return Dataset(
        name=name,
        edge_index=coalesce(np.loadtxt(edges, delimiter=",", skiprows=1, dtype=np.int64).T, len(labels)),
        features=bag_of_words([np.array(words[node], dtype=np.int64) for node in range(len(labels))]),
        labels=labels,
        classes=(*(f"traffic <= {bound:g}" for bound in bounds), f"traffic > {bounds[-1]:g}"),
        splits=seeded_splits(labels, train=0.48, val=0.32),
        public_splits=False,
    )
