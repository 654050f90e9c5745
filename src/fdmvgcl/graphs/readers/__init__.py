"""Users' files to a Graph, or one clear :class:`InputError`."""

import os
from dataclasses import replace

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.readers.attributes import FeatureTable, read_features, read_labels, read_splits
from fdmvgcl.graphs.readers.edges import read_table_graph
from fdmvgcl.graphs.readers.graphml import read_graphml
from fdmvgcl.graphs.readers.matrices import read_npz_graph

__all__ = ["FeatureTable", "InputError", "read_features", "read_graph", "read_labels", "read_splits"]


def read_graph(
    path: StrPath,
    *,
    features: StrPath | None = None,
    directed: bool = False,
    weight: str | None = None,
    header: bool = False,
    fill_missing: bool = False,
) -> Graph:
    """A graph from an edge file; the same graph in any format gives the same arrays.

    The format follows from the name's ending: ``.parquet`` or ``.pq``, ``.graphml``, ``.npz`` (a SciPy adjacency), else
    delimited text (see :mod:`fdmvgcl.graphs.readers.text`).

    Args:
        path: the edges. The ends are the columns source/target, src/dst or from/to, else the first two.
        features: a file for :func:`read_features`. Its ids without edges become nodes.
        directed: keep the direction of edges.
        weight: the column of the weights; ``weight``, if there is one, when not given. Without a header columns are
            called ``1``, ``2``, …
        header: the first line of a text is a header even if it has none of these names.
        fill_missing: give zeros to nodes without features, instead of refusing.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending == ".npz":
        if weight is not None:
            raise InputError(path, f"weight column {weight!r} cannot be there: an .npz adjacency has no columns")
        graph, origin = read_npz_graph(path, directed)
    elif ending == ".graphml":
        graph, origin = read_graphml(path, weight, directed)
    else:
        graph, origin = read_table_graph(path, weight, header, directed)
    if not graph.num_edges:
        raise InputError(path, "holds no edges other than self-loops and edges of weight 0")
    graph = replace(graph, origin=origin)
    return graph if features is None else _with_features(graph, features, fill_missing)


def _with_features(graph: Graph, path: StrPath, fill_missing: bool) -> Graph:
    table = read_features(path)
    try:
        return graph.with_features(table.values, ids=table.ids, names=table.names, fill_missing=fill_missing)
    except ValueError as error:
        raise InputError(path, str(error)) from None
