"""Data sets that ship with the dependencies: no files, no download."""

import numpy as np

from fdmvgcl.graphs.arrays import as_features

from .dataset import Dataset, coalesce, numbered, seeded_splits

DIGIT_NEIGHBOURS = 10


def load_digits(name: str) -> Dataset:
    """scikit-learn's 1797 handwritten digits, each linked to its 10 nearest neighbours (either way round).

    Of equally near ones the first count, so that the graph is the same for any number of threads.
    """
    from scipy.spatial.distance import cdist
    from sklearn.datasets import load_digits as read

    grey, labels = read(return_X_y=True)  # levels from 0 to 16: squared distances are whole numbers, and exact
    labels = labels.astype(np.int64)
    squares = cdist(grey, grey, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :DIGIT_NEIGHBOURS]
    links = np.stack([np.repeat(np.arange(len(labels)), DIGIT_NEIGHBOURS), nearest.ravel()])
    return Dataset(
        name=name,
        edge_index=coalesce(np.hstack([links, links[::-1]]), len(labels)),
        features=as_features(grey / 16.0),
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
