"""Vectors keyed by node ids, as Parquet: ``embeddings.parquet`` and ``views.parquet``."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, atomic_write, file_size

# Values of one column in a row group: what a reader holds at once while it streams.
_GROUP_VALUES = 1 << 22
_UNIT_ROWS = 512
_BROKEN = (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError)


def write_vectors(
    path: StrPath,
    ids: Sequence[str],
    columns: Mapping[str, NDArray[np.float32]],
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write ids and columns of vectors, aside and renamed; the same input gives the same bytes.

    Args:
        path: the file.
        ids: N node ids.
        columns: name -> (N, d) float32, stored as fixed-size lists.
        metadata: kept as JSON in the schema.
    """
    with atomic_write(path) as handle, vector_writer(handle, _widths(columns), metadata) as write:
        write(pa.array(ids, pa.string()), columns)


@contextmanager
def vector_writer(
    handle: IO[bytes], widths: Mapping[str, int], metadata: Mapping[str, Any] | None = None
) -> Iterator[Callable[[pa.Array, Mapping[str, NDArray[np.float32]]], None]]:
    """What writes ids (n,) and columns of vectors (n, d), a piece of the file at a time.

    Args:
        handle: the open file.
        widths: name -> d of each column.
        metadata: kept as JSON in the schema.
    """
    fields = [pa.field("id", pa.string(), nullable=False)]
    # "Not null" spares readers the definition levels: half of the time that reading takes.
    kinds = {name: pa.list_(pa.field("element", pa.float32(), nullable=False), d) for name, d in widths.items()}
    fields += [pa.field(name, kind, nullable=False) for name, kind in kinds.items()]
    notes = {key: json.dumps(value) for key, value in (metadata or {}).items()}
    schema = pa.schema(fields, metadata=notes or None)
    rows = max(1, _GROUP_VALUES // max(widths.values()))
    with pq.ParquetWriter(
        handle,
        schema,
        compression="none",  # random mantissas do not pack, and similar reads the file on every call
        use_dictionary=False,
        write_statistics=False,
        data_page_size=8 * _GROUP_VALUES,
    ) as file:

        def write(ids: pa.Array, columns: Mapping[str, NDArray[np.float32]]) -> None:
            flat = {name: pa.array(np.ascontiguousarray(values).reshape(-1)) for name, values in columns.items()}
            arrays = [pa.FixedSizeListArray.from_arrays(flat[name], type=kind) for name, kind in kinds.items()]
            file.write_table(pa.Table.from_arrays([ids, *arrays], schema=schema), row_group_size=rows)

        yield write


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length 1, shape (n, d); a zero row stays zero."""
    unit = np.empty_like(rows)
    for first in range(0, len(rows), _UNIT_ROWS):  # what is made on the way stays in the cache
        part = slice(first, first + _UNIT_ROWS)
        lengths = np.linalg.norm(rows[part], axis=1, keepdims=True)
        zero = ~(lengths > 0)
        np.divide(rows[part], np.where(zero, 1, lengths), out=unit[part])
        unit[part][zero[:, 0]] = 0
    return unit


def _widths(columns: Mapping[str, NDArray[np.float32]]) -> dict[str, int]:
    return {name: values.shape[1] for name, values in columns.items()}


class VectorFile:
    """A file of :func:`write_vectors`, read in pieces; one :class:`InputError` for any other file.

    Attributes:
        columns: name -> d of each column of vectors.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = path
        file_size(path)
        try:
            self._bytes = pa.OSFile(os.fspath(path))  # pages of a map would count as memory, and are no quicker
            self._file = pq.ParquetFile(self._bytes)
        except _BROKEN as error:
            raise self._broken(error) from None
        schema = self._file.schema_arrow
        vectors = [field for field in schema if field.name != "id"]
        if "id" not in schema.names or not vectors or not all(map(_holds_vectors, vectors)):
            raise InputError(path, "must have a column id and columns of float vectors of one length")
        self.columns = {field.name: field.type.list_size for field in vectors}

    def __enter__(self) -> "VectorFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._bytes.close()

    @property
    def num_rows(self) -> int:
        return int(self._file.metadata.num_rows)

    def ids(self) -> pa.ChunkedArray:
        """All ids, as Arrow strings."""
        try:
            ids = self._file.read(columns=["id"], use_threads=False).column(0)
            return ids if ids.type == pa.string() else ids.cast(pa.string())
        except _BROKEN as error:
            raise self._broken(error) from None

    def blocks(self, column: str) -> Iterator[NDArray[np.float32]]:
        """The vectors in pieces of shape (n, d), in the file's order."""
        for group in range(self._file.num_row_groups):
            yield from self._group(column, group)

    def read(self, column: str) -> NDArray[np.float32]:
        """All vectors, shape (N, d)."""
        found = np.empty((self.num_rows, self.columns[column]), dtype=np.float32)
        first = 0
        for block in self.blocks(column):
            found[first : first + len(block)] = block
            first += len(block)
        return found

    def rows(self, column: str, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some of the vectors, shape (n, d), in any order; parts of the file without any are not read."""
        found = np.empty((len(numbers), self.columns[column]), dtype=np.float32)
        first = 0
        for group in range(self._file.num_row_groups):
            last = first + self._file.metadata.row_group(group).num_rows
            inside = np.flatnonzero((numbers >= first) & (numbers < last))
            if len(inside):
                rows = np.concatenate(list(self._group(column, group)))
                found[inside] = rows[numbers[inside] - first]
            first = last
        return found

    def _group(self, column: str, group: int) -> Iterator[NDArray[np.float32]]:
        """The vectors of a row group."""
        width = self.columns[column]
        try:
            size = max(1, _GROUP_VALUES // max(1, width))
            for batch in self._file.iter_batches(size, row_groups=[group], columns=[column], use_threads=False):
                yield np.asarray(batch.column(0).flatten()).reshape(batch.num_rows, width)
        except _BROKEN as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> InputError:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return InputError(self.path, f"is not a whole Parquet file of vectors ({reason})")


def _holds_vectors(field: pa.Field) -> bool:
    return bool(pa.types.is_fixed_size_list(field.type) and pa.types.is_float32(field.type.value_type))
