"""What a text file and a Parquet file have in common: named columns of rows, and errors that say where."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, RowError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.node_ids import encode_ids

# Sets of column names (lower case); a first line that holds all of one is a header.
KnownNames = Sequence[frozenset[str]]
PARQUET = (".parquet", ".pq")


class Table(ABC):
    """Rows of cells, read column by column.

    ``names`` are the columns' names, ``"1"``, ``"2"``, … without a header; ``header`` is None where the format always
    has names.
    """

    path: StrPath
    format: str
    names: tuple[str, ...]
    header: bool | None
    num_rows: int
    remarks: tuple[str, ...] = ()

    @abstractmethod
    def strings(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        """The columns as ids: strings exactly as written, or integers."""

    @abstractmethod
    def numbers(self, columns: Sequence[int], rule: str) -> NDArray[np.float64]:
        """The columns as numbers, shape (rows, columns); ``rule`` begins the message if a cell is none."""

    @abstractmethod
    def where(self, row: int) -> str:
        """``line 17`` or ``row 17``."""

    @abstractmethod
    def error(self, rule: str, row: int | None = None) -> InputError:
        """The error for a broken rule, at a row if there is one."""

    def number_error(self, rule: str, row: int, column: int, value: object) -> InputError:
        """The error for a cell that should be a number."""
        named = f"column {self.names[column]!r}" if self.header is not False else f"column {column + 1}"
        return self.error(f"{rule}, got {shown(value)} in {named}", row)

    def find(self, name: str) -> int | None:
        """The column of this name, in lower or upper case; None without one."""
        if self.header is False:
            return None
        matches = [i for i, other in enumerate(self.names) if other.lower() == name]
        if len(matches) > 1:
            raise self.error(f"column `{name}` must be there once, got it {len(matches)} times")
        return matches[0] if matches else None

    def ids(self, column: int) -> tuple[str, ...]:
        """The column as distinct ids, one a row."""
        codes, known = self.encoded(column, "id")
        if len(known) < len(codes):
            _, first = np.unique(codes, return_index=True)
            repeated = np.setdiff1d(np.arange(len(codes)), first)[0]
            earlier = int(first[codes[repeated]])
            node = shown(known[codes[repeated]])
            raise self.error(f"id {node} must have one row, got another in {self.where(earlier)}", int(repeated))
        return tuple(known[code] for code in codes)

    def encoded(self, column: int, name: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """A column of strings as codes (rows,) and what they stand for; no cell may be empty."""
        try:
            (codes,), known = encode_ids({name: self.strings([column])[0]})
        except RowError as error:
            raise self.error(error.rule, error.row) from None
        except ValueError as error:
            raise self.error(str(error)) from None
        return codes, known


def holds_known(cells: Sequence[str], known: KnownNames) -> bool:
    """Whether the cells hold one of the known sets of names, in lower or upper case."""
    lowered = {cell.lower() for cell in cells}
    return any(names <= lowered for names in known)


def open_table(
    path: StrPath, known: KnownNames, expected: str, is_header: Callable[[Sequence[str]], bool] = lambda cells: False
) -> Table:
    """A table from a Parquet file (by its ending) or a text file.

    Args:
        known: sets of names that mark a first line as header, and tell the delimiter.
        expected: the two columns that there must be at least, for the message.
        is_header: whether any other first line is a header.
    """
    from fdmvgcl.graphs.readers.parquet import ParquetTable
    from fdmvgcl.graphs.readers.text import TextTable

    if os.fspath(path).lower().endswith(PARQUET):
        return ParquetTable(path, expected)
    return TextTable(path, known, expected, is_header)
