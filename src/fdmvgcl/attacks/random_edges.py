"""The attack that knows nothing: edges between random pairs."""

import numpy as np

from fdmvgcl.attacks.budget import check_budget
from fdmvgcl.attacks.pairs import draw_pairs, edge_pairs, num_pairs
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.graphs.graph import Graph


def random_edges(graph: Graph, budget: int, *, seed: int = 0) -> Perturbation:
    """``budget`` new edges, drawn uniformly among the pairs that are none."""
    edges = edge_pairs(graph)
    check_budget("budget", budget, num_pairs(graph.num_nodes) - len(edges), "the pairs without an edge")
    return Perturbation(draw_pairs(graph.num_nodes, budget, np.random.default_rng(seed), without=edges))
