"""Edges between nodes that are alike: what a graph leaves unsaid where two nodes that belong together never met."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from fdmvgcl.graphs.arrays import canonical_csr
from fdmvgcl.graphs.graph import Graph


def with_like_edges(graph: Graph, rows: ArrayLike, count: int, weight: float = 1.0) -> Graph:
    """The graph with an edge from every node to the ``count`` nodes whose rows are most like its own.

    ``A + w S`` with ``S_ij = max(0, cos(h_i - μ, h_j - μ))`` where j is among the nearest of i, or i among those of j,
    and μ the mean row. An edge that was there already becomes stronger; a node whose row is the mean gets none.

    Args:
        graph: the graph.
        rows: what nodes are compared by, shape (N, d). Features alone find like nodes badly where each has few of them;
            after a short diffusion, ``diffuse(graph, x, 0.5, 3.0)``, their neighbours' help.
        count: edges for each node; 0 gives the graph back.
        weight: w.

    The search compares all pairs of nodes: N² d multiplications.
    """
    count = min(count, graph.num_nodes - 1)
    if count < 1 or weight == 0:
        return graph
    table = np.asarray(rows)
    found = NearestNeighbors(n_neighbors=count, metric="cosine", algorithm="brute").fit(table - table.mean(0))
    nearest = sparse.csr_array(found.kneighbors_graph(mode="distance"), dtype=np.float64)
    nearest.data = np.maximum(1 - nearest.data, 0.0)
    enriched = graph.adjacency + weight * nearest.maximum(nearest.T)
    enriched.eliminate_zeros()
    return replace(graph, adjacency=canonical_csr(enriched, np.float64))
