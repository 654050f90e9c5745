"""Users' files to a Graph, or one clear :class:`InputError`."""

import os
from dataclasses import replace
from typing import Any

from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.readers.attributes import FeatureTable, read_features, read_labels, read_splits
from fdmvgcl.graphs.readers.edges import EdgeColumns, graph_of, read_table_graph
from fdmvgcl.graphs.readers.graphml import read_graphml
from fdmvgcl.graphs.readers.ids import read_ids
from fdmvgcl.graphs.readers.matrices import read_matrix_graph
from fdmvgcl.graphs.readers.opening import STDIN, content, form_of
from fdmvgcl.graphs.readers.pieces import ParquetPieces, is_parts
from fdmvgcl.graphs.readers.tables import TABLES
from fdmvgcl.graphs.store import is_store, open_store
from fdmvgcl.graphs.temporal import Window

__all__ = ["FeatureTable", "InputError", "read_features", "read_graph", "read_ids", "read_labels", "read_splits"]

_MATRICES = ("npz", "Matrix Market")


def read_graph(
    path: StrPath,
    *,
    features: StrPath | None = None,
    directed: bool = False,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    header: bool | None = None,
    repeated: str = "max",
    columns: tuple[str, ...] | None = None,
    drop: tuple[str, ...] = (),
    encoding: str | None = None,
    fill_missing: bool = False,
    encoded_as: Encoding | None = None,
    since: str | None = None,
    until: str | None = None,
    half_life: str | None = None,
) -> Graph:
    """A graph from an edge file; the same graph in any format gives the same arrays.

    Delimited text (see :mod:`fdmvgcl.graphs.readers.text`), Parquet, Arrow, JSON lines, GraphML, Matrix Market or a
    SciPy ``.npz``, by the name's ending, else by how the file begins; packed with gzip, zstd, bzip2 or lz4 or not;
    ``-`` is the standard input. A folder of Parquet files, as Spark writes, is one table; a folder of
    :mod:`fdmvgcl.graphs.store` is opened as it is.

    Args:
        path: the edges. Whether a text has a header, and which columns are the ends, is recognised where it is certain
            (see :mod:`fdmvgcl.graphs.readers.header`), and else asked for.
        features: a file for :func:`read_features`. Its ids without edges become nodes.
        directed: keep the direction of edges.
        source, target: the columns of the ends. Without a header columns are called ``1``, ``2``, …
        weight: the column of the weights; ``weight``, if there is one, when not given.
        header: whether the first line of a text is a header; None recognises it.
        repeated: what an edge that is listed more than once weighs, see :meth:`Graph.from_edges`.
        columns, drop: columns of the features to take, and not to take.
        encoding: of texts; None is UTF-8, or what a byte-order mark says.
        fill_missing: let nodes have no features, instead of refusing; see :meth:`Graph.with_features`.
        encoded_as: how columns of features become numbers, as in a graph before; None tells it from the columns.
        since, until, half_life: which edges count by their column ``time`` or ``timestamp``, and for how much; see
            :class:`fdmvgcl.graphs.temporal.Window`.
    """
    if features is None:
        for argument, value in (("columns", columns), ("drop", drop)):
            if value:
                raise ArgumentError(argument, "is for columns of features, and there are none")
    elif str(path) == str(features) == STDIN:
        raise ArgumentError("features", "must be another file: the standard input is read once")
    if is_store(path):
        if features is not None:
            raise ArgumentError("features", "must not be given with a graph store, which holds its own")
        return open_store(path)
    window = Window(since, until, half_life)
    asked = EdgeColumns(source, target, weight, header)
    how: dict[str, Any] = {"directed": directed, "repeated": repeated}
    parts = is_parts(path)
    data = b"" if parts else content(path)
    form = "Parquet" if parts else form_of(path, data)
    if parts:
        graph, origin = graph_of(ParquetPieces(path).whole(), asked, window, **how)
    elif form in _MATRICES:
        if (name := next((name for name in (weight, source, target) if name is not None), None)) is not None:
            raise InputError(path, f"column {name!r} cannot be there: a matrix has no columns of edges")
        graph, origin = read_matrix_graph(path, data, form, directed)
    elif form == "GraphML":
        graph, origin = read_graphml(path, data, weight, features=_same(path, features), **how)
    else:
        assert form == "text" or form in TABLES
        graph, origin = read_table_graph(path, data, asked, encoding=encoding, window=window, **how)
    if window and origin.source is None:
        raise InputError(path, f"has no times: {origin.format} has no columns")
    if not graph.num_edges:
        raise InputError(path, "holds no edges other than self-loops and edges of weight 0")
    graph = replace(graph, origin=origin)
    if features is None:
        return graph
    matching = {"fill_missing": fill_missing, "columns": columns, "drop": drop, "encoding": encoded_as}
    return _with_features(graph, features, encoding, matching)


def _same(path: StrPath, features: StrPath | None) -> bool:
    """Whether the features are attributes of nodes in the graph's own file."""
    return features is not None and os.path.realpath(path) == os.path.realpath(features)


def _with_features(graph: Graph, path: StrPath, encoding: str | None, how: dict[str, Any]) -> Graph:
    table = read_features(path, encoding)
    try:
        return table.on(graph, **how)
    except InputError:
        raise
    except ArgumentError as error:
        if error.argument in ("columns", "drop"):
            raise
        raise InputError(path, str(error)) from None
    except UserError as error:
        raise InputError(path, str(error)) from None
