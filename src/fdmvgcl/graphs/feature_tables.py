"""Tables of features, columns of any kind, as a graph's features."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.graphs.arrays import as_features, take_rows
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.recognition import fit_encoding

INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name when it hands out Arrow


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
        ids: of its rows; None takes the index of a data frame, or the column ``id``.
        fill_missing: let nodes have no row: all their cells are blank.
        encoding: how to encode, as a model was trained; None fits one.
        columns, drop, decimal_comma, where: see :func:`~fdmvgcl.graphs.recognition.fit_encoding`.
    """
    table, ids = (pa.table(features), ids) if ids is not None else keyed(features)
    made = encoding or fit_encoding(table, columns=columns, drop=drop, decimal_comma=decimal_comma, where=where)
    values = as_features(made.apply(table, where))
    grown, rows = graph._matched(ids, table.num_rows, fill_missing)
    kept = None if made.plain else table.take(pa.array(rows, mask=rows < 0))
    return grown._with_encoded(take_rows(values, rows, made.blank), made.names, made, kept)


def keyed(features: Any) -> tuple[pa.Table, Any]:
    """A table without its ids, and the ids: a data frame's index unless it only counts rows, else a column ``id``."""
    table = pa.table(features)
    index = getattr(features, "index", None)
    named = [name for name in table.column_names if str(name).lower() == "id"]
    if len(named) == 1:
        ids = table.column(named[0])
        return table.drop_columns([named[0]]), ids
    if index is None or callable(index):
        raise ArgumentError("features", "must have a column id, or come with ids=…")
    names = [name for name in table.column_names if INDEX.fullmatch(name) or name == getattr(index, "name", None)]
    return table.drop_columns(names), [str(each) for each in index]


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
