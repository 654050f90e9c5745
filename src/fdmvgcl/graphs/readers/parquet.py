"""Parquet tables, trusted no further than any other file of a user."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, file_size
from fdmvgcl.graphs.readers.tables import Table

# Run-length coding can declare any number of rows in a few bytes; distinct edges or ids cannot be packed this well.
_ROWS_PER_BYTE = 1000
_ROWS_ALWAYS_ALLOWED = 10_000_000
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError, MemoryError)


class ParquetTable(Table):
    """The columns of a Parquet file; they always have names."""

    format = "Parquet"
    header = None

    def __init__(self, path: StrPath, expected: str) -> None:
        self.path = path
        size = file_size(path)
        try:
            with pq.ParquetFile(path) as file:
                self._schema = file.schema_arrow
                self.num_rows = file.metadata.num_rows
                self.names = tuple(self._schema.names)
        except _BROKEN as error:
            raise self._broken(error) from None
        if self.num_rows > max(_ROWS_ALWAYS_ALLOWED, _ROWS_PER_BYTE * size):
            raise self.error(f"declares {self.num_rows} rows in {size} bytes, which no graph does; refused")
        if len(self.names) < 2:
            raise self.error(f"has too few columns ({len(self.names)}); expected at least two ({expected})")
        if len(set(self.names)) < len(self.names):
            raise self.error("column names must be distinct")

    def error(self, rule: str, row: int | None = None) -> InputError:
        return InputError(self.path, rule if row is None else f"{self.where(row)}: {rule}")

    def where(self, row: int) -> str:
        return f"row {row + 1}"

    def _broken(self, error: Exception) -> InputError:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return InputError(self.path, f"is not a valid Parquet file ({reason})")

    def _read(self, columns: Sequence[int], as_dictionary: bool) -> list[pa.ChunkedArray]:
        names = [self.names[column] for column in columns]
        # Read as dictionaries, repeated ids take no room, however long a hostile one is.
        texts = [name for name in names if as_dictionary and _is_text(self._schema.field(name).type)]
        try:
            with pq.ParquetFile(self.path, read_dictionary=texts) as file:
                table = file.read(columns=names)
            found = [table.column(name) for name in names]
            for column in found:
                column.validate(full=True)
        except _BROKEN as error:
            raise self._broken(error) from None
        if table.num_rows != self.num_rows:
            raise self.error(f"is not a valid Parquet file (it declares {self.num_rows} rows, holds {table.num_rows})")
        return found

    def strings(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        return self._read(columns, as_dictionary=True)

    def numbers(self, columns: Sequence[int], rule: str) -> NDArray[np.float64]:
        for column in columns:
            kind = self._schema.field(self.names[column]).type
            if not _is_number(kind):
                raise self.error(f"{rule}, got column {self.names[column]!r} of type {kind}")
        out = np.empty((self.num_rows, len(columns)))
        for position, values in enumerate(self._read(columns, as_dictionary=False)):
            if values.null_count:
                row = int(np.flatnonzero(np.asarray(pc.is_null(values)))[0])
                raise self.number_error(rule, row, columns[position], None)
            out[:, position] = pc.cast(values, pa.float64(), safe=False).to_numpy()
        return out


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_number(kind: pa.DataType) -> bool:
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )
