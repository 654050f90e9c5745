"""Features on their way into a store: whole where they fit into memory, else a column and then some rows at a time."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError, RowError, UserError, shown
from fdmvgcl.files import StrPath, file_size
from fdmvgcl.graphs.arrays import as_features, take_rows
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.matching import refuse_missing
from fdmvgcl.graphs.node_ids import plain_ids
from fdmvgcl.graphs.readers.attributes import FeatureTable, read_features
from fdmvgcl.graphs.readers.pieces import ParquetPieces
from fdmvgcl.graphs.recognition import fit_encoding
from fdmvgcl.graphs.store import Told, write_features

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# What a table takes in memory, of its bytes unpacked: as read, as numbers of 64 bits, and in node order.
_HELD = 5
_VALUES = 1 << 22  # numbers of rows that are encoded at once


@dataclass(frozen=True, eq=False)
class Wide:
    """Rows of features of a large graph.

    Args:
        path: their file.
        options: ``columns``, ``drop`` and ``fill_missing``.
        table: all of them; None where they are read in pieces.
        pieces: a Parquet file that does not fit into memory.
    """

    path: StrPath
    options: dict[str, Any]
    table: FeatureTable | None = None
    pieces: ParquetPieces | None = None
    key: str = field(default="id")

    def load_ids(self, base: "DuckDBPyConnection", integers: bool) -> bool:
        """The ids into the table ``extra``; whether they were integers where they should be."""
        row = 0
        for ids in self._ids():
            try:
                found = plain_ids(ids, "id", integers)
            except RowError as error:
                raise InputError(self.path, f"row {row + error.row + 1}: {error.rule}") from None
            if found is None:
                return False
            rows = pa.array(np.arange(row, row + len(found)))
            base.register("piece", pa.Table.from_arrays([found, rows], names=["id", "row"]))
            base.execute("INSERT INTO extra SELECT * FROM piece")
            base.unregister("piece")
            row += len(found)
        return True

    def _ids(self) -> Iterator[pa.ChunkedArray]:
        if self.table is not None:
            yield pa.chunked_array([pa.array(self.table.ids, pa.large_string())])
        elif self.pieces is not None:
            yield from (batch.column(0) for batch in self.pieces.batches([self.key]))

    def numbers(self, base: "DuckDBPyConnection") -> NDArray[np.int64]:
        """The node of each row, (M,); every id has one row."""
        told = base.sql("SELECT id, min(row) AS first, max(row) AS other FROM extra GROUP BY id HAVING count(*) > 1")
        twice = told.order("other").limit(1).fetchall()
        if twice:
            node, first, other = twice[0]
            rule = f"id {shown(str(node))} must have one row, got another in row {first + 1}"
            raise InputError(self.path, f"row {other + 1}: {rule}")
        found = base.sql("SELECT n FROM extra JOIN nodes USING (id) ORDER BY row").to_arrow_table().column(0)
        return np.asarray(found.to_numpy(), dtype=np.int64)


def read_wide(path: StrPath, memory: int, options: dict[str, Any]) -> Wide:
    """Features of a file: read whole if that takes less than half of the memory."""
    size = file_size(path)
    with open(path, "rb") as handle:
        parquet = handle.read(4) == b"PAR1"
    if parquet:
        pieces = ParquetPieces(path)
        size = pieces.bytes
    if _HELD * size <= memory / 2:
        return Wide(path, options, read_features(path))
    if not parquet:
        raise InputError(path, "does not fit into memory as text; write it as Parquet, which is read in pieces")
    named = pieces.head.find("id")
    return Wide(path, options, None, pieces, pieces.head.names[0 if named is None else named])


def write_wide(folder: Path, wide: Wide, base: "DuckDBPyConnection", told: Told, nodes: int) -> Told:
    """The rows in node order into a store; what is told with what they are."""
    numbers = wide.numbers(base)
    counts = replace(told.counts, filled=nodes - len(numbers))
    if len(numbers) < nodes and not wide.options.get("fill_missing"):
        first = base.sql("SELECT id FROM nodes ANTI JOIN extra USING (id) ORDER BY n LIMIT 1").fetchall()[0][0]
        with _told_of(wide.path):
            refuse_missing(str(first), nodes - len(numbers))
    rows = np.full(nodes, -1, dtype=np.int64)
    rows[numbers] = np.arange(len(numbers))
    with _told_of(wide.path):
        if wide.table is None:
            encoding = _streamed(folder, wide, numbers, rows)
            return replace(told, counts=counts, names=encoding.names, encoding=encoding, width=len(encoding.names))
        table, how = wide.table, {key: wide.options.get(key) for key in ("columns", "drop")}
        if table.matrix is not None:
            if how["columns"] or how["drop"]:
                raise ArgumentError("columns", "is for columns with names, and a matrix has none")
            width = write_features(folder, take_rows(table.matrix, rows))
            return replace(told, counts=counts, width=width)
        made = fit_encoding(
            table.columns,
            columns=how["columns"],
            drop=how["drop"] or (),
            decimal_comma=table.decimal_comma,
            where=table.where,
        )
        values = as_features(made.apply(table.columns, table.where))
        width = write_features(folder, take_rows(values, rows, made.blank))
        return replace(told, counts=counts, names=made.names, encoding=made, width=width)


class _Columns:
    """The columns of a Parquet file, each read when it is asked for: what :func:`fit_encoding` needs of a table."""

    def __init__(self, wide: Wide) -> None:
        assert wide.pieces is not None
        self._pieces = wide.pieces
        self.column_names = [name for name in wide.pieces.head.names if name != wide.key]

    def column(self, name: str) -> pa.ChunkedArray:
        return pa.chunked_array([c for batch in self._pieces.batches([name]) for c in batch.column(0).chunks])


def _streamed(folder: Path, wide: Wide, numbers: NDArray[np.int64], rows: NDArray[np.int64]) -> Encoding:
    """Rows into their places, some at a time."""
    assert wide.pieces is not None
    columns, drop = wide.options.get("columns"), wide.options.get("drop") or ()
    made = fit_encoding(cast("pa.Table", _Columns(wide)), columns=columns, drop=drop, where=_row(0))
    shape, place = (len(rows), len(made.names)), folder / "features.f32"
    with open(place, "wb") as handle:
        # Reserved, since a disk that fills up under a memory map would end the process.
        _reserve(handle.fileno(), 4 * shape[0] * shape[1])
    first, step = 0, max(1, _VALUES // shape[1])
    needed = [each.name for each in made.columns if each.treatment != "left out"]
    blank = np.flatnonzero(rows < 0)
    if len(blank):
        _put(place, shape, blank, made.blank[None, :])
    for batch in wide.pieces.batches(needed, step):
        values = made.apply(batch, _row(first)) + np.float32(0)  # -0.0 becomes 0.0, as it does in memory
        _put(place, shape, numbers[first : first + len(values)], values)
        first += len(values)
    return made


def _reserve(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:  # macOS
        os.ftruncate(descriptor, size)


def _put(place: Path, shape: tuple[int, int], numbers: NDArray[np.int64], values: NDArray[np.float32]) -> None:
    out = np.memmap(place, "<f4", "r+", shape=shape)  # opened anew, so that no page stays with the process
    out[numbers] = values
    out.flush()


def _row(first: int) -> Callable[[int], str]:
    return lambda row: f"row {first + row + 1}"


@contextmanager
def _told_of(path: StrPath) -> Iterator[None]:
    """Errors name the file, unless they are of an argument."""
    try:
        yield
    except InputError:
        raise
    except UserError as error:
        if isinstance(error, ArgumentError) and error.argument in ("columns", "drop"):
            raise
        raise InputError(path, str(error)) from None
