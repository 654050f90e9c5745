"""Data sets that ship with the dependencies: no files, no download."""

import numpy as np
import scipy.sparse as sp

from .dataset import Dataset, coalesce, compact, numbered, seeded_splits

DIGIT_NEIGHBOURS = 10


def load_digits(name: str) -> Dataset:
    """scikit-learn's 1797 handwritten digits, each linked to its 10 nearest neighbours (either way round)."""
    from sklearn.datasets import load_digits as read
    from sklearn.neighbors import kneighbors_graph

    pixels, labels = read(return_X_y=True)
    pixels = pixels / 16.0  # the files' grey levels run from 0 to 16
    neighbours = kneighbors_graph(pixels, DIGIT_NEIGHBOURS)
    adjacency = sp.coo_array(neighbours.maximum(neighbours.T))
    labels = labels.astype(np.int64)
    return Dataset(
        name=name,
        edge_index=coalesce(np.stack(adjacency.coords), len(labels)),
        features=compact(pixels),
        labels=labels,
        classes=numbered(10),
        splits=seeded_splits(labels, train=0.1, val=0.1),
        public_splits=False,
    )


def load_karate(name: str) -> Dataset:
    """Zachary's karate club (34 members): which side each took. It has no features; ten seeded splits of 20/20/60 %."""
    import networkx as nx

    club = nx.karate_club_graph()
    classes = ("Mr. Hi", "Officer")
    labels = np.array([classes.index(club.nodes[node]["club"]) for node in range(len(club))])
    return Dataset(
        name=name,
        edge_index=coalesce(np.array(club.edges).T, len(labels)),
        features=None,
        labels=labels,
        classes=classes,
        splits=seeded_splits(labels, train=0.2, val=0.2),
        public_splits=False,
    )
