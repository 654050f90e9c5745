"""A table on disk in pieces, each of which is a table like those that are read whole, with the same errors.

The head, its first piece, tells what the columns are. What a later piece of a text must know of the head stands above
it: the delimiter as Excel's ``sep=;``, and a comment if there were some.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, file_size
from fdmvgcl.graphs.readers.columnar import TypedTable
from fdmvgcl.graphs.readers.edges import EXPECTED, EdgeColumns, header_rule, known_names
from fdmvgcl.graphs.readers.opening import form_of, packing_of
from fdmvgcl.graphs.readers.tables import Table
from fdmvgcl.graphs.readers.text import DELIMITERS, TextTable, line_ends

_ROWS, _BYTES = 1 << 20, 8 << 20
_BROKEN = (pa.ArrowException, OSError, ValueError)


class Pieced(ABC):
    """A table that is never whole in memory.

    Attributes:
        head: its first piece.
        rows: how many it has; of a text an estimate.
    """

    head: Table
    rows: int

    @abstractmethod
    def pieces(self, columns: Sequence[int]) -> Iterator[tuple[Table, Sequence[int]]]:
        """Piece after piece, and where in each these columns stand; from the beginning with every call."""


def open_pieces(path: StrPath, columns: EdgeColumns) -> Pieced:
    """Parquet, a file or a folder of parts, or a delimited text in UTF-8, packed or not.

    :class:`InputError` for what cannot be cut.
    """
    if is_parts(path):
        return ParquetPieces(path)
    refuse_pipe(path)
    file_size(path)
    with open(path, "rb") as handle:
        start = handle.read(4096)
    packing = packing_of(start)
    if packing is not None:
        try:
            with pa.input_stream(str(path), compression=packing) as stream:
                start = stream.read(4096)
        except (OSError, pa.ArrowException) as error:
            raise InputError(path, f"is not a whole {packing} file ({error})") from None
    form = form_of(path, start)
    if form == "Parquet" and packing is None:
        return ParquetPieces(path)
    if form != "text":
        told = f"is {form}{' and packed' if packing else ''}, which is only read whole"
        raise InputError(path, f"{told}; to plan, or to read it in pieces, write Parquet")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(path, "must be text in UTF-8 to be read in pieces, got UTF-16")
    return TextPieces(path, columns, packing)


def refuse_pipe(path: StrPath) -> None:
    """What comes through a pipe comes once: a look ahead would take it from the reader."""
    if Path(path).is_fifo():
        raise InputError(path, "is a pipe, which is only read whole; to plan, or to read it in pieces, write a file")


class _Rows(TypedTable):
    """Some rows of a Parquet file."""

    def __init__(self, path: StrPath, rows: pa.Table, first: int) -> None:
        self._first = first
        super().__init__(path, "data frame", rows, EXPECTED)
        self.format = "Parquet"

    def where(self, row: int) -> str:
        return super().where(self._first + row)


def is_parts(path: StrPath) -> bool:
    """Whether it is a folder of Parquet files, as Spark and its like write."""
    return Path(path).is_dir() and next(Path(path).glob("*.parquet"), None) is not None


def size_of(path: StrPath) -> int:
    """Bytes of a file, or of all parts."""
    return sum(part.stat().st_size for part in parts_of(path))


def parts_of(path: StrPath) -> list[Path]:
    """The files of a folder of parts, else the file."""
    return sorted(Path(path).glob("*.parquet")) if is_parts(path) else [Path(path)]


class ParquetPieces(Pieced):
    """Parquet, a million rows at a time; the parts of a folder in the order of their names."""

    def __init__(self, path: StrPath) -> None:
        self.path = path
        self.rows = self.bytes = 0
        schemas = []
        try:
            for part in parts_of(path):
                with pq.ParquetFile(part, memory_map=True) as file:
                    self.rows += file.metadata.num_rows
                    self.bytes += sum(file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups))
                    schemas.append(file.schema_arrow.remove_metadata())
        except _BROKEN as error:
            raise self._broken(error) from None
        if any(schema != schemas[0] for schema in schemas):
            raise InputError(path, "must hold parts of the same columns, and does not")
        empty = schemas[0].empty_table()
        self.head = next((piece for piece, _ in self.pieces(None)), _Rows(path, empty, 0))

    def pieces(self, columns: Sequence[int] | None) -> Iterator[tuple[Table, Sequence[int]]]:
        first = 0
        names = None if columns is None else [self.head.names[column] for column in columns]
        for batch in self.batches(names):
            piece = _Rows(self.path, batch, first)
            yield piece, [] if names is None else [piece.names.index(name) for name in names]
            first += batch.num_rows

    def batches(self, names: Sequence[str] | None, rows: int = _ROWS) -> Iterator[pa.Table]:
        """Rows of some columns, of all if None; nothing but the rows is held."""
        try:
            for part in parts_of(self.path):
                with pq.ParquetFile(part, memory_map=True) as file:
                    for batch in file.iter_batches(rows, columns=names):
                        yield pa.Table.from_batches([batch])
        except _BROKEN as error:
            if isinstance(error, InputError):
                raise
            raise self._broken(error) from None

    def whole(self) -> Table:
        """All of it at once."""
        return _Rows(self.path, pa.concat_tables(self.batches(None)), 0) if self.rows else self.head

    def _broken(self, error: Exception) -> InputError:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return InputError(self.path, f"is not a valid Parquet file ({reason})")


class TextPieces(Pieced):
    """A delimited text, some megabytes at a time, cut where a line ends."""

    def __init__(self, path: StrPath, columns: EdgeColumns, packing: str | None) -> None:
        self.path, self._packing = path, packing
        text = next(self._texts(), (b"", 1))[0]
        self.head = TextTable(path, text, known_names(columns), EXPECTED, header_rule(columns))
        self.rows = int(self.head.num_rows * max(1.0, Path(path).stat().st_size / max(1, len(text))))

    def pieces(self, columns: Sequence[int]) -> Iterator[tuple[Table, Sequence[int]]]:
        delimiter = next(key for key, name in DELIMITERS.items() if name == self.head.format)
        above = f"sep={delimiter}\n{'#' * bool(self.head.remarks)}\n".encode()
        texts = self._texts()
        next(texts, None)
        yield self.head, columns
        for text, first in texts:
            piece = TextTable(self.path, above + text, [], EXPECTED, first_line=first - 2)
            if len(piece.names) != len(self.head.names):
                rule = f"every line must have {len(self.head.names)} cells as those above, got {len(piece.names)}"
                raise InputError(self.path, f"{rule} ({self.head.format})", first)
            yield piece, columns

    def _texts(self) -> Iterator[tuple[bytes, int]]:
        """Pieces of the text, and the number of their first line."""
        line, rest = 1, b""
        try:
            with pa.input_stream(str(self.path), compression=self._packing) as stream:
                following = stream.read(_BYTES)
                while following:
                    rest += following
                    following = stream.read(_BYTES)
                    cut = _cut(rest) if following else 0
                    if cut:
                        yield rest[:cut], line
                        line += rest.count(b"\n", 0, cut)
                        rest = rest[cut:]
        except _BROKEN as error:
            if isinstance(error, InputError):
                raise
            raise InputError(self.path, f"is not a whole {self._packing or 'text'} file ({error})") from None
        if rest:
            yield rest, line


def _cut(text: bytes) -> int:
    """Where the last line begins that could begin a piece, 0 for none.

    Not within quotes, and not with what is skipped at a file's top: blanks and comments.
    """
    starts = line_ends(np.frombuffer(text, dtype=np.uint8)) + 1 if b'"' in text else None
    if starts is None:
        place = text.rfind(b"\n", 0, len(text) - 1) + 1
        while place and text[place] in b"# \t\r\n":
            place = text.rfind(b"\n", 0, place - 1) + 1
        return place
    fit = [int(start) for start in starts[-100:] if start < len(text) and text[start] not in b"# \t\r\n"]
    return fit[-1] if fit else 0
