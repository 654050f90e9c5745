"""How well groups found in vectors agree with classes, beside the same search in other descriptions of the nodes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.graphs.arrays import small_indices
from fdmvgcl.graphs.provenance import counted

from .standing import Standing, standing_of

if TYPE_CHECKING:
    from fdmvgcl.learning.controls import Step

RUNS, RESTARTS = 5, 4
# Labelled nodes that are grouped; of more so many are drawn, once.
MOST_NODES = 20_000


def compare_clusterings(
    rows: Mapping[str, Callable[[], Any]], labels: NDArray[np.int64], *, seed: int = 0, step: "Step" = lambda _: None
) -> tuple[Standing, Standing]:
    """Normalised mutual information and adjusted Rand index of k-means with classes, k being their number.

    Rows are divided by their lengths. Each of five runs takes the best of four starts by its own criterion, never by
    the labels; the interval of a difference is over the runs, and so over the luck of their starts alone.

    Args:
        rows: how to get arrays (N, F), dense or sparse, by name; the first is judged, the others are its controls.
        labels: class of each node, -1 for none, shape (N,); at least two classes.
        seed: of the starts, and of the draw where there are more than 20 000 labelled nodes.
        step: told what is done next.
    """
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score  # late: slow to import

    known = np.flatnonzero(labels >= 0)
    chosen = known
    if len(known) > MOST_NODES:
        chosen = np.sort(np.random.default_rng(seed).choice(known, MOST_NODES, replace=False))
    classes = labels[chosen]
    k = len(np.unique(classes))
    information: dict[str, list[float]] = {}
    rand: dict[str, list[float]] = {}
    for name, given in rows.items():
        step(f"grouping by {name}")
        found = _groups(given()[chosen], k, seed)
        information[name] = [normalized_mutual_info_score(classes, each) for each in found]
        rand[name] = [adjusted_rand_score(classes, each) for each in found]
    drawn = f", drawn from {len(known)}" if len(chosen) < len(known) else ""
    told = f"k-means, k = {k}, on {counted(len(chosen), 'labelled node', 'labelled nodes')}{drawn}, mean of {RUNS} runs"
    return standing_of("NMI", told, information), standing_of("ARI", told, rand)


def _groups(rows: Any, k: int, seed: int) -> list[NDArray[np.int32]]:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    unit = normalize(rows)
    if sparse.issparse(unit):
        unit = small_indices(sparse.csr_array(unit))  # KMeans takes no 64-bit ones
    return [KMeans(k, n_init=RESTARTS, random_state=seed + run).fit_predict(unit) for run in range(RUNS)]
