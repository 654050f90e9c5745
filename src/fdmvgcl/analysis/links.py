"""Edges that are most likely missing, and how well such guesses did on edges that were hidden."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.evaluation.links import compare_links
from fdmvgcl.evaluation.standing import Standing
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.held_out import Pairs, joined_pairs
from fdmvgcl.results.search import nearest_rows
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
    nodes = np.atleast_1d(node)
    return links_near([z], z[nodes], graph, nodes, count)


def links_near(blocks: Iterable[Rows], vectors: Rows, graph: Graph, nodes: NDArray[np.int64], count: int) -> Links:
    """:func:`links_of` where vectors are many: they come in pieces, and those (q, d) of the nodes asked for apart."""
    neighbours = joined_pairs(graph)[nodes].tocoo()
    most = int(np.bincount(neighbours.row).max(initial=0))
    found, cosines = nearest_rows(blocks, vectors, nodes, min(count + most, graph.num_nodes - 1))
    place, rank = np.nonzero((found >= 0) & (cosines > 0))
    others, scores = found[place, rank], cosines[place, rank]
    n = graph.num_nodes
    free = ~np.isin(place * n + others, neighbours.row.astype(np.int64) * n + neighbours.col)
    place, others, scores = place[free], others[free], scores[free]
    first = np.searchsorted(place, np.arange(len(nodes)))
    kept = np.arange(len(place)) - first[place] < count
    return Links(np.stack([nodes[place[kept]], others[kept]], axis=1), scores[kept])


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
