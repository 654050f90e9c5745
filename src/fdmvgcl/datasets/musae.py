"""Graphs of MUSAE (Rozemberczki et al., 2021): crocodiles on Wikipedia, and who follows whom on Twitch."""

import csv
import json
from pathlib import Path

import numpy as np

from .dataset import Dataset, Features, coalesce, seeded_splits
from .geom_gcn import bag_of_words
from .root import Source

CLASSES = 5

SOURCE = Source(
    folder="crocodile",
    files=tuple(f"raw/musae_crocodile_{part}" for part in ("edges.csv", "features.json", "target.csv")),
    publisher="SNAP's MUSAE Wikipedia networks (snap.stanford.edu/data/wikipedia.zip), unpacked there by hand",
)
TWITCH = Source(
    folder="twitch_es",
    files=tuple(f"raw/musae_ES_{part}" for part in ("edges.csv", "features.json", "target.csv")),
    publisher="SNAP's MUSAE Twitch networks (snap.stanford.edu/data/twitch.zip), unpacked there by hand",
)


def load_twitch(name: str, source: Source, root: Path) -> Dataset:
    """Spanish streamers who follow each other, and whether they stream for adults; ten seeded splits of 10/10/80 %."""
    folder = source.locate(root)
    edges, features, target = (folder / file for file in source.files)
    with open(target, encoding="utf-8", newline="") as handle:
        mature = {int(row["new_id"]): row["mature"] == "True" for row in csv.DictReader(handle)}
    labels = np.array([mature[node] for node in range(len(mature))], dtype=np.int64)
    return Dataset(
        name=name,
        edge_index=coalesce(np.loadtxt(edges, delimiter=",", skiprows=1, dtype=np.int64).T, len(labels)),
        features=_words(features, len(labels)),
        labels=labels,
        classes=("for all", "mature"),
        splits=seeded_splits(labels, train=0.1, val=0.1),
        public_splits=False,
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
    return Dataset(
        name=name,
        edge_index=coalesce(np.loadtxt(edges, delimiter=",", skiprows=1, dtype=np.int64).T, len(labels)),
        features=_words(features, len(labels)),
        labels=labels,
        classes=(*(f"traffic <= {bound:g}" for bound in bounds), f"traffic > {bounds[-1]:g}"),
        splits=seeded_splits(labels, train=0.48, val=0.32),
        public_splits=False,
    )


def _words(path: Path, nodes: int) -> Features:
    """Binary features from a JSON object of each node's columns."""
    words = {int(node): columns for node, columns in json.loads(path.read_text()).items()}
    return bag_of_words([np.array(words[node], dtype=np.int64) for node in range(nodes)])
