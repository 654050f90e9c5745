"""DICE, delete internally and connect externally (Waniek et al. 2018): knows the labels and no model."""

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.attacks.budget import check_budget
from fdmvgcl.attacks.pairs import all_pairs, draw_pairs, edge_pairs, num_pairs, without_new_isolates
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph


def dice(graph: Graph, labels: NDArray[np.int64], budget: int, *, seed: int = 0) -> Perturbation:
    """Each flip, by a fair coin, takes away an edge within a class or adds one between classes.

    No node loses its last edge. Where there is nothing left to take away, edges are added.

    Args:
        graph: an undirected graph.
        labels: class of each node, -1 for none, shape (N,); a node without one is left alone.
        budget: number of flips.
        seed: of the coins and the edges.
    """
    check_labels(labels, graph)
    rng, edges = np.random.default_rng(seed), edge_pairs(graph)
    free = _between_classes(labels) - int(_differ(labels, edges).sum())
    check_budget("budget", budget, free, "the pairs of nodes of different classes without an edge")
    within = rng.permutation(edges[_same(labels, edges)])
    deleted = without_new_isolates(graph, within[: rng.binomial(budget, 0.5)])
    return Perturbation(np.concatenate([deleted, _added(graph, labels, budget - len(deleted), edges, rng)]))


def check_labels(labels: NDArray[np.int64], graph: Graph) -> None:
    """Labels of at least two classes, one number a node."""
    if len(labels) != graph.num_nodes:
        raise ArgumentError("labels", f"must have one for each of {graph.num_nodes} nodes, got {len(labels)}")
    if len(np.unique(labels[labels >= 0])) < 2:
        raise ArgumentError("labels", "must be of at least two classes for this attack")


def _same(labels: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    first, second = labels[pairs].T
    same: NDArray[np.bool_] = (first == second) & (first >= 0)
    return same


def _differ(labels: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    first, second = labels[pairs].T
    differ: NDArray[np.bool_] = (first != second) & (first >= 0) & (second >= 0)
    return differ


def _between_classes(labels: NDArray[np.int64]) -> int:
    counts = np.bincount(labels[labels >= 0])
    return int(num_pairs(int(counts.sum())) - sum(num_pairs(int(count)) for count in counts))


def _added(
    graph: Graph, labels: NDArray[np.int64], count: int, edges: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Pairs of different classes, drawn uniformly; from the list of all where random ones keep missing."""
    found, taken, n = np.empty((0, 2), dtype=np.int64), edges, graph.num_nodes
    for _ in range(20):
        wanted = count - len(found)
        room = num_pairs(n) - len(taken)
        if wanted == 0 or room == 0:
            return found
        drawn = draw_pairs(n, min(4 * wanted + 16, room), rng, without=taken)
        found = np.concatenate([found, drawn[_differ(labels, drawn)][:wanted]])
        taken = np.concatenate([taken, drawn])
    left = all_pairs(n)
    left = left[_differ(labels, left) & ~np.isin(left @ [n, 1], np.concatenate([edges, found]) @ [n, 1])]
    return np.concatenate([found, left[rng.choice(len(left), count - len(found), replace=False)]])
