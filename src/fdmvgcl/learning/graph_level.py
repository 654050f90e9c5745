"""One vector a graph: what a model is trained on when there are many, and the readout of their nodes' views."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.settings import READOUTS, ReadoutKind

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

# Projections and orders are shared by all graphs and settle on a sample; memory and time of training are bounded by it.
MOST_TRAINING_NODES = 20_000
# Numbers in the views of one batch: 128 MB.
_BATCH = 1 << 25


def training_sample(graphs: GraphSet, seed: int, most: int = MOST_TRAINING_NODES) -> GraphSet:
    """The graphs that a model is trained on: all, or so many, drawn by the seed, that they have at most ``most`` nodes.

    At least one, however large.
    """
    if graphs.block.num_nodes <= most:
        return graphs
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(graphs.sizes))
    kept = drawn[: max(1, int(np.searchsorted(np.cumsum(graphs.sizes[drawn]), most, side="right")))]
    return graphs.take(np.sort(kept))


def told_sample(graphs: GraphSet, sample: GraphSet) -> tuple[str, ...]:
    """A sentence on the sample, if it is one."""
    if sample is graphs:
        return ()
    drawn = counted(sample.num_graphs, "graph", "graphs")
    nodes = counted(sample.block.num_nodes, "node", "nodes")
    return (f"training sees {drawn} with {nodes}, drawn by the seed; all are embedded",)


def view_graphs(model: "FDMVGCL", graphs: GraphSet) -> NDArray[np.float32]:
    """Each view read out by itself, shape (K, G, width); zeros for a graph without nodes."""
    kind = model.readout_settings.kind
    found = np.zeros((len(model.alphas_), graphs.num_graphs, _width(kind, model.dim)), dtype=np.float32)
    for places, batch in _batches(model, graphs):
        for k, view in enumerate(model.transform_views(batch.block)):
            found[k, places] = read_out(view, batch.owner, batch.num_graphs, kind)
    return found


def embed_graphs(model: "FDMVGCL", graphs: GraphSet) -> NDArray[np.float32]:
    """One row a graph, (G, width), by the model's readout; zeros for a graph without nodes.

    Graphs are taken a few at a time, which changes nothing: blocks of a block-diagonal operator do not mix.
    """
    readout = model.readout_settings
    if readout.views == "side-by-side":
        return np.concatenate(list(view_graphs(model, graphs)), axis=1)
    found = np.zeros((graphs.num_graphs, _width(readout.kind, model.dim)), dtype=np.float32)
    for places, batch in _batches(model, graphs):
        rows = model.combine(model.transform_views(batch.block))
        found[places] = read_out(rows, batch.owner, batch.num_graphs, readout.kind)
    return found


def read_out(
    rows: NDArray[np.float32], owner: NDArray[np.int64], graphs: int, kind: ReadoutKind
) -> NDArray[np.float32]:
    """The rows (N, d) of each graph's nodes as one row, shape (G, d), or (G, 2 d) for ``"mean+deviation"``.

    Zeros for a graph without nodes.

    Args:
        rows: of the nodes.
        owner: number of each node's graph, shape (N,).
        graphs: how many, G.
        kind: see :class:`~fdmvgcl.learning.settings.Readout`.
    """
    size = np.maximum(np.bincount(owner, minlength=graphs), 1)[:, None]
    ones = np.ones(len(owner), dtype=np.float64)
    belongs = sparse.csr_array((ones, (owner, np.arange(len(owner)))), shape=(graphs, len(owner)))
    if kind == "sum":
        return np.asarray(belongs @ rows, dtype=np.float32)
    if kind == "sum-over-root":
        return np.asarray((belongs @ rows) / np.sqrt(size), dtype=np.float32)
    if kind == "max":
        return _largest(rows, owner, graphs)
    mean = (belongs @ rows) / size
    if kind == "mean":
        return np.asarray(mean, dtype=np.float32)
    if kind != "mean+deviation":
        raise ArgumentError("kind", f"must be one of {', '.join(READOUTS)}, got {kind!r}")
    deviation = np.sqrt((belongs @ (rows - mean[owner]) ** 2) / size)
    return np.concatenate([mean, deviation], axis=1).astype(np.float32)


def _largest(rows: NDArray[np.float32], owner: NDArray[np.int64], graphs: int) -> NDArray[np.float32]:
    found = np.zeros((graphs, rows.shape[1]), dtype=np.float32)
    order = np.argsort(owner, kind="stable")
    present, starts = np.unique(owner[order], return_index=True)
    found[present] = np.maximum.reduceat(rows[order], starts, axis=0)
    return found


def _batches(model: "FDMVGCL", graphs: GraphSet) -> Iterator[tuple[NDArray[np.int64], GraphSet]]:
    """With marks among the features, which are made once for all batches and all transforms of the same set."""
    return GraphSet(graphs.ids, graphs.marked).batches(max(1, _BATCH // (len(model.alphas_) * model.dim)))


def _width(kind: ReadoutKind, dim: int) -> int:
    return 2 * dim if kind == "mean+deviation" else dim
