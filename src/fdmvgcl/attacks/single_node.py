"""Flips at one node: the strongest attack that a certificate for that node is to be held against."""

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.attacks.objectives import Aim, tanh_margin
from fdmvgcl.attacks.pairs import keys_of, pairs_of, without_new_isolates
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.victim import WhiteBox
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph

TRIED = 10


def at_node(
    victim: WhiteBox, graph: Graph, labels: NDArray[np.int64], node: int, budget: int, *, tried: int = TRIED
) -> list[Perturbation]:
    """The best flips found with 1, 2, … ``budget`` edges at a node, each one more than the one before.

    The gradient names some flips at the node, each is tried, and the one that lowers the margin most is kept. No node
    loses its last edge.

    Args:
        victim: a white box.
        graph: the clean graph.
        labels: what the nodes should be, shape (N,).
        node: the target.
        budget: flips.
        tried: how many are tried in each step.
    """
    if not 0 <= node < graph.num_nodes:
        raise ArgumentError("node", f"must be a node number below {graph.num_nodes}, got {node}")
    aim = Aim.of(victim, labels, np.array([node]))
    others = np.setdiff1d(np.arange(graph.num_nodes), node)
    pairs = pairs_of((node, int(other)) for other in others)
    made, found = Perturbation(), []
    for _ in range(budget):
        current = made.apply(graph)
        slope = victim.gradients(current, tanh_margin(aim), pairs).edges
        joined = np.asarray(current.adjacency[[node], :].todense()).ravel()[others] > 0
        gain = np.where(joined, -slope, slope)
        fresh = ~np.isin(keys_of(pairs, graph.num_nodes), keys_of(made.flips, graph.num_nodes))
        order = np.argsort(-gain, kind="stable")
        tries = (_with(graph, made, pair) for pair in pairs[order[fresh[order]][:tried]])
        longer = [each for each in tries if len(each) > len(made)]
        made = max(longer, key=lambda each: _margin(victim, aim, each.apply(graph)), default=made)
        found.append(made)
    return found


def _with(graph: Graph, made: Perturbation, pair: NDArray[np.int64]) -> Perturbation:
    return Perturbation(without_new_isolates(graph, np.concatenate([made.flips, pair[None]])))


def _margin(victim: WhiteBox, aim: Aim, graph: Graph) -> float:
    return float(aim.margins(torch.from_numpy(victim.decision(graph)))[0])
