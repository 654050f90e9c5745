"""What a text file and a Parquet file have in common: named columns of rows, and errors that say where."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, RowError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.node_ids import encode_ids
from fdmvgcl.graphs.readers.header import plain_name
from fdmvgcl.graphs.readers.opening import content, form_of

# Sets of column names (lower case); a first line that holds all of one is a header.
KnownNames = Sequence[frozenset[str]]
WEIGHT_RULE = "weight must be a finite number of at least 0"
TABLES = ("Parquet", "Arrow", "JSON lines")

# Whether a first line is a header, told from its cells and the table that stands below it.
HeaderRule = Callable[[Sequence[str], "Table"], bool]


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
    decimal_comma: bool = True

    @abstractmethod
    def strings(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        """The columns as ids: strings exactly as written, or integers."""

    @abstractmethod
    def values(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        """The columns as they are: strings in a text, else of the file's own types."""

    @abstractmethod
    def sample(self) -> list[pa.ChunkedArray]:
        """Some rows of all columns, as texts."""

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
        matches = [i for i, other in enumerate(self.names) if plain_name(other) == name]
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
        except UserError as error:
            raise self.error(str(error)) from None
        return codes, known


def holds_known(cells: Sequence[str], known: KnownNames) -> bool:
    """Whether the cells hold one of the known sets of names, in lower or upper case."""
    plain = {plain_name(cell) for cell in cells}
    return any(names <= plain for names in known)


def open_table(
    path: StrPath,
    known: KnownNames,
    expected: str,
    is_header: HeaderRule = lambda cells, table: False,
    *,
    encoding: str | None = None,
    data: bytes | None = None,
) -> Table:
    """A table from a file of columns, or a text.

    Args:
        known: sets of names that mark a first line as header, and tell the delimiter.
        expected: the two columns that there must be at least, for the message.
        is_header: whether any other first line is a header.
        encoding: of a text; None is UTF-8, or what a byte-order mark says.
        data: what the file holds, if it was opened before.
    """
    from fdmvgcl.graphs.readers.columnar import TypedTable
    from fdmvgcl.graphs.readers.text import TextTable

    data = content(path) if data is None else data
    form = form_of(path, data)
    if form == "text":
        return TextTable(path, data, known, expected, is_header, encoding)
    if form in TABLES:
        return TypedTable(path, form, data, expected)
    raise InputError(path, f"is {form}; expected a table: delimited text, Parquet, Arrow or JSON lines")
