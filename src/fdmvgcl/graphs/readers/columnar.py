"""Tables whose columns have types: Parquet, Arrow, JSON lines, and data frames; trusted no further than other files."""

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as pf
import pyarrow.json as pj
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.encoding import as_text, is_text
from fdmvgcl.graphs.readers.opening import owned_by_arrow
from fdmvgcl.graphs.readers.tables import Table

# Run-length coding can declare any number of rows in a few bytes; distinct edges or ids cannot be packed this well.
_ROWS_PER_BYTE = 1000
_ROWS_ALWAYS_ALLOWED = 10_000_000
_SAMPLE = 100
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError, MemoryError)

# Columns by name; texts as dictionaries where asked, so that repeated ids take no room, however long a hostile one is.
_Read = Callable[[Sequence[str], bool], pa.Table]


class TypedTable(Table):
    """Columns that have names and types."""

    header = None

    def __init__(self, path: StrPath, form: str, data: Any, expected: str) -> None:
        self.path, self.format = path, form
        try:
            self._schema, self.num_rows, self._load = _OPENERS[form](data)
        except _BROKEN as error:
            if form == "JSON lines":
                _check_lines(path, data)
            raise self._broken(error) from None
        self.names = tuple(map(str, self._schema.names))
        size = len(data) if isinstance(data, bytes) else self.num_rows
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
        return InputError(self.path, f"is not a valid {self.format} file ({reason})")

    def _read(self, columns: Sequence[int], as_dictionary: bool) -> list[pa.ChunkedArray]:
        names = [self.names[column] for column in columns]
        try:
            table = self._load(names, as_dictionary)
            found = [table.column(name) for name in names]
            for column in found:
                column.validate(full=True)
        except _BROKEN as error:
            raise self._broken(error) from None
        if table.num_rows != self.num_rows:
            found_rows = f"it declares {self.num_rows} rows, holds {table.num_rows}"
            raise self.error(f"is not a valid {self.format} file ({found_rows})")
        return found

    def strings(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        return self._read(columns, as_dictionary=True)

    def values(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        return self._read(columns, as_dictionary=False)

    def sample(self) -> list[pa.ChunkedArray]:
        made = []
        for cells in self.values(range(len(self.names))):
            try:
                made.append(pc.fill_null(as_text(cells.slice(0, _SAMPLE)), ""))
            except UserError:
                made.append(pa.chunked_array([[""]], pa.large_string()))  # lists and the like are no ends
        return made

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


def _parquet(data: bytes) -> tuple[pa.Schema, int, _Read]:
    buffer = owned_by_arrow(data)
    with pq.ParquetFile(pa.BufferReader(buffer)) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows

    def load(names: Sequence[str], as_dictionary: bool) -> pa.Table:
        texts = [name for name in names if as_dictionary and is_text(schema.field(name).type)]
        with pq.ParquetFile(pa.BufferReader(buffer), read_dictionary=texts) as file:
            return file.read(columns=list(names))

    return schema, rows, load


def _arrow(data: bytes) -> tuple[pa.Schema, int, _Read]:
    try:
        return _in_memory(pf.read_table(io.BytesIO(data)))
    except pa.ArrowInvalid:
        with pa.ipc.open_stream(pa.BufferReader(data)) as stream:
            return _in_memory(stream.read_all())


def _json_lines(data: bytes) -> tuple[pa.Schema, int, _Read]:
    block = pj.ReadOptions(block_size=min(len(data) + 1, 2**31 - 1))  # types are those of the first block
    return _in_memory(pj.read_json(pa.BufferReader(owned_by_arrow(data)), read_options=block))


def _check_lines(path: StrPath, data: bytes) -> None:
    """Refuse the first line that is no JSON object: Arrow tells no line that can be found again."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            whole = not line.strip() or isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            whole = False
        if not whole:
            found = shown(line[:100].decode(errors="replace"))
            raise InputError(path, f"must hold one JSON object a line, got {found}", number)


def _in_memory(data: Any) -> tuple[pa.Schema, int, _Read]:
    table = pa.table(data)
    return table.schema, table.num_rows, lambda names, as_dictionary: table


_OPENERS: dict[str, Callable[[Any], tuple[pa.Schema, int, _Read]]] = {
    "Parquet": _parquet,
    "Arrow": _arrow,
    "JSON lines": _json_lines,
    "data frame": _in_memory,
}


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )
