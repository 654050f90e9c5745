"""The surrogate of Nettack: a graph convolution of two layers without what lies between them, ``Â² X W``."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.attacks.budget import feature_table
from fdmvgcl.datasets import Split
from fdmvgcl.evaluation.probe import fit_path
from fdmvgcl.evaluation.views import Rows
from fdmvgcl.graphs.graph import Graph

PENALTY = 0.01


def smoothing(adjacency: sparse.csr_array) -> sparse.csr_array:
    """``Â = D^(-1/2) (A + I) D^(-1/2)`` of a 0/1 adjacency."""
    looped = sparse.csr_array(adjacency + sparse.eye_array(adjacency.shape[0]))
    root = sparse.diags_array(1 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    return sparse.csr_array(root @ looped @ root)


def fit_linear(graph: Graph, labels: NDArray[np.int64], split: Split) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """W, shape (F, C), and the classes of its columns, from the split's training nodes; nothing is drawn."""
    smooth = smoothing(binary(graph))
    table = feature_table(graph).astype(np.float64)
    rows = (smooth @ (smooth @ table))[split.train]
    (probe,) = fit_path(Rows(rows), labels[split.train], (PENALTY,))
    return probe.coefficients, probe.classes


def binary(graph: Graph) -> sparse.csr_array:
    """The adjacency with every weight 1."""
    found = graph.adjacency.copy()
    found.data = np.ones_like(found.data)
    return found
