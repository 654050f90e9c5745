"""What a data set holds, beside what the paper says it holds."""

from dataclasses import asdict, dataclass

import numpy as np

from .dataset import Dataset


@dataclass(frozen=True)
class Statistics:
    """Counts of a data set.

    Args:
        nodes: N.
        edges: pairs of distinct nodes that are linked, either way round.
        features: F, or 0 if there are none.
        classes: number of classes.
        homophily: share of ``edges`` that join two nodes of one class.
        isolated: nodes without an edge to another node.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    homophily: float
    isolated: int


# The paper's table of statistics, as printed.
PAPER = {
    "cora": {"nodes": 2708, "edges": 5429, "classes": 7, "features": 1433},
    "citeseer": {"nodes": 3327, "edges": 4732, "classes": 6, "features": 3703},
    "pubmed": {"nodes": 19717, "edges": 88651, "classes": 3, "features": 500},
    "computers": {"nodes": 13752, "edges": 574418, "classes": 10, "features": 767},
    "photo": {"nodes": 7650, "edges": 119081, "classes": 8, "features": 745},
    "ogbn-arxiv": {"nodes": 169343, "edges": 1166243, "classes": 40, "features": 128},
    "texas": {"nodes": 183, "edges": 309, "classes": 5, "features": 1793},
    "cornell": {"nodes": 183, "edges": 295, "classes": 5, "features": 1703},
    "wisconsin": {"nodes": 251, "edges": 466, "classes": 5, "features": 1703},
    "squirrel": {"nodes": 2205, "edges": 46557, "classes": 5, "features": 2089},
    "chameleon": {"nodes": 864, "edges": 7754, "classes": 5, "features": 2325},
    "crocodile": {"nodes": 11631, "edges": 360040, "classes": 5, "features": 2089},
    "actor": {"nodes": 7600, "edges": 33391, "classes": 5, "features": 932},
    "roman-empire": {"nodes": 22662, "edges": 32927, "classes": 18, "features": 300},
    "amazon-ratings": {"nodes": 24492, "edges": 186100, "classes": 5, "features": 300},
    "arxiv-year": {"nodes": 169343, "edges": 1166243, "classes": 5, "features": 128},
}


def statistics(dataset: Dataset) -> Statistics:
    """Count what the files hold."""
    low, high = dataset.undirected_edges()
    return Statistics(
        nodes=dataset.num_nodes,
        edges=len(low),
        features=0 if dataset.features is None else dataset.features.shape[1],
        classes=len(dataset.classes),
        homophily=float(np.mean(dataset.labels[low] == dataset.labels[high])),
        isolated=dataset.num_nodes - len(np.union1d(low, high)),
    )


def paper_differences(name: str, measured: Statistics) -> dict[str, int]:
    """The paper's own figures for ``name``, where they are not the measured ones."""
    counted = asdict(measured)
    return {field: value for field, value in PAPER.get(name, {}).items() if counted[field] != value}
