"""Delimited text of any common kind, read fast, with the line of every cell known.

- UTF-8, with or without byte-order mark, or UTF-16 with one. Lines end in ``\\n``, ``\\r\\n`` or ``\\r``.
- Cells are separated by tab, semicolon, comma or spaces. The delimiter is the first of these under which the first
  line is a known header; else tab for ``.tsv``; else the first that cuts the first lines into equally many cells.
- Spaces and tabs around a cell do not belong to it, unless it is quoted. A quote encloses a whole cell on one line and
  is doubled inside. Nothing else is interpreted: ``NA``, ``007``, ``1e3`` are strings.
- Blank lines are skipped. Lines at the top that begin with ``#`` are comments. Below them such a line is refused, since
  it could be either; in a file without comments it is data like any other. Quoting a first id settles it.
- Every line has the same number of cells.
"""

import os
import re
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, read_bytes
from fdmvgcl.graphs.readers.tables import KnownNames, Table, holds_known

DELIMITERS = {"\t": "tab-separated", ";": "semicolon-separated", ",": "comma-separated", " ": "space-separated"}
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_NEWLINE, _TAB, _SPACE, _QUOTE, _HASH = b'\n\t "#'
_SAMPLE = 100
_MIN_BLOCK = 4 << 20
_MAX_LINE = 1 << 30

Bytes = NDArray[np.uint8]


class TextTable(Table):
    """A delimited text file. See the module for the rules."""

    def __init__(
        self, path: StrPath, known: KnownNames, expected: str, is_header: Callable[[Sequence[str]], bool]
    ) -> None:
        self.path = path
        raw, self._lines, comments = _content(_utf8(path), path)
        sample = bytes(raw[: _line_ends(raw)[:_SAMPLE][-1]]).decode().split("\n")
        self._check_quotes_close(raw)
        self._delimiter = _sniff(sample, path, known, expected)
        self.format = DELIMITERS[self._delimiter]
        self._data = _trim(raw, ord(self._delimiter))
        self._ends = _line_ends(self._data)
        self._check_quotes_enclose()
        width = self._check_width(expected)
        first = self._cells(0)
        self.header = holds_known(first, known) or is_header(first)
        self.names = tuple(first) if self.header else tuple(str(i + 1) for i in range(width))
        self.num_rows = len(self._lines) - self.header
        if comments:
            self.remarks = (f"{comments} comment line{'s' * (comments > 1)} skipped",)

    def error(self, rule: str, row: int | None = None) -> InputError:
        return InputError(self.path, rule, None if row is None else self._line(row))

    def where(self, row: int) -> str:
        return f"line {self._line(row)}"

    def _line(self, row: int) -> int:
        return int(self._lines[row + bool(self.header)])

    def _cells(self, index: int) -> list[str]:
        """Cells of the index-th line that is not skipped."""
        start = 0 if index == 0 else int(self._ends[index - 1]) + 1
        return split_cells(bytes(self._data[start : self._ends[index]]).decode(), self._delimiter)

    def _check_quotes_close(self, raw: Bytes) -> None:
        starts = _line_starts(raw)
        odd = np.flatnonzero(np.add.reduceat(raw == _QUOTE, starts, dtype=np.int64) % 2)
        if len(odd):
            line = int(self._lines[odd[0]])
            raise InputError(self.path, "a quote must close on its line, and be doubled inside quotes", line)

    def _check_quotes_enclose(self) -> None:
        quotes = np.flatnonzero(self._data == _QUOTE)
        if not len(quotes):
            return
        border = np.zeros(256, dtype=bool)
        border[[_NEWLINE, _QUOTE, ord(self._delimiter)]] = True
        padded = np.concatenate([[np.uint8(_NEWLINE)], self._data])
        opens, closes = quotes[::2], quotes[1::2]
        bad = np.concatenate([opens[~border[padded[opens]]], closes[~border[self._data[closes + 1]]]])
        if len(bad):
            line = self._lines[np.searchsorted(self._ends, bad.min())]
            raise InputError(self.path, "a quote must enclose a whole cell, and be doubled inside quotes", int(line))

    def _check_width(self, expected: str) -> int:
        separators = self._data == ord(self._delimiter)
        if (self._data == _QUOTE).any():
            separators &= ~_inside_quotes(self._data)
        cells = np.add.reduceat(separators, _line_starts(self._data), dtype=np.int64) + 1
        ragged = np.flatnonzero(cells != cells[0])
        if len(ragged):
            rule = f"every line must have as many cells as line {self._lines[0]}, which has {cells[0]}"
            raise InputError(self.path, f"{rule}, got {cells[ragged[0]]} ({self.format})", int(self._lines[ragged[0]]))
        if cells[0] < 2:
            raise _one_column(self.path, expected)
        return int(cells[0])

    def _read(self, columns: Sequence[int], kind: pa.DataType) -> pa.Table:
        names = [str(column) for column in columns]
        if not self.num_rows:
            return pa.table({name: pa.array([], kind) for name in names})
        longest = int(np.diff(self._ends, prepend=-1).max())
        if longest > _MAX_LINE:
            raise self.error(f"a line must be shorter than {_MAX_LINE} bytes, got {longest}")
        return pv.read_csv(
            pa.BufferReader(self._data),
            read_options=pv.ReadOptions(
                column_names=[str(i) for i in range(len(self.names))],
                skip_rows=int(bool(self.header)),
                block_size=max(_MIN_BLOCK, longest + 1),
            ),
            parse_options=pv.ParseOptions(delimiter=self._delimiter),
            convert_options=pv.ConvertOptions(
                column_types=dict.fromkeys(names, kind),
                include_columns=names,
                null_values=[],
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )

    def strings(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        table = self._read(columns, pa.large_string())
        return [table.column(str(column)) for column in columns]

    def numbers(self, columns: Sequence[int], rule: str) -> NDArray[np.float64]:
        try:
            table = self._read(columns, pa.float64())
        except pa.ArrowInvalid:
            raise self._not_a_number(columns, rule) from None
        return np.column_stack([table.column(str(column)).to_numpy() for column in columns])

    def _not_a_number(self, columns: Sequence[int], rule: str) -> InputError:
        """The error for the first cell, in reading order, that is no number."""
        cells = self.strings(columns)
        bad = []
        for position, cell in enumerate(cells):
            rows = np.flatnonzero(~np.asarray(pc.match_substring_regex(cell, NUMBER)))
            if len(rows):
                bad.append((int(rows[0]), position))
        row, position = min(bad)
        return self.number_error(rule, row, columns[position], cells[position][row].as_py())


def split_cells(line: str, delimiter: str) -> list[str]:
    """Cells of a line whose quotes are known to be well placed."""
    if '"' not in line:
        return line.split(delimiter)
    cells = re.findall(rf'(?:^|{re.escape(delimiter)})("(?:[^"]|"")*"|[^{re.escape(delimiter)}]*)', line)
    return [cell[1:-1].replace('""', '"') if cell.startswith('"') else cell for cell in cells]


def _utf8(path: StrPath) -> bytes:
    """The file's text as UTF-8 without byte-order mark, lines ending in a newline."""
    data = read_bytes(path)
    if data.startswith(b"\x1f\x8b"):
        raise InputError(path, "is compressed (gzip), which is not supported; unpack it first")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            data = data.decode("utf-16").encode()
        except UnicodeError:
            raise InputError(path, "must be text in UTF-8 or UTF-16, got bytes that are neither") from None
    while data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if (nul := data.find(b"\0")) >= 0:
        raise InputError(path, "must be text, got a NUL byte", data.count(b"\n", 0, nul) + 1)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(path, f"must be text in UTF-8, got the byte 0x{data[error.start]:02x}", line) from None
    return data if data.endswith(b"\n") else data + b"\n"


def _line_ends(data: Bytes) -> NDArray[np.int64]:
    return np.flatnonzero(data == _NEWLINE)


def _line_starts(data: Bytes) -> NDArray[np.int64]:
    return np.concatenate([[0], _line_ends(data)[:-1] + 1])


def _content(text: bytes, path: StrPath) -> tuple[Bytes, NDArray[np.int64], int]:
    """The lines that hold data, their 1-based numbers in the file, and how many comment lines were skipped."""
    data = np.frombuffer(text, dtype=np.uint8)
    starts = _line_starts(data)
    ink = (data != _SPACE) & (data != _TAB) & (data != _NEWLINE)
    filled = np.flatnonzero(np.logical_or.reduceat(ink, starts))
    hashed = data[starts[filled]] == _HASH
    comments = len(filled) if hashed.all() else int(np.argmin(hashed))
    if comments == len(filled):
        raise InputError(path, "holds nothing but blank lines and comments")
    kept = filled[comments:]
    if comments and hashed[comments:].any():
        line = int(kept[np.argmax(hashed[comments:])]) + 1
        rule = "a line below the first data must not begin with '#' in a file with comments; quote it if it is an id"
        raise InputError(path, rule, line)
    if len(kept) < len(starts):
        lengths = np.diff(starts, append=len(data))
        keep = np.zeros(len(starts), dtype=bool)
        keep[kept] = True
        data = data[np.repeat(keep, lengths)]
    return data, kept + 1, comments


def _inside_quotes(data: Bytes) -> NDArray[np.bool_]:
    """Whether each byte lies inside quotes; true for the opening one."""
    return np.bitwise_xor.accumulate(data == _QUOTE)


def _trim(data: Bytes, delimiter: int) -> Bytes:
    """Without the spaces and tabs around cells; with one space where spaces are the delimiter."""
    padding = data == _SPACE
    if delimiter != _TAB:
        padding |= data == _TAB
    if (data == _QUOTE).any():
        padding &= ~_inside_quotes(data)
    at = np.flatnonzero(padding)
    if not len(at):
        return data
    first = np.flatnonzero(np.diff(at, prepend=-2) > 1)
    last = np.append(first[1:], len(at)) - 1
    before = np.where(at[first] > 0, data[at[first] - 1], _NEWLINE)
    after = data[at[last] + 1]
    outer = (before == _NEWLINE) | (after == _NEWLINE)
    drop = np.zeros(len(data), dtype=bool)
    if delimiter == _SPACE:
        data = data.copy()
        data[at] = _SPACE
        drop[at] = True
        drop[at[first[~outer]]] = False
    else:
        outer |= (before == delimiter) | (after == delimiter)
        drop[at[np.repeat(outer, last - first + 1)]] = True
    return data[~drop]


def _sniff(lines: Sequence[str], path: StrPath, known: KnownNames, expected: str) -> str:
    """The delimiter, from the first lines of content."""
    for delimiter in DELIMITERS:
        cells = [cell.strip(' \t"') for cell in _rough_cells(lines[0], delimiter)]
        if len(cells) > 1 and holds_known(cells, known):
            return delimiter
    if os.fspath(path).lower().endswith(".tsv"):
        return "\t"
    widths = {delimiter: [len(_rough_cells(line, delimiter)) for line in lines] for delimiter in DELIMITERS}
    for delimiter, counts in widths.items():
        if counts[0] > 1 and len(set(counts)) == 1:
            return delimiter
    # None is consistent: the one that cuts most lines lets the check of widths name the line that differs.
    best = max(widths, key=lambda delimiter: sum(count > 1 for count in widths[delimiter]))
    if max(widths[best]) < 2:
        raise _one_column(path, expected)
    return best


def _rough_cells(line: str, delimiter: str) -> list[str]:
    """Cells of a raw line, the delimiters inside quotes left alone."""
    masked = re.sub(r'"[^"]*"', lambda quoted: re.sub(r"[\t;, ]", "\0", quoted.group()), line)
    return re.split(r"[ \t]+", masked.strip(" \t")) if delimiter == " " else masked.split(delimiter)


def _one_column(path: StrPath, expected: str) -> InputError:
    rule = f"has one column; expected at least two ({expected}), separated by comma, semicolon, tab or space"
    return InputError(path, rule)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number, finite or not."""
    return re.match(NUMBER, cell) is not None or cell.lower().lstrip("+-") in ("nan", "inf", "infinity")
