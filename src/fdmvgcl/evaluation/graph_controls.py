"""What a learned vector a graph has to beat, as kernels for the same protocol."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.evaluation.graphs import Kernels, kernels_of
from fdmvgcl.evaluation.weisfeiler_lehman import node_labels, wl_kernels
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.learning.graph_level import read_out
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import assemble
from fdmvgcl.learning.settings import ReadoutKind

ALPHA = 0.5
_BATCH_NODES = 50_000


def graph_controls(graphs: GraphSet, model: FDMVGCL) -> dict[str, Callable[[], Kernels]]:
    """Controls by name, each made when it is called.

    ``size`` is numbers of nodes and edges; ``features, mean`` and ``sum`` the features as they are given, of labels
    their histogram; ``with marks`` these beside the marks of structure, as the model takes them; ``diffused`` the
    same after diffusion of order ½ by the model's time, without learning; ``untrained`` the model before training;
    ``Weisfeiler-Lehman`` the subtree kernel. ``with marks``, ``diffused`` and ``untrained`` have the model's readout.

    Args:
        graphs: G graphs.
        model: fitted.
    """
    made: dict[str, Callable[[], Kernels]] = {"size": lambda: kernels_of(size_rows(graphs))}
    if graphs.block.features is not None:
        made["features, mean"] = lambda: kernels_of(_pooled(graphs, graphs.block.features, "mean"))
        made["features, sum"] = lambda: kernels_of(_pooled(graphs, graphs.block.features, "sum"))
    kind = model.readout_settings.kind
    made["with marks"] = lambda: kernels_of(_pooled(graphs, graphs.marked.features, kind))
    made["diffused"] = lambda: kernels_of(diffused_rows(graphs, model))
    made["untrained"] = lambda: kernels_of(clone(model).set_params(epochs=0).fit_transform(graphs))
    made["Weisfeiler-Lehman"] = lambda: wl_kernels(graphs, node_labels(graphs))
    return made


def size_rows(graphs: GraphSet) -> NDArray[np.float64]:
    """Numbers of nodes and edges, and their logarithms, (G, 4)."""
    counts = np.stack([graphs.sizes, graphs.edge_counts], axis=1).astype(np.float64)
    return np.concatenate([counts, np.log1p(counts)], axis=1)


def diffused_rows(graphs: GraphSet, model: FDMVGCL) -> NDArray[np.float32]:
    """Features and marks, scaled as the model scales them, diffused and read out, (G, F)."""
    kind = model.readout_settings.kind
    width = model.chosen_.features.width * (2 if kind == "mean+deviation" else 1)
    found = np.zeros((graphs.num_graphs, width), dtype=np.float32)
    for places, batch in GraphSet(graphs.ids, graphs.marked).batches(_BATCH_NODES):
        prepared = assemble(model, batch.block, model.chosen_)
        with torch.no_grad():
            rows = diffuse(prepared.operator.to("cpu"), prepared.features.dense().cpu(), ALPHA, model.time).numpy()
        found[places] = read_out(rows, batch.owner, batch.num_graphs, kind)
    return found


def _pooled(graphs: GraphSet, table: object, kind: ReadoutKind) -> NDArray[np.float32]:
    dense = table if isinstance(table, np.ndarray) else table.toarray()  # type: ignore[attr-defined]
    return read_out(dense, graphs.owner, graphs.num_graphs, kind)
