"""Edges that are most likely missing, and how well such guesses did on edges that were hidden."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from fdmvgcl.analysis.standing import OURS, Standing, TooSmall, measured
from fdmvgcl.graphs.edit import without_pairs
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.results.vectors import unit_rows

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

SHARE = 0.1  # of the edges, hidden in each draw
DRAWS = 3
_MOST_HIDDEN = 20_000
_TRIES = 20
_WIDEST = 200_000_000  # entries of features past which their diffusion is no control

# Of the matrix of all cosines, what is looked at at once: 32 MB.
_ROWS, _COLUMNS = 1024, 8192
_DIGITS = 6  # what float32 has

Rows = NDArray[np.float32]
Pairs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of nodes without an edge, the likeliest first, of equals that of the earlier nodes.

    Args:
        pairs: node numbers, shape (n, 2).
        scores: cosine of the two vectors, shape (n,).
    """

    pairs: Pairs
    scores: NDArray[np.float32]


def links_of(z: Rows, graph: Graph, node: int, count: int) -> Links:
    """The ``count`` nodes that a node most likely misses an edge with: not its neighbours, and of positive cosine."""
    unit = unit_rows(z)
    scores = (unit @ unit[node]).round(_DIGITS)
    scores[_joined(graph)[[node]].indices] = 0
    scores[node] = 0
    others = np.flatnonzero(scores > 0)
    best = others[np.argsort(-scores[others], kind="stable")[:count]]
    return Links(np.stack([np.full_like(best, node), best], axis=1), scores[best])


def top_links(z: Rows, graph: Graph, count: int) -> Links:
    """The ``count`` pairs without an edge of largest cosine, exactly: all pairs are looked at, a block at a time."""
    unit, joined = unit_rows(z), _joined(graph)
    n = len(unit)
    best = Links(np.empty((0, 2), np.int64), np.empty(0, np.float32))
    floor = 10.0**-_DIGITS
    for top in range(0, n, _ROWS):
        rows = unit[top : top + _ROWS]
        for left in range(top, n, _COLUMNS):
            cosines = rows @ unit[left : left + _COLUMNS].T
            edges = joined[top : top + _ROWS, left : left + _COLUMNS].tocoo()
            cosines[edges.row, edges.col] = 0
            if left < top + _ROWS:  # a pair counts once
                cosines[np.arange(len(rows))[:, None] + top >= np.arange(cosines.shape[1]) + left] = 0
            found = _at_least(cosines, floor, count)
            pairs = np.stack([found[0] + top, found[1] + left], axis=1)
            best = _first(np.concatenate([best.pairs, pairs]), np.concatenate([best.scores, found[2]]), count)
            if len(best.scores) == count:
                floor = float(best.scores[-1])
    return best


def check_links(model: "FDMVGCL", graph: Graph, *, draws: int = DRAWS, seed: int = 0) -> Standing:
    """Area under the ROC curve of hidden edges against pairs without one, beside what needs no training.

    In each draw a tenth of the edges is hidden and all vectors are computed anew, by the trained encoder, on what is
    left. Its weights were learnt with the hidden edges there, which no draw undoes; where it has structural columns,
    which are made of the edges, a copy is trained without them, as else its input would hold the answer. The pairs
    without an edge have
    the same degrees as the hidden edges: their ends are the same, mixed. The controls see the same graph: the indices
    of common neighbours and of Adamic and Adar, and the cosine of features that were diffused (α = 1, the model's
    time) and of raw ones.
    """
    found: dict[str, list[float]] = {}
    structural = model.chosen_.features.structure is not None
    for draw in range(draws):
        rest, hidden, others = hide_edges(graph, seed + draw)
        pairs = np.concatenate([hidden, others])
        truth = np.arange(len(pairs)) < len(hidden)
        for name, scores in _scores(clone(model).fit(rest) if structural else model, rest, pairs).items():
            found.setdefault(name, []).append(float(roc_auc_score(truth, scores)))
    ours = measured(OURS, found.pop(OURS))
    told = (
        f"edges hidden ({SHARE:.0%} of them) against pairs of the same degrees, mean of {draws} draws; the encoder's "
    )
    if structural:
        told += "weights were learnt without them, by a copy"
    else:
        told += "weights were learnt with them, the vectors computed without them"
    return Standing("AUC", told, ours, tuple(measured(name, values) for name, values in found.items()))


def hide_edges(graph: Graph, seed: int) -> tuple[Graph, Pairs, Pairs]:
    """The graph without a tenth of its edges, these (m, 2), and about as many pairs of the same ends with no edge."""
    joined = _joined(graph)
    upper = sparse.triu(joined, k=1).tocoo()
    pairs = np.stack([upper.row, upper.col], axis=1).astype(np.int64)
    generator = np.random.default_rng(seed)
    many = min(max(round(SHARE * len(pairs)), 1), _MOST_HIDDEN)
    hidden = pairs[np.sort(generator.choice(len(pairs), many, replace=False))]
    others = _mixed(hidden, joined, generator)
    if len(pairs) - many < 1 or not len(others):
        raise TooSmall(f"the graph has too few edges or too few pairs without one to hide any, {len(pairs)} edges")
    ends = np.concatenate([hidden, hidden[:, ::-1]])  # a directed edge may run either way
    return without_pairs(graph, ends[:, 0], ends[:, 1]), hidden, others


def _mixed(hidden: Pairs, joined: sparse.csr_array, generator: np.random.Generator) -> Pairs:
    """Pairs without an edge, distinct, whose ends are those of the hidden ones; fewer where there are not enough."""
    n = joined.shape[0]
    ends, found = generator.permuted(hidden, axis=1), np.empty(0, np.int64)
    for _ in range(_TRIES):
        mixed = np.sort(np.stack([ends[:, 0], generator.permutation(ends[:, 1])], axis=1), axis=1)
        free = np.asarray(joined[mixed[:, 0], mixed[:, 1]]).ravel() == 0
        free &= mixed[:, 0] != mixed[:, 1]
        found = np.unique(np.concatenate([found, mixed[free] @ np.array([n, 1])]))
        if len(found) >= len(hidden):
            break
    chosen = np.sort(generator.permutation(found)[: len(hidden)])
    return np.stack(np.divmod(chosen, n), axis=1)


def _scores(model: "FDMVGCL", rest: Graph, pairs: Pairs) -> Mapping[str, NDArray[np.floating]]:
    import torch  # late: what links a node misses is told without it

    from fdmvgcl.diffusion.linear import diffuse
    from fdmvgcl.learning.prepare import assemble

    prepared = assemble(model, rest, model.chosen_)
    scores: dict[str, NDArray[np.floating]] = {OURS: cosines(model.transform(prepared), pairs)}
    joined = _joined(rest)
    common = joined[pairs[:, 0]].multiply(joined[pairs[:, 1]])
    degrees = np.asarray(joined.sum(axis=1)).ravel()
    rarity = 1 / np.log(np.maximum(degrees, 2))  # a common neighbour has two
    scores["common neighbours"] = np.asarray(common.sum(axis=1)).ravel()
    scores["Adamic-Adar"] = np.asarray(common @ rarity).ravel()
    if rest.num_nodes * model.chosen_.features.width <= _WIDEST:
        x = prepared.features.dense()
        with torch.no_grad():
            scores["diffused features"] = cosines(diffuse(prepared.operator, x, 1.0, model.time).cpu().numpy(), pairs)
        if rest.features is not None:
            scores["raw features"] = cosines(x.cpu().numpy(), pairs)
    return scores


def cosines(rows: Rows, pairs: Pairs) -> NDArray[np.floating]:
    """Cosine of the two rows of each pair, shape (n,)."""
    unit = unit_rows(rows)
    return np.asarray(np.einsum("ij,ij->i", unit[pairs[:, 0]], unit[pairs[:, 1]]))


def _joined(graph: Graph) -> sparse.csr_array:
    """1 where there is an edge in either direction, else 0, shape (N, N)."""
    pattern = graph.adjacency.copy()
    pattern.data = np.ones_like(pattern.data)
    return pattern.maximum(pattern.T).tocsr() if graph.directed else pattern


def _at_least(cosines: Rows, floor: float, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Rows]:
    """Rows, columns and rounded values of the entries of at least ``floor``; of many only those that can be among the
    first ``count``.
    """
    slack = 10.0**-_DIGITS
    flat = cosines.ravel()
    places = np.flatnonzero(flat >= floor - slack)
    if len(places) > count:
        least = np.partition(flat[places], len(places) - count)[len(places) - count]
        places = places[flat[places] >= least - slack]
    values = flat[places].round(_DIGITS)
    kept = values >= np.float32(floor)
    row, column = np.divmod(places[kept], cosines.shape[1])
    return row, column, np.minimum(values[kept], 1)


def _first(pairs: Pairs, scores: NDArray[np.float32], count: int) -> Links:
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[:count]
    return Links(pairs[order], scores[order])
