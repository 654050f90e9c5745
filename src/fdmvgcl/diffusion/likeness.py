"""Edges between nodes of like features: what a graph leaves unsaid where two nodes that belong together never met."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from torch import Tensor

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.graphs.arrays import canonical_csr
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.results.nearest import nearest_rows

# Features alone find like nodes badly where each has few of them; after a short diffusion their neighbours' help.
ALPHA, TIME = 0.5, 3.0


def with_like_edges(graph: Graph, operator: Operator, x: Tensor, count: int, weight: float) -> Graph:
    """The graph with an edge from every node to the ``count`` nodes that its diffused features are most alike to.

    ``A + w S`` with ``S_ij = max(0, cos(h_i - μ, h_j - μ))`` where j is among the nearest of i, or i among those of j,
    ``H = φ(L) X`` the features diffused with order 0.5 for a time of 3, and μ the mean row of H. An edge that was there
    already becomes stronger; a node whose features are the mean gets none.

    Args:
        graph: the graph.
        operator: its Ā.
        x: features X, shape (N, F).
        count: edges for each node; 0 gives the graph back.
        weight: w.

    The search compares all pairs of nodes: N² F multiplications.
    """
    n = graph.num_nodes
    count = min(count, n - 1)
    if count < 1 or weight == 0:
        return graph
    rows = diffuse(operator, x, ALPHA, TIME).detach()
    table = (rows - rows.mean(0)).cpu().numpy()
    numbers, cosines = nearest_rows([table], table, np.arange(n), count)
    entries = (np.maximum(cosines, 0.0).ravel().astype(np.float64), (np.repeat(np.arange(n), count), numbers.ravel()))
    nearest = sparse.csr_array(entries, shape=(n, n))
    enriched = graph.adjacency + weight * nearest.maximum(nearest.T)
    enriched.eliminate_zeros()
    return replace(graph, adjacency=canonical_csr(enriched, np.float64))
