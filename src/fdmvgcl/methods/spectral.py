"""Spectral embedding: leading eigenvectors of the normalised adjacency."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.marks import undirected
from fdmvgcl.methods.base import Transductive

# Below this the whole spectrum is as cheap as its end.
SMALL = 1000


@dataclass(eq=False, repr=False)
class Spectral(Transductive):
    """The ``dim`` leading eigenvectors of ``D^(-1/2) A D^(-1/2)`` (von Luxburg 2007, "A tutorial on spectral
    clustering", L_sym), each of length √N and with its largest entry positive. Features are not used.

    A graph of fewer nodes than ``dim`` has as many eigenvectors as nodes; the other columns are zero.
    """

    dim: int = 128
    seed: int = 0

    def _embed(self, graph: Graph) -> NDArray[np.floating]:
        n, wanted = graph.num_nodes, min(self.dim, graph.num_nodes)
        adjacency = undirected(graph.adjacency)
        degrees = np.asarray(adjacency.sum(axis=1)).ravel()
        scale = np.divide(1.0, np.sqrt(degrees), out=np.zeros(n), where=degrees > 0)
        matrix = adjacency.multiply(scale[:, None]).multiply(scale[None]).tocsr()
        if n <= max(SMALL, 2 * wanted):
            vectors = np.linalg.eigh(matrix.toarray())[1]
        else:
            start = np.random.default_rng(self.seed).standard_normal(n)
            values, vectors = eigsh(matrix, k=wanted, which="LA", v0=start, tol=1e-6)
            vectors = vectors[:, np.argsort(values)]
        leading = vectors[:, ::-1][:, :wanted]
        largest = np.abs(leading).argmax(axis=0)
        signs = np.sign(leading[largest, np.arange(wanted)])
        return np.pad(leading * signs * np.sqrt(n), ((0, 0), (0, self.dim - wanted)))

    def bytes_needed(self, graph: Graph) -> int:
        n = graph.num_nodes
        basis = 8 * n * (n if n <= max(SMALL, 2 * self.dim) else 3 * self.dim)
        return int(2 * basis + 24 * graph.adjacency.nnz)
