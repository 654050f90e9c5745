"""A graph that files add to and take away from: its encoding of features stays."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, UserError, shown
from fdmvgcl.graphs.arrays import Features
from fdmvgcl.graphs.edit import numbers_of, stacked, with_edges, with_nodes, without_edges, without_nodes
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.readers import FeatureTable
from fdmvgcl.graphs.recognition import fit_encoding


def grown(
    graph: Graph,
    addition: Graph | None = None,
    table: FeatureTable | None = None,
    *,
    fill_missing: bool = False,
    keep_known: bool = False,
) -> Graph:
    """The graph with the edges of another and with rows of features, nodes of which may be new.

    An edge that is there already takes its new weight, a node that is there its new features.

    Args:
        graph: what there is.
        addition: edges; its features do not count.
        table: rows of features, encoded as the graph's are.
        fill_missing: let new nodes have no row: all their cells are blank.
        keep_known: keep the features of nodes that are there.
    """
    known = set(graph.ids)
    new = [] if addition is None else [node for node in addition.ids if node not in known]
    if graph.features is None:
        if table is not None:
            raise ArgumentError("features", "cannot be used: the model was trained without features")
        bigger = with_nodes(graph, new)
    else:
        bigger = _with_rows(graph, new, table, fill_missing, keep_known)
    if addition is None:
        return bigger
    entries = addition.adjacency.tocoo()
    names = addition.ids
    return with_edges(bigger, [names[i] for i in entries.row], [names[i] for i in entries.col], entries.data)


def shrunk(graph: Graph, nodes: Sequence[str] = (), edges: Graph | None = None) -> Graph:
    """The graph without the edges of another, all of which it must have, and without some of its nodes."""
    if edges is not None:
        entries = edges.adjacency.tocoo()
        numbers_of(graph, edges.ids)  # a node that is none says more than an edge that is none
        graph = without_edges(graph, [edges.ids[i] for i in entries.row], [edges.ids[i] for i in entries.col])
    return without_nodes(graph, nodes) if nodes else graph


def _with_rows(
    graph: Graph, new: Sequence[str], table: FeatureTable | None, fill_missing: bool, keep_known: bool
) -> Graph:
    known = set(graph.ids)
    kept = [i for i, node in enumerate(() if table is None else table.ids) if not (keep_known and node in known)]
    ids = [] if table is None else [table.ids[i] for i in kept]
    without = sorted(set(new) - set(ids))
    if without and table is None and not fill_missing:
        raise UserError(f"the model needs {graph.num_features} feature columns for new nodes; give --features FILE")
    if without and not fill_missing:
        others = f" and {len(without) - 1} more" if len(without) > 1 else ""
        raise ArgumentError("features", f"must have a row for every new node; {shown(without[0])}{others} has none")
    if not (ids or without):
        return graph
    blank = np.zeros(graph.num_features, np.float32) if graph.encoding is None else graph.encoding.blank
    rows: Features = np.tile(np.asarray(blank, dtype=np.float32), (len(without), 1))
    if table is not None and kept:
        rows = stacked(encoded_rows(table, graph)[np.array(kept)], rows)
    return with_nodes(graph, [*ids, *without], rows)


def encoded_rows(table: FeatureTable, graph: Graph) -> "Features | NDArray[np.float32]":
    """The table's rows as the graph's features are, shape (M, F)."""
    if table.columns is not None:
        encoding = graph.encoding or fit_encoding(table.columns, decimal_comma=table.decimal_comma)
        return encoding.apply(table.columns, table.where)
    assert table.matrix is not None
    if table.matrix.shape[1] != graph.num_features:
        raise UserError(f"must have {graph.num_features} feature columns, got {table.matrix.shape[1]}")
    return table.matrix
