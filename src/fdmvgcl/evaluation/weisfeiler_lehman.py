"""The Weisfeiler-Lehman subtree kernel: the bar that graph-level methods rarely clear."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.evaluation.graphs import Kernels
from fdmvgcl.graphs.collection import GraphSet

ROUNDS = 5


def wl_kernels(graphs: GraphSet, labels: NDArray[np.int64] | None = None, rounds: int = ROUNDS) -> Kernels:
    """Kernels of 0 to ``rounds`` rounds of colour refinement, by name, each of shape (G, G).

    A node's colour begins as its label. In each round it becomes a number for its colour together with the multiset of
    its neighbours' colours; the kernel of h rounds is the inner product of the counts of all colours of rounds 0 to h
    (Shervashidze et al. 2011, definition 5), divided by the square roots of its diagonal. Directions and weights of
    edges are not seen. A graph without nodes has products 0.

    Args:
        graphs: G graphs.
        labels: of the block's nodes, shape (N,); None for their degrees.
        rounds: how many.
    """
    adjacency = sparse.csr_array(graphs.block.adjacency + graphs.block.adjacency.T)
    colours = np.diff(adjacency.indptr) if labels is None else np.asarray(labels)
    gram = np.zeros((graphs.num_graphs, graphs.num_graphs))
    kernels = {}
    for done in range(rounds + 1):
        colours = _refined(adjacency, colours) if done else np.unique(colours, return_inverse=True)[1]
        gram = gram + _products(graphs, colours)
        kernels[f"rounds {done}"] = _normalised(gram)
    return kernels


def node_labels(graphs: GraphSet) -> NDArray[np.int64] | None:
    """Nodes that are the same in all columns of whole numbers have the same label, shape (N,); None if there are none.

    Categories are columns of zeros and ones. Measured numbers are no labels: hardly two nodes would have the same.
    """
    table = graphs.block.features
    if table is None:
        return None
    dense = table if isinstance(table, np.ndarray) else table.toarray()
    whole = dense[:, (dense == np.rint(dense)).all(axis=0)]
    if not whole.shape[1]:
        return None
    return np.asarray(np.unique(whole, axis=0, return_inverse=True)[1], dtype=np.int64).ravel()


def _refined(adjacency: sparse.csr_array, colours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers for a node's colour and its neighbours' sorted colours."""
    rows = np.repeat(np.arange(len(colours)), np.diff(adjacency.indptr))
    order = np.lexsort((colours[adjacency.indices], rows))
    near = np.split(colours[adjacency.indices][order].astype(np.int32), adjacency.indptr[1:-1])
    known: dict[tuple[int, bytes], int] = {}
    pairs = zip(colours.tolist(), near, strict=True)
    return np.array([known.setdefault((own, each.tobytes()), len(known)) for own, each in pairs], dtype=np.int64)


def _products(graphs: GraphSet, colours: NDArray[np.int64]) -> NDArray[np.float64]:
    shape = (graphs.num_graphs, int(colours.max()) + 1)
    counts = sparse.csr_array(sparse.coo_array((np.ones(len(colours)), (graphs.owner, colours)), shape=shape))
    return np.asarray((counts @ counts.T).toarray(), dtype=np.float64)


def _normalised(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    root = np.sqrt(np.diagonal(gram))
    scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    return gram * scale[:, None] * scale
