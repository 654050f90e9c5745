"""Flips relaxed to numbers p in [0, 1]: of edges and of binary features, alike to the attacks that use them."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.attacks.budget import check_binary, check_budget, feature_table
from fdmvgcl.attacks.pairs import Pairs, all_pairs, are_edges, draw_pairs, num_pairs
from fdmvgcl.attacks.perturbation import symmetric
from fdmvgcl.attacks.victim import Gradients
from fdmvgcl.graphs.arrays import canonical_csr
from fdmvgcl.graphs.graph import Graph

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Flips:
    """Some candidates for a flip, and how far each is carried out.

    Args:
        places: pairs of nodes, or (node, column) of features, distinct, shape (M, 2).
        p: shape (M,), in [0, 1].
        direction: what a whole flip adds to the place's value: 1 for a new edge, -w for one of weight w; shape (M,).
        budget: flips there may be; the sum of p is not above it.
    """

    places: Pairs
    p: Floats
    direction: Floats
    budget: int

    def stepped(self, slope: Floats, size: float) -> "Flips":
        """p moved along a slope, scaled so that the best ``budget`` candidates move by ``size`` on average."""
        if not self.budget:
            return self
        gain = slope * self.direction
        best = np.partition(gain, -self.budget)[-self.budget :] if self.budget < len(gain) else gain
        scale = np.maximum(best, 0).mean()
        return replace(self, p=project(self.p + size * gain / scale, self.budget)) if scale > 0 else self

    def best(self) -> Pairs:
        """The ``budget`` candidates of largest p above 0, the largest first, shape (≤ budget, 2)."""
        order = largest(self.p, self.budget)
        return self.places[order[self.p[order] > 0]]

    def drawn(self, rng: np.random.Generator) -> Pairs | None:
        """Each candidate with probability p; None if these are more than the budget."""
        taken = self.places[rng.random(len(self.p)) < self.p]
        return taken if len(taken) <= self.budget else None


def largest(values: Floats, count: int) -> NDArray[np.int64]:
    """Positions of the ``count`` largest, these first; of millions of pairs only these are sorted."""
    chosen = np.argpartition(-values, count)[:count] if count < len(values) else np.arange(len(values))
    return chosen[np.lexsort((chosen, -values[chosen]))]


def project(p: Floats, budget: float) -> Floats:
    """The nearest point of ``{0 ≤ p ≤ 1, Σ p ≤ budget}``: all shifted down by one number, found by bisection."""
    clipped = np.clip(p, 0, 1)
    if clipped.sum() <= budget:
        return clipped
    live = p[p > 0]
    low, high = 0.0, float(live.max())
    for _ in range(60):
        middle = (low + high) / 2
        above = np.clip(live - middle, 0, 1).sum() > budget
        low, high = (middle, high) if above else (low, middle)
    return np.clip(p - high, 0, 1)


# -- edges ------------------------------------------------------------------------------------------------------------


def edge_candidates(graph: Graph, budget: int, block: int | None, rng: np.random.Generator) -> Flips:
    """Random pairs, ``block`` of them, or all."""
    n = graph.num_nodes
    check_budget("budget", budget, num_pairs(n), "the pairs of nodes")
    count = num_pairs(n) if block is None else min(max(block, 2 * budget), num_pairs(n))
    if not budget:
        count = 0
    places = all_pairs(n) if count == num_pairs(n) else draw_pairs(n, count, rng)
    return Flips(places, np.zeros(len(places)), edge_directions(graph, places), budget)


def edge_directions(graph: Graph, pairs: Pairs) -> Floats:
    """What a flip adds to each pair's weight."""
    found = np.ones(len(pairs))
    present = are_edges(graph, pairs)
    ends = pairs[present]
    found[present] = -np.asarray(graph.adjacency[ends[:, 0], ends[:, 1]]).ravel()
    return found


def resampled_edges(flips: Flips, graph: Graph, rng: np.random.Generator) -> Flips:
    """At least half of the candidates exchanged for new ones: those of least p."""
    kept = np.argsort(-flips.p, kind="stable")[: len(flips.p) // 2]
    kept = kept[flips.p[kept] > 0]
    count = min(len(flips.p), num_pairs(graph.num_nodes)) - len(kept)
    fresh = draw_pairs(graph.num_nodes, count, rng, without=flips.places[kept])
    places = np.concatenate([flips.places[kept], fresh])
    p = np.concatenate([flips.p[kept], np.zeros(len(fresh))])
    return Flips(places, p, edge_directions(graph, places), flips.budget)


# -- features ---------------------------------------------------------------------------------------------------------


def feature_candidates(graph: Graph, budget: int) -> Flips:
    """All entries of binary features, or none without a budget."""
    if not budget:
        return Flips(np.empty((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0), 0)
    check_binary(graph)
    table = feature_table(graph)
    check_budget("features", budget, table.size, "the entries of the features")
    places = np.stack(np.divmod(np.arange(table.size), table.shape[1]), axis=1)
    return Flips(places, np.zeros(table.size), 1.0 - 2.0 * table.ravel().astype(np.float64), budget)


# -- both -------------------------------------------------------------------------------------------------------------


def relaxed(graph: Graph, edges: Flips, features: Flips, shift: NDArray[np.float32] | None = None) -> Graph:
    """The graph with every candidate carried out as far as its p says."""
    moved = edges.p > 0
    if moved.any():
        low, high = edges.places[moved].T
        change = symmetric(low, high, (edges.p * edges.direction)[moved], graph.num_nodes)
        # An edge that is all but gone must not come out a rounding error below 0.
        graph = replace(graph, adjacency=canonical_csr((graph.adjacency + change).maximum(0), np.float64))
    moved = features.p > 0
    if moved.any():
        change = sparse.coo_array(
            ((features.p * features.direction)[moved].astype(np.float32), tuple(features.places[moved].T)),
            shape=graph.features.shape,  # type: ignore[union-attr]
        )
        table = graph.features + change if sparse.issparse(graph.features) else graph.features + change.toarray()
        graph = replace(graph, features=canonical_csr(table, np.float32) if sparse.issparse(table) else table)
    if shift is not None:
        graph = replace(graph, features=feature_table(graph) + shift)
    return graph


def slopes(found: Gradients, features: Flips) -> tuple[Floats, Floats]:
    """Derivatives by the values at the candidates' places, edges' and features'."""
    if not len(features.places):
        return found.edges, np.zeros(0)
    assert found.features is not None
    return found.edges, found.features[features.places[:, 0], features.places[:, 1]].astype(np.float64)


def one_a_node(ordered: Pairs, count: int) -> NDArray[np.int64]:
    """Positions of the first ``count`` places that share no node with one before them."""
    seen: set[int] = set()
    found: list[int] = []
    for position, ends in enumerate(ordered.tolist()):
        if len(found) == count:
            break
        if seen.isdisjoint(ends):
            seen.update(ends)
            found.append(position)
    return np.array(found, dtype=np.int64)
