"""What a file of edges will take, told by its head: how many edges and nodes there are, before they are read."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from fdmvgcl.errors import InputError, UserError
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.readers.edges import EdgeColumns, find_ends
from fdmvgcl.graphs.readers.pieces import ParquetPieces, Pieced, open_pieces, refuse_pipe, size_of
from fdmvgcl.graphs.store import is_store, open_store

# Bytes an edge that the reader in memory takes at its peak, and, beside a fixed part, that through DuckDB.
IN_MEMORY, BY_DUCKDB = 190, 60
_SAMPLE = 1 << 20  # rows whose ids are counted


@dataclass(frozen=True)
class Outlook:
    """What reading will find; all but ``size`` are estimates unless ``exact``.

    Args:
        size: bytes of the file.
        edges, nodes: how many are listed.
        columns: of features, 0 without any.
        feature_bytes: of their file, unpacked.
        text: whether it is a text.
        exact: whether a store told all of this.
    """

    size: int
    edges: int
    nodes: int
    columns: int = 0
    feature_bytes: int = 0
    text: bool = False
    exact: bool = False

    @property
    def bytes_in_memory(self) -> int:
        """What reading all of it at once takes."""
        return IN_MEMORY * self.edges


def look_ahead(path: StrPath, columns: EdgeColumns = EdgeColumns(), features: StrPath | None = None) -> Outlook | None:  # noqa: B008
    """What is to be expected of a file; None where it cannot be told: matrices, GraphML, the standard input."""
    try:
        return outlook_of(path, columns, features)
    except (UserError, OSError):  # the reader will say it better
        return None


def outlook_of(path: StrPath, columns: EdgeColumns, features: StrPath | None) -> Outlook:
    """What is to be expected of a file; :class:`UserError` where it cannot be told."""
    if is_store(path):
        graph = open_store(path)
        size = sum(entry.stat().st_size for entry in Path(path).iterdir())
        return Outlook(size, graph.num_edges, graph.num_nodes, graph.num_features, exact=True)
    table = open_pieces(path, columns)
    ends = find_ends(table.head, columns)
    if not table.rows:
        raise InputError(path, "holds no edges")
    rows, width, unpacked = _rows_of_features(features)
    nodes = rows or _nodes(table, ends)
    text = not isinstance(table, ParquetPieces)
    return Outlook(size_of(path), table.rows, nodes, width, unpacked, text)


def _rows_of_features(path: StrPath | None) -> tuple[int, int, int]:
    """Rows, columns and bytes of a file of features; zeros without one."""
    if path is None:
        return 0, 0, 0
    refuse_pipe(path)
    with open(path, "rb") as handle:
        parquet = handle.read(4) == b"PAR1"
    if not parquet:
        table = open_pieces(path, EdgeColumns(header=True))
        return table.rows, len(table.head.names) - 1, os.path.getsize(path)
    found = ParquetPieces(path)
    values = sum(_width(found, name) for name in found.head.names) - 1
    return found.rows, values, found.bytes


def _width(table: ParquetPieces, name: str) -> int:
    """Numbers in a cell: as many as its list has."""
    column = table.head.values([table.head.names.index(name)])[0]
    if pa.types.is_fixed_size_list(column.type):
        return int(column.type.list_size)
    if (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)) and len(column):
        return len(column[0].as_py() or ())
    return 1


def _nodes(table: Pieced, ends: tuple[int, int]) -> int:
    """How many ids there are, told by how often the ids of some rows come again.

    As if all ids were equally frequent: n draws from N ids find N (1 - exp(-n/N)) of them. Integers tell more: no id
    lies outside their least and largest.
    """
    columns: list[list[pa.Array]] = [[], []]
    count = 0
    for piece, places in table.pieces(ends):
        for column, cells in zip(columns, piece.strings(places), strict=True):
            kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
            column += pc.cast(cells, kind).chunks
        count += piece.num_rows
        if count >= _SAMPLE:
            break
    kinds = {chunk.type for column in columns for chunk in column}
    common = kinds.pop() if len(kinds) == 1 else _shared(kinds)
    both = [pc.cast(pa.chunked_array(column), common) for column in columns]
    together = pa.chunked_array([chunk for column in both for chunk in column.chunks])
    if count >= table.rows:
        return len(together.unique())
    found = max(_drawn_from(len(column.unique()), len(column)) for column in (*both, together))
    if pa.types.is_integer(together.type):
        lowest, highest = pc.min_max(together).as_py().values()
        found = min(found, highest - lowest + 1)
    return int(min(found, 2 * table.rows))


def _shared(kinds: set[pa.DataType]) -> pa.DataType:
    """What ids of two columns of several types can all be: the ends of an edge need not be stored alike."""
    signed = all(pa.types.is_signed_integer(kind) for kind in kinds)
    return pa.int64() if signed else pa.large_string()


def _drawn_from(distinct: int, drawn: int) -> float:
    """N of which so many draws find so many distinct ones, by halving."""
    low, high = float(distinct), 1e3 * distinct
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if -middle * math.expm1(-drawn / middle) < distinct else (low, middle)
    return high
