"""Edges that are most likely missing, and how well such guesses did on edges that were hidden."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.evaluation.links import compare_links
from fdmvgcl.evaluation.standing import Standing
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.held_out import Pairs, joined_pairs
from fdmvgcl.results.vectors import unit_rows

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

# Of the matrix of all cosines, what is looked at at once: 32 MB.
_ROWS, _COLUMNS = 1024, 8192
_DIGITS = 6  # what float32 has

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs of nodes without an edge, the likeliest first, of equals that of the earlier nodes.

    Args:
        pairs: node numbers, shape (n, 2).
        scores: cosine of the two vectors, shape (n,).
    """

    pairs: Pairs
    scores: NDArray[np.float32]


def links_of(z: Rows, graph: Graph, node: int | Sequence[int], count: int) -> Links:
    """The ``count`` nodes that a node most likely misses an edge with: not its neighbours, and of positive cosine.

    Of several nodes, those of each one after the other.
    """
    unit, joined = unit_rows(z), joined_pairs(graph)
    found = [_links_of(unit, joined, int(each), count) for each in np.atleast_1d(node)]
    return Links(np.concatenate([one.pairs for one in found]), np.concatenate([one.scores for one in found]))


def _links_of(unit: Rows, joined: sparse.csr_array, node: int, count: int) -> Links:
    scores = np.minimum((unit @ unit[node]).round(_DIGITS), 1)
    scores[joined[[node]].indices] = 0
    scores[node] = 0
    others = np.flatnonzero(scores > 0)
    best = others[np.argsort(-scores[others], kind="stable")[:count]]
    return Links(np.stack([np.full_like(best, node), best], axis=1), scores[best])


def top_links(z: Rows, graph: Graph, count: int) -> Links:
    """The ``count`` pairs without an edge of largest cosine, exactly: all pairs are looked at, a block at a time."""
    unit, joined = unit_rows(z), joined_pairs(graph)
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


def check_links(model: "FDMVGCL", graph: Graph, *, draws: int | None = None, seed: int = 0) -> Standing:
    """Area under the ROC curve of hidden edges; see :func:`fdmvgcl.evaluation.compare_links`."""
    return compare_links(model, graph, draws=draws, seed=seed)[0]


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
