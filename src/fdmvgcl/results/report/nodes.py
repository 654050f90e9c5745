"""The map's part of the page: sampled nodes, where they lie in each view, and what is known of them."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from fdmvgcl.results.maps import Components, component_maps, neighbour_maps, principal_components
from fdmvgcl.results.report.packing import packed
from fdmvgcl.results.report.pictures import drawn_graphs
from fdmvgcl.results.report.records import Records
from fdmvgcl.results.search import nearest_rows
from fdmvgcl.results.vectors import VectorFile

MOST_NODES = 5000
FEWEST_NODES = 500
NEIGHBOURS = 8
MOST_VIEWS = 8
_PRODUCTS = 500_000_000_000  # multiplications for exact neighbours, a few seconds; very large graphs show fewer nodes
_CLUSTERS = 8
_CLUSTERS_LIKE_CLASSES = range(2, 21)
_NAME_LIMITS = (72, 40, 24, 12, 6)
_NAME_BYTES = 1_500_000
_STEPS = 65535
_COLOURS = 10


@dataclass(frozen=True, eq=False)
class Sample:
    """Sampled nodes and the components of their vectors.

    Args:
        numbers: of the nodes, ascending, shape (n,).
        views: numbers of the views on the slider, from local to global.
        components: of each of these views, then of the embedding.
    """

    numbers: NDArray[np.int64]
    views: list[int]
    components: list[Components]


def draw_sample(records: Records) -> Sample:
    """Nodes evenly spaced in the order of ids, the same every time."""
    n, dim = len(records.ids), records.model.dim
    most = int(np.clip(_PRODUCTS // (n * dim), FEWEST_NODES, MOST_NODES))
    numbers = np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)
    views = records.view_order
    if len(views) > MOST_VIEWS:
        views = [views[i] for i in np.linspace(0, len(views) - 1, MOST_VIEWS).round().astype(int)]
    rows = records.view_rows(views, numbers)
    rows.append(records.rows(records.folder.embeddings, "z", numbers))
    return Sample(numbers, views, [principal_components(each) for each in rows])


def map_content(records: Records, sample: Sample) -> dict[str, Any]:
    """All that the map shows, as JSON holds it; long lists of numbers as base64."""
    neighbours, cosines = _neighbours(records, sample)
    others = np.setdiff1d(neighbours[neighbours >= 0], sample.numbers)
    listed = np.concatenate([sample.numbers, others])  # nodes on the map first, so that a node is its place in here
    place = {node: i for i, node in enumerate(listed.tolist())}
    places = np.array([place.get(node, -1) for node in neighbours.ravel().tolist()], dtype=np.int32)
    names, cut = shortened([records.ids[i] for i in listed])
    clusters = _clusters(records, sample.components[-1])
    return {
        "count": len(sample.numbers),
        "total": len(records.ids),
        "ids": names,
        "idsCut": cut,
        "layouts": _layouts(sample),
        "unit": "node" if records.graphs is None else "graph",
        "degree": packed(records.sizes[sample.numbers], np.float32),
        "measure": records.measure,
        "drawn": None if records.graphs is None else drawn_graphs(records.graphs, sample.numbers),
        "cluster": packed(clusters, np.int32),
        "clusters": int(clusters.max()) + 1,
        "label": _labels(records, sample),
        "neighbours": packed(places, np.int32),
        "cosines": packed(np.round(cosines * 10000), np.int16),
        "each": NEIGHBOURS,
    }


def _layouts(sample: Sample) -> list[dict[str, Any]]:
    """Maps in the slider's order. Each is made from the next, the embedding first, so that points move little."""
    chain = sample.components[::-1]
    layouts: list[dict[str, Any]] = []
    neighbourly = neighbour_maps(chain)
    if neighbourly is not None:
        layouts.append({"name": "neighbours", "maps": _quantised(neighbourly[::-1])})
    shares = [float(np.round(each.shares[:2].sum(), 4)) for each in sample.components]
    layouts.append({"name": "components", "maps": _quantised(component_maps(chain)[::-1]), "shares": shares})
    return layouts


def _quantised(maps: list[NDArray[np.float64]]) -> list[str]:
    reach = max(float(np.abs(points).max()) for points in maps) or 1.0
    return [packed(np.rint((points / reach + 1) / 2 * _STEPS), np.uint16) for points in maps]


def _neighbours(records: Records, sample: Sample) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """By the embedding, among all nodes, not only the sampled ones."""
    queries = records.rows(records.folder.embeddings, "z", sample.numbers)
    with VectorFile(records.folder.embeddings) as file:
        return nearest_rows(file.blocks("z"), queries, sample.numbers, NEIGHBOURS)


def _clusters(records: Records, components: Components) -> NDArray[np.int64]:
    """k-means on the sampled nodes, the largest cluster being number 0; as many as there are classes, else 8."""
    scores = components.scores
    classes = len(records.classes)
    wanted = classes if classes in _CLUSTERS_LIKE_CLASSES else _CLUSTERS
    distinct = len(np.unique(np.round(scores, 9), axis=0))
    count = max(1, min(wanted, len(scores) // 4, distinct))
    found = KMeans(count, n_init=2, random_state=0).fit_predict(scores)
    order = np.argsort(-np.bincount(found, minlength=count), kind="stable")
    return np.asarray(np.argsort(order)[found])


def _labels(records: Records, sample: Sample) -> dict[str, Any] | None:
    """Classes of the sampled nodes; the most frequent first where there are more than colours."""
    if records.labels is None:
        return None
    labels = records.labels[sample.numbers]
    counts = np.bincount(labels[labels >= 0], minlength=len(records.classes))
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i]]
    if len(order) <= _COLOURS:
        order.sort()
    names, _ = shortened([records.classes[i] for i in order])
    code = np.full(len(records.classes) + 1, -1)  # the last one is what -1, no label, looks up
    code[order] = np.arange(len(order))
    return {"names": names, "codes": packed(code[labels], np.int32)}


def shortened(names: list[str]) -> tuple[list[str], int | None]:
    """Names cut in the middle where the page would grow too large; and to how many characters, None if none was cut."""
    for limit in _NAME_LIMITS:
        kept = [_shortened(name, limit) for name in names]
        if limit == _NAME_LIMITS[-1] or len(json.dumps(kept, ensure_ascii=False).encode()) <= _NAME_BYTES:
            break
    return kept, None if kept == names else limit


def _shortened(name: str, limit: int) -> str:
    if len(name) <= limit:
        return name
    tail = (limit - 1) // 3
    return f"{name[: limit - 1 - tail]}…{name[len(name) - tail :]}"
