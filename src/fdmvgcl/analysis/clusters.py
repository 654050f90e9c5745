"""Groups of nodes: k-means by cosine, k chosen by the silhouette."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation.standing import OURS, Standing, measured
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.results.vectors import unit_rows

# Tried where k is not given; where there is no number of groups that is plainly right, a small one is readable.
FEWEST, MOST = 2, 20

# Starts of k-means, and of those for each k that is only tried; and steps of a start before it is compared.
RESTARTS, _FEW_RESTARTS = 10, 3
_START_STEPS, _MOST_STEPS = 25, 50
# Rows on which starts are compared: of all rows only the best start is carried to its end.
_SAMPLE = 10_000
# Rows that a silhouette is taken of; its time grows with their square.
_SEEN = 2_000

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Clusters:
    """A partition of the nodes.

    Args:
        labels: cluster of each node, 0 the largest, shape (N,).
        centres: unit vectors, shape (k, d).
        cosine: of each node with its centre, shape (N,).
        silhouette: mean over a sample of nodes, by cosine distance; None for one cluster.
        tried: silhouette by k, of those that k was chosen from; empty if it was given.
    """

    labels: NDArray[np.int64]
    centres: Rows
    cosine: Rows
    silhouette: float | None
    tried: dict[int, float]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Nodes of each cluster, shape (k,)."""
        return np.bincount(self.labels, minlength=len(self.centres))


def cluster(z: Rows, k: int | None = None, *, seed: int = 0) -> Clusters:
    """Spherical k-means of vectors (N, d): each node belongs to the centre with the largest cosine.

    Ten starts are compared on at most 10 000 nodes, and the best goes on with all. Without ``k`` it is the number from
    2 to 20 with the largest silhouette on a sample of at most 2000 nodes, of equals the smallest.

    Args:
        z: vectors; their lengths do not matter. A zero vector has cosine 0 with every centre.
        k: number of clusters.
        seed: of the starts and the samples.
    """
    rows = unit_rows(z)
    if k is not None:
        if not 1 <= k <= len(rows):
            raise ArgumentError("k", f"must lie from 1 to {len(rows)}, as many as there are vectors, got {k}")
        return _clusters(rows, k, seed, {})
    highest = min(MOST, len(rows) - 1)
    if highest < FEWEST:
        raise ArgumentError("k", f"must be given for {len(rows)} nodes: it is chosen from {FEWEST} on")
    sample = _sample(rows, _SEEN, seed)
    tried = {}
    for count in range(FEWEST, highest + 1):
        labels, _ = _best_start(sample, count, seed, restarts=_FEW_RESTARTS)
        score = silhouette(sample, labels, seed)
        if score is not None:
            tried[count] = score
    if not tried:  # all vectors are the same
        return _clusters(rows, 1, seed, {})
    return _clusters(rows, max(tried, key=lambda count: (round(tried[count], 9), -count)), seed, tried)


def silhouette(rows: Rows, labels: NDArray[np.int64], seed: int = 0) -> float | None:
    """Mean silhouette by cosine distance of at most 2000 nodes; None for one cluster, and for only single nodes."""
    from sklearn.metrics import silhouette_score  # late: slow to import

    chosen = _sampled(len(rows), _SEEN, seed)
    found = labels[chosen]
    if not 1 < len(np.unique(found)) < len(found):
        return None
    seen = rows[chosen]
    distances = np.clip(1 - seen @ seen.T, 0, 2)
    np.fill_diagonal(distances, 0)
    return float(silhouette_score(distances, found, metric="precomputed"))


def agreement(found: Clusters, labels: NDArray[np.int64], controls: dict[str, Rows], *, seed: int = 0) -> Standing:
    """Normalised mutual information with labels, beside the same k-means with the same k on other descriptions.

    Args:
        found: the clusters.
        labels: class of each node, -1 for none, shape (N,).
        controls: arrays (N, F) by name.
        seed: as for :func:`cluster`.
    """
    from sklearn.metrics import normalized_mutual_info_score

    known = labels >= 0
    k = len(found.centres)

    def score(clusters: Clusters) -> list[float]:
        return [normalized_mutual_info_score(labels[known], clusters.labels[known])]

    others = [measured(name, score(cluster(rows, k, seed=seed))) for name, rows in controls.items()]
    told = f"normalised mutual information with {counted(int(known.sum()), 'label', 'labels')}, k = {k}"
    return Standing("NMI", told, measured(OURS, score(found)), tuple(others))


def _clusters(rows: Rows, k: int, seed: int, tried: dict[int, float]) -> Clusters:
    _, centres = _best_start(_sample(rows, _SAMPLE, seed), k, seed, RESTARTS)
    labels, cosine, centres = _settle(rows, centres, _MOST_STEPS)
    sizes = np.bincount(labels, minlength=k)
    first = np.full(k, len(rows))
    np.minimum.at(first, labels, np.arange(len(rows)))
    order = np.lexsort((first, -sizes))
    order = order[: np.count_nonzero(sizes)]
    rank = np.full(k, -1)
    rank[order] = np.arange(len(order))
    renamed = rank[labels]
    return Clusters(renamed, centres[order], cosine, silhouette(rows, renamed, seed), tried)


def _best_start(rows: Rows, k: int, seed: int, restarts: int) -> tuple[NDArray[np.int64], Rows]:
    """Labels and centres of the start that ends with the largest mean cosine, the first of equals."""
    generator = np.random.default_rng(seed)
    best: tuple[float, NDArray[np.int64], Rows] | None = None
    for _ in range(restarts):
        labels, cosine, centres = _settle(rows, _far_apart(rows, min(k, len(rows)), generator), _START_STEPS)
        value = round(float(cosine.mean(dtype=np.float64)), 7)
        if best is None or value > best[0]:
            best = value, labels, centres
    assert best is not None
    return best[1:]


def _far_apart(rows: Rows, k: int, generator: np.random.Generator) -> Rows:
    """k rows, each drawn with probability in proportion to its distance from those before (k-means++)."""
    chosen = [int(generator.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, np.clip(1 - rows @ rows[chosen[-1]], 0, None).round(6))
        total = np.cumsum(nearest)
        draw = generator.random() * total[-1]
        chosen.append(int(np.searchsorted(total, draw, side="right")) if total[-1] > 0 else chosen[-1])
        chosen[-1] = min(chosen[-1], len(rows) - 1)
    return rows[chosen]


def _settle(rows: Rows, centres: Rows, steps: int) -> tuple[NDArray[np.int64], Rows, Rows]:
    """Labels, cosines and centres when no node changes its cluster, or after so many steps.

    An empty cluster takes the node that fits its own worst.
    """
    labels = np.full(len(rows), -1)
    for _ in range(steps):
        found, cosine = _assigned(rows, centres)
        sizes = np.bincount(found, minlength=len(centres))
        for empty in np.flatnonzero(sizes == 0):
            worst = int(np.argmin(np.where(sizes[found] > 1, cosine.round(6), np.inf)))
            if cosine[worst] > 1 - 1e-6:  # all that is left are equals
                break
            sizes[found[worst]] -= 1
            found[worst], cosine[worst], sizes[empty] = empty, 1.0, 1
        if np.array_equal(found, labels):
            break
        labels = found
        centres = _means(rows, labels, centres)
    labels, cosine = _assigned(rows, centres)
    return labels, cosine, centres


def _assigned(rows: Rows, centres: Rows) -> tuple[NDArray[np.int64], Rows]:
    cosines = rows @ centres.T
    labels = cosines.round(6).argmax(axis=1)
    return labels, np.clip(np.take_along_axis(cosines, labels[:, None], axis=1)[:, 0], -1, 1)


def _means(rows: Rows, labels: NDArray[np.int64], centres: Rows) -> Rows:
    """Unit means of the members; a cluster without any keeps its centre."""
    places = (np.ones(len(rows), np.float32), (labels, np.arange(len(rows))))
    sums = sparse.csr_array(places, shape=(len(centres), len(rows))) @ rows
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 0, unit_rows(sums), centres)


def _sampled(count: int, most: int, seed: int) -> NDArray[np.int64]:
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def _sample(rows: Rows, most: int, seed: int) -> Rows:
    return rows[_sampled(len(rows), most, seed)]
