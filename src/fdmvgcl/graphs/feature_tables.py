"""Tables of features, columns of any kind, as a graph's features."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from fdmvgcl.errors import ArgumentError, UserError, shown
from fdmvgcl.graphs.arrays import as_features, as_table, take_rows
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.matching import matched
from fdmvgcl.graphs.recognition import fit_encoding


def with_table(
    graph: Graph,
    features: Any,
    ids: Any = None,
    *,
    fill_missing: bool = False,
    encoding: Encoding | None = None,
    columns: tuple[str, ...] | None = None,
    drop: tuple[str, ...] = (),
    decimal_comma: bool = True,
    where: Callable[[int], str] | None = None,
) -> Graph:
    """The graph with the table's columns, encoded, as its features.

    Args:
        features: a table that speaks Arrow.
        ids: of its rows; None takes its column ``id``, else the index of a data frame.
        fill_missing: let nodes have no row: all their cells are blank.
        encoding: how to encode, as a model was trained, what it does not know being told; None fits one.
        columns, drop, decimal_comma, where: see :func:`~fdmvgcl.graphs.recognition.fit_encoding`.
    """
    table, told = as_table(features, "features"), ""
    if ids is None:
        table, ids, told = keyed(table, getattr(features, "index", None))
    made = encoding or fit_encoding(table, columns=columns, drop=drop, decimal_comma=decimal_comma, where=where)
    values = as_features(made.apply(table, where))
    try:
        grown, rows = matched(graph, ids, table.num_rows, fill_missing)
        if told and grown.num_nodes > graph.num_nodes:
            strange = next(node for node in ids if node not in graph._numbers)
            raise UserError(f"{shown(strange)} is no node of the graph")
    except UserError as error:
        if not told:
            raise
        raise ArgumentError("features", f"cannot be matched with nodes: {error} ({told})") from None
    if encoding is not None and grown.origin is not None:
        strange = (*grown.origin.remarks, *encoding.unknown(table))
        grown = replace(grown, origin=replace(grown.origin, remarks=strange))
    kept = None if made.plain else table.take(pa.array(rows, mask=rows < 0))
    return grown._with_encoded(take_rows(values, rows, made.blank), made.names, made, kept)


def keyed(table: pa.Table, index: Any = None) -> tuple[pa.Table, Any, str]:
    """A table without its ids, the ids, and what to say where they do not fit.

    They are its column ``id``, else the index of the data frame that it comes from.
    """
    named = [name for name in table.column_names if name.lower() == "id"]
    if len(named) == 1:
        return table.drop_columns(named), table.column(named[0]), ""
    if index is None or callable(index):
        raise ArgumentError("features", "must have a column id, or come with ids=…")
    if getattr(index, "nlevels", 1) > 1:
        raise ArgumentError("features", "must have an index of one level, or a column id")
    told = "rows were matched by the data frame's index: a column id, or ids=…, goes before it"
    return table.drop_columns([name for name in table.column_names if name == index.name]), list(map(str, index)), told


def encoded_again(graph: Graph, encoding: Encoding) -> Graph:
    """The graph's features by another encoding, from its table, or from its columns where they are numbers."""
    table = graph.feature_table
    if table is None:
        if graph.feature_names is None or set(encoding.names) <= set(graph.feature_names):
            return graph  # matched by position, or encoded by hand
        if graph.encoding is not None and not graph.encoding.plain:
            raise UserError("the graph's features are encoded in another way than the model's; read them anew")
        values = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()  # type: ignore[union-attr]
        table = pa.table(dict(zip(graph.feature_names, values.T, strict=True)))
    features = as_features(encoding.apply(table))
    return replace(
        graph, features=features, feature_names=encoding.names, encoding=encoding, feature_table=graph.feature_table
    )
