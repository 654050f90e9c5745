"""Any common form of a graph in memory, taken as a :class:`~fdmvgcl.graphs.graph.Graph`."""

import sys
from dataclasses import replace
from typing import Any

import pyarrow as pa
from scipy import sparse

from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph

TAKEN = "a Graph, a GraphSet, a SciPy matrix, a NetworkX graph, a PyG Data, or a table of edges (pandas, Polars, Arrow)"


def as_graph(graph: Any, *, features: Any = None, ids: Any = None) -> Graph:
    """The graph that any of these is.

    Args:
        graph: a :class:`Graph`; a square SciPy sparse matrix; a NetworkX graph; a PyTorch Geometric ``Data``; or a
            table of edges that speaks Arrow (pandas, Polars, pyarrow), with columns source and target, or else two
            columns, and perhaps a column weight. Of a :class:`GraphSet` it is the block, with marks of structure among
            its features.
        features: (N, F), rows in the order of ``ids``, or in node order without them.
        ids: the nodes' ids: those of a SciPy matrix's rows, or those that the rows of ``features`` belong to.
    """
    if isinstance(graph, GraphSet):
        check_alone(features, ids)
        return graph.marked
    made = _converted(graph, ids)
    if features is None:
        return made
    return made.with_features(features, ids=None if ids is None else [str(each) for each in ids])


def check_alone(features: Any, ids: Any) -> None:
    """Refuse features or ids beside a GraphSet."""
    if features is not None or ids is not None:
        raise ArgumentError("features", "must be left out beside a GraphSet, whose graphs have their own")


def _converted(graph: Any, ids: Any) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if sparse.issparse(graph):
        made = Graph.from_scipy(graph)
        return made if ids is None else _named(made, ids)
    if _is_of("networkx", "Graph", graph):
        return Graph.from_networkx(graph)
    if _is_of("torch_geometric.data", "Data", graph):
        return Graph.from_pyg(graph)
    if hasattr(graph, "__arrow_c_stream__"):
        return _from_table(pa.table(graph), ids)
    raise ArgumentError("graph", f"must be {TAKEN}; got a {type(graph).__name__}")


def _is_of(module: str, name: str, value: object) -> bool:
    """Whether it is an instance of a class of a library, which need not be loaded to know that it is not."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))


def _named(graph: Graph, ids: Any) -> Graph:
    """The graph with these names instead of 0, 1, …"""
    names = [str(each) for each in ids]
    if len(names) != graph.num_nodes:
        raise ArgumentError("ids", f"must have one id for each of {graph.num_nodes} nodes, got {len(names)}")
    entries = graph.adjacency.tocoo()
    made = Graph.from_edges(
        [names[i] for i in entries.row],
        [names[i] for i in entries.col],
        weight=entries.data,
        nodes=names,
        directed=graph.directed,
    )
    if made.num_nodes < len(names):
        raise ArgumentError("ids", "must be distinct, got one twice")
    return replace(made, counts=graph.counts)


def _from_table(table: pa.Table, ids: Any) -> Graph:
    names = {str(name).lower(): name for name in table.column_names}
    ends = [names[end] for end in ("source", "target") if end in names]
    if len(ends) < 2:
        others = [name for name in table.column_names if str(name).lower() != "weight"]
        if len(others) != 2:
            rule = "must have columns source and target, or two columns"
            raise ArgumentError("graph", f"{rule}, got {', '.join(map(str, table.column_names)) or 'none'}")
        ends = others
    weight = table[names["weight"]].combine_chunks() if "weight" in names else None
    source, target = (_plain(table[end].combine_chunks()) for end in ends)
    return Graph.from_edges(source, target, weight=weight, nodes=ids)


def _plain(column: pa.Array) -> pa.Array:
    """Strings as any Arrow library knows them; Polars hands over views."""
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
