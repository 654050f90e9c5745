"""Any common form of a graph in memory, taken as a :class:`~fdmvgcl.graphs.graph.Graph`."""

import os
import sys
from collections.abc import Iterable
from typing import Any

from scipy import sparse

from fdmvgcl.errors import ArgumentError, shown
from fdmvgcl.graphs.arrays import is_table
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph

TAKEN = (
    "a Graph, a GraphSet, a SciPy matrix, a graph of NetworkX, igraph or PyG, or a table of edges "
    "(pandas, Polars, Arrow)"
)


def as_graph(graph: Any, *, features: Any = None, ids: Any = None) -> Graph:
    """The graph that any of these is.

    Args:
        graph: a :class:`Graph`; a square SciPy sparse matrix; a graph of NetworkX or igraph; a ``Data`` or
            ``HeteroData`` of PyTorch Geometric; or a table of edges that speaks Arrow (pandas, Polars, pyarrow), whose
            columns are recognised as those of files, see :meth:`Graph.from_edges`. Of a :class:`GraphSet` it is the
            block, with marks of structure among its features.
        features: (N, F), rows in the order of ``ids``, or in node order without them; or a table, see
            :meth:`Graph.with_features`.
        ids: the nodes' ids: those of a SciPy matrix's rows, or those that the rows of ``features`` belong to.
    """
    if isinstance(graph, GraphSet):
        check_alone(features, ids)
        return graph.marked
    names = None if ids is None else _names(ids)
    made = _converted(graph, names)
    return made if features is None else made.with_features(features, ids=names)


def check_alone(features: Any, ids: Any, beside: str = "a GraphSet, whose graphs have their own") -> None:
    """Refuse features or ids beside what has its own."""
    for name, given in {"features": features, "ids": ids}.items():
        if given is not None:
            raise ArgumentError(name, f"must be left out beside {beside}")


def _names(ids: Any) -> list[str]:
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise ArgumentError("ids", f"must be one id for each node, got {shown(ids)}")
    return [str(each) for each in ids]


def _converted(graph: Any, ids: Any) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if sparse.issparse(graph):
        return Graph.from_scipy(graph, ids=ids)
    if _is_of("networkx", "Graph", graph):
        return Graph.from_networkx(graph)
    if _is_of("igraph", "Graph", graph):
        return Graph.from_igraph(graph)
    if any(_is_of("torch_geometric.data", name, graph) for name in ("Data", "HeteroData")):
        return Graph.from_pyg(graph)
    if is_table(graph):
        return Graph.from_edges(graph, nodes=ids)
    hint = "; Graph.read reads files" if isinstance(graph, str | os.PathLike) else ""
    hint = "; GraphSet.from_graphs takes many graphs" if isinstance(graph, list | tuple | dict) else hint
    raise ArgumentError("graph", f"must be {TAKEN}; got a {type(graph).__name__}{hint}")


def _is_of(module: str, name: str, value: object) -> bool:
    """Whether it is an instance of a class of a library, which need not be loaded to know that it is not."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))
