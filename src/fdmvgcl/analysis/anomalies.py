"""Nodes whose neighbourhood does not explain them, and whether such nodes would be found."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import TooSmall
from fdmvgcl.evaluation.standing import OURS, Standing, measured
from fdmvgcl.graphs.edit import with_adjacency, without_any_edges
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.results.vectors import unit_rows

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

DRAWS = 3
SHARE, _FEWEST, _MOST = 0.02, 2, 500  # nodes made odd, of each kind
_CANDIDATES = 50  # nodes of which the most unlike one lends its features
SMALLEST = 5 * _FEWEST  # nodes with edges that it takes to plant any
_WIDEST = 200_000_000
_DIGITS = 6  # what float32 has

SWAPPED, REWIRED = "features of an unlike node", "edges to nodes drawn at random"

Rows = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Planted:
    """A graph with odd nodes in it.

    Args:
        graph: as it is then.
        swapped: nodes that have another node's features; none in a graph without features.
        rewired: nodes whose edges lead to nodes drawn at random.
    """

    graph: Graph
    swapped: Numbers
    rewired: Numbers


def anomaly_scores(model: "FDMVGCL", graph: Graph, z: Rows | None = None) -> NDArray[np.float64]:
    """How unlike its neighbours a node is, shape (N,), from 0 to 2; NaN for a node without edges.

    It is one minus a cosine. With features it is that of the vector that the node would have without any edge, by its
    features alone, with the mean of its neighbours' vectors, weighted as its edges are: large if its features are not
    those of its neighbourhood, and if its edges lead where it does not belong. Without features, or with structural
    columns, where a node alone would be like no other or know its edges, it is the mean cosine of its vector with
    those of its neighbours.

    Args:
        model: a fitted model.
        graph: the graph.
        z: its vectors (N, d), if they are known.
    """
    vectors = unit_rows(model.transform(graph) if z is None else z)
    shares = _shares(graph)
    if graph.features is None or model.chosen_.features.structure is not None:
        near = _products(vectors, shares @ vectors)
    else:
        own = unit_rows(model.transform(without_any_edges(graph)))
        # A mean of unit vectors: a neighbour counts by its weight and not by its vector's length.
        near = _products(own, unit_rows(shares @ vectors))
    return np.where(_touched(shares), (1 - near).round(_DIGITS), np.nan)


def check_anomalies(model: "FDMVGCL", graph: Graph, *, draws: int = DRAWS, seed: int = 0) -> tuple[Standing, ...]:
    """How well planted nodes are found among the others: the area under the ROC curve, one comparison a kind.

    In each draw one node in fifty (2 to 500) gets the features of an unlike node, and as many others get edges to nodes
    drawn at random; the vectors are computed anew by the trained encoder. Beside it stand what needs none: the cosine
    of a node's features with the mean of its neighbours', the length of its centred features, its number of edges,
    and the share of its neighbours that are neighbours of each other. Planted nodes are odd in ways that we thought
    of; what is odd in the graph itself may be so in others.
    """
    from sklearn.metrics import roc_auc_score  # late: slow to import

    found: dict[str, dict[str, list[float]]] = {SWAPPED: {}, REWIRED: {}}
    for draw in range(draws):
        planted = plant(graph, seed + draw)
        scores = _scores(model, planted.graph)
        seen = np.isfinite(scores[OURS])
        normal = seen.copy()
        normal[planted.swapped] = normal[planted.rewired] = False
        for kind, odd in ((SWAPPED, planted.swapped), (REWIRED, planted.rewired)):
            odd = odd[seen[odd]]
            if not len(odd):
                continue
            chosen = np.concatenate([np.flatnonzero(normal), odd])
            truth = np.arange(len(chosen)) >= normal.sum()
            for name, values in scores.items():
                found[kind].setdefault(name, []).append(float(roc_auc_score(truth, values[chosen])))
    return tuple(_standing(kind, values) for kind, values in found.items() if values)


def plant(graph: Graph, seed: int) -> Planted:
    """The graph with a few odd nodes; see :func:`check_anomalies`."""
    generator = np.random.default_rng(seed)
    able = generator.permutation(np.flatnonzero(np.diff(graph.adjacency.indptr) > 0))
    if len(able) < SMALLEST:
        raise TooSmall(f"at least {SMALLEST} nodes must have edges to plant odd ones, got {len(able)}")
    count = int(np.clip(round(SHARE * graph.num_nodes), _FEWEST, _MOST))
    swapped, rewired = np.sort(able[:count]), np.sort(able[count : 2 * count])
    changed = graph
    if graph.features is None:
        swapped = swapped[:0]
    else:
        rows = np.arange(graph.num_nodes)
        for node in swapped:
            candidates = generator.integers(graph.num_nodes, size=_CANDIDATES)
            rows[node] = candidates[int(np.argmin(_likeness(graph.features, candidates, node)))]
        changed = replace(graph, features=graph.features[rows])
    return Planted(_rewired(changed, rewired, generator), swapped, rewired)


def _rewired(graph: Graph, nodes: Numbers, generator: np.random.Generator) -> Graph:
    """The graph where the other ends of these nodes' edges are drawn at random."""
    entries = graph.adjacency.tocoo()
    row, col = entries.row.astype(np.int64), entries.col.astype(np.int64)
    kept = np.ones(len(row), dtype=bool) if graph.directed else row < col
    row, col, data = row[kept], col[kept], entries.data[kept]
    chosen = np.isin(row, nodes)
    others = np.isin(col, nodes) & ~chosen
    col[chosen] = generator.integers(graph.num_nodes, size=int(chosen.sum()))
    row[others] = generator.integers(graph.num_nodes, size=int(others.sum()))
    return with_adjacency(graph, row, col, data)


def _likeness(features: "Rows | sparse.csr_array", candidates: Numbers, node: int) -> NDArray[np.float64]:
    """Cosines of the candidates' features with a node's, but for the node's own length."""
    rows, own = (
        part if isinstance(part, np.ndarray) else part.toarray() for part in (features[candidates], features[[node]])
    )
    lengths = np.linalg.norm(rows, axis=1)
    return np.asarray(np.divide(rows @ own[0], lengths, out=np.zeros(len(rows)), where=lengths > 0))


def _scores(model: "FDMVGCL", graph: Graph) -> dict[str, NDArray[np.float64]]:
    """Ours and the controls', larger for what is odd."""
    scores = {OURS: anomaly_scores(model, graph)}
    shares = _shares(graph)
    columns = model.chosen_.features.columns
    if graph.features is not None and graph.num_nodes * columns <= _WIDEST:
        from fdmvgcl.learning.prepare import assemble  # late: it brings torch

        x = assemble(model, graph, model.chosen_).features.dense().cpu().numpy()
        scores["features beside neighbours'"] = 1 - _products(unit_rows(x), unit_rows(shares @ x))
        scores["length of features"] = np.linalg.norm(x - x.mean(axis=0), axis=1).astype(np.float64)
    pattern = graph.adjacency.copy()
    pattern.data = np.ones_like(pattern.data)
    degree = np.asarray(pattern.sum(axis=1)).ravel()
    triangles = np.asarray((pattern @ pattern).multiply(pattern).sum(axis=1)).ravel()
    return scores | {
        "number of edges": degree,
        "neighbours unlinked": 1 - triangles / np.maximum(degree * (degree - 1), 1),
    }


def _standing(kind: str, found: dict[str, list[float]]) -> Standing:
    ours, *others = [measured(name, values) for name, values in found.items()]
    told = f"planted nodes with {kind} against the others, mean of {len(ours.values)} draws"
    return Standing("AUC", told, ours, tuple(others))


def _shares(graph: Graph) -> sparse.csr_array:
    """Rows of weights that sum to one (zero without edges), in float32, shape (N, N)."""
    totals = graph.degrees
    inverse = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    return (sparse.diags_array(inverse) @ graph.adjacency).tocsr().astype(np.float32)


def _touched(shares: sparse.csr_array) -> NDArray[np.bool_]:
    return np.asarray(np.diff(shares.indptr) > 0)


def _products(left: Rows, right: Rows) -> NDArray[np.float64]:
    """⟨left_i, right_i⟩, shape (N,), to the digits that float32 has."""
    return np.asarray(np.einsum("ij,ij->i", left, right), dtype=np.float64).round(_DIGITS)
