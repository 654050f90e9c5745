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


# As counted in the published files, which do not change: counting anew takes long. Sets that were never read with these
# loaders have none.
MEASURED = {
    "cora": Statistics(2708, 5278, 1433, 7, 0.8100, 0),
    "citeseer": Statistics(3327, 4552, 3703, 6, 0.7355, 48),
    "pubmed": Statistics(19717, 44324, 500, 3, 0.8024, 0),
    "computers": Statistics(13752, 245861, 767, 10, 0.7772, 281),
    "photo": Statistics(7650, 119081, 745, 8, 0.8272, 115),
    "cornell": Statistics(183, 277, 1703, 5, 0.2960, 0),
    "texas": Statistics(183, 279, 1703, 5, 0.0609, 0),
    "wisconsin": Statistics(251, 450, 1703, 5, 0.1778, 0),
    "actor": Statistics(7600, 26659, 932, 5, 0.2167, 0),
    "squirrel": Statistics(2223, 46998, 2089, 5, 0.2072, 0),
    "chameleon": Statistics(890, 8854, 2325, 5, 0.2361, 0),
    "crocodile": Statistics(11631, 170773, 13183, 5, 0.2288, 0),
    "acm": Statistics(3025, 13128, 1870, 3, 0.8208, 561),
    "blogcatalog": Statistics(5196, 171743, 8189, 6, 0.4011, 0),
    "dblp": Statistics(17716, 52867, 1639, 4, 0.8279, 0),
    "polblogs": Statistics(1490, 16715, 0, 2, 0.9058, 266),
    "twitch_es": Statistics(4648, 59382, 3170, 2, 0.5800, 0),
    "minesweeper": Statistics(10000, 39402, 7, 2, 0.6828, 0),
    "tolokers": Statistics(11758, 519000, 10, 2, 0.5945, 0),
    "digits": Statistics(1797, 12339, 64, 10, 0.9557, 0),
    "karate": Statistics(34, 78, 0, 2, 0.8590, 0),
}

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
