"""Delimited text of any common kind, read fast, with the line of every cell known.

- UTF-8, with or without byte-order mark, UTF-16 with one, or an encoding that is named. Lines end in ``\\n``,
  ``\\r\\n`` or ``\\r``.
- Cells are separated by tab, semicolon, comma, bar or spaces. The delimiter is that of Excel's first line ``sep=;``;
  else the first of these under which the first line is a known header; else tab for ``.tsv`` with one; else the
  first that cuts the first lines into equally many cells.
- Spaces and tabs around a cell do not belong to it, unless it is quoted. A quote encloses a whole cell, which may hold
  line breaks, and is doubled inside. Nothing else is interpreted: ``NA``, ``007``, ``1e3`` are strings.
- Blank lines are skipped. Lines at the top that begin with ``#`` or ``%`` are comments. Below them such a line is
  refused, since it could be either; in a file without comments it is data like any other. Quoting a first id settles
  it.
- Every line has the same number of cells.
"""

import os
import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.encoding import numbers as decimal_numbers
from fdmvgcl.graphs.readers.opening import owned_by_arrow
from fdmvgcl.graphs.readers.tables import HeaderRule, KnownNames, Table, holds_known

DELIMITERS = {
    "\t": "tab-separated",
    ";": "semicolon-separated",
    ",": "comma-separated",
    "|": "bar-separated",
    " ": "space-separated",
}
_DELIMITER_LINE = re.compile(rb"sep=([\t;,| ])\n", re.I)
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_NEWLINE, _TAB, _SPACE, _QUOTE = b'\n\t "'
_COMMENT = b"#%"  # KONECT's edge lists begin with %
_SAMPLE = 100
_MIN_BLOCK = 4 << 20
_MAX_LINE = 1 << 30

Bytes = NDArray[np.uint8]


class TextTable(Table):
    """A delimited text file, or a piece of one that begins at ``first_line``. See the module for the rules."""

    def __init__(
        self,
        path: StrPath,
        data: bytes,
        known: KnownNames,
        expected: str,
        is_header: HeaderRule = lambda cells, table: False,
        encoding: str | None = None,
        first_line: int = 1,
    ) -> None:
        self.path = path
        text = _utf8(data, path, encoding, first_line)
        named = _DELIMITER_LINE.match(text)
        skipped = 0 if named is None else named.end()
        raw, self._lines, comments = _content(text[skipped:], path, first=first_line + bool(named))
        starts, ends = _line_starts(raw)[:_SAMPLE], line_ends(raw)[:_SAMPLE]
        sample = [bytes(raw[start:end]).decode() for start, end in zip(starts, ends, strict=True)]
        self._delimiter = _sniff(sample, path, known, expected) if named is None else named[1].decode()
        self.format = DELIMITERS[self._delimiter]
        self.decimal_comma = self._delimiter != ","
        self._data = _trim(raw, ord(self._delimiter))
        self._ends = line_ends(self._data)
        self._check_quotes_enclose()
        width = self._check_width(expected)
        first = self._cells(0)
        self.header = True
        self.names = tuple(first)
        self.num_rows = len(self._lines) - 1
        if not holds_known(first, known) and not is_header(first, self):
            self.header = False
            self.names = tuple(str(i + 1) for i in range(width))
            self.num_rows += 1
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
        separators = _outside(self._data == ord(self._delimiter), self._data)
        cells = np.add.reduceat(separators, _line_starts(self._data), dtype=np.int64) + 1
        ragged = np.flatnonzero(cells != cells[0])
        if len(ragged):
            rule = f"every line must have as many cells as line {self._lines[0]}, which has {cells[0]}"
            raise InputError(self.path, f"{rule}, got {cells[ragged[0]]} ({self.format})", int(self._lines[ragged[0]]))
        if cells[0] < 2:
            raise _one_column(self.path, expected)
        return int(cells[0])

    def sample(self, rows: int = _SAMPLE) -> list[pa.ChunkedArray]:
        """The first rows of all columns, as strings."""
        last = min(rows, self.num_rows) - 1 + bool(self.header)
        data = self._data[: self._ends[last] + 1] if self.num_rows else self._data
        return list(self._read(range(len(self.names)), pa.large_string(), data).columns)

    def _read(self, columns: Sequence[int], kind: pa.DataType, data: Bytes | None = None) -> pa.Table:
        names = [str(column) for column in columns]
        if not self.num_rows:
            return pa.table({name: pa.array([], kind) for name in names})
        longest = int(np.diff(self._ends, prepend=-1).max())
        if longest > _MAX_LINE:
            raise self.error(f"a line must be shorter than {_MAX_LINE} bytes, got {longest}")
        everything = self._data if data is None else data
        first = int(self._ends[0]) + 1 if self.header else 0  # Arrow would skip a line, and a header may have more
        return pv.read_csv(
            pa.BufferReader(owned_by_arrow(everything[first:])),
            read_options=pv.ReadOptions(
                column_names=[str(i) for i in range(len(self.names))],
                block_size=max(_MIN_BLOCK, longest + 1),
            ),
            parse_options=pv.ParseOptions(delimiter=self._delimiter, newlines_in_values=self._breaks),
            convert_options=pv.ConvertOptions(
                column_types=dict.fromkeys(names, kind),
                include_columns=names,
                null_values=[],
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )

    @cached_property
    def _breaks(self) -> bool:
        """Whether a cell holds a line break."""
        return int((self._data == _NEWLINE).sum()) > len(self._ends)

    def strings(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        table = self._read(columns, pa.large_string())
        return [table.column(str(column)) for column in columns]

    def values(self, columns: Sequence[int]) -> list[pa.ChunkedArray]:
        return self.strings(columns)

    def numbers(self, columns: Sequence[int], rule: str) -> NDArray[np.float64]:
        try:
            table = self._read(columns, pa.float64())
            return np.column_stack([table.column(str(column)).to_numpy() for column in columns])
        except pa.ArrowInvalid:
            if not self.decimal_comma:
                raise self._not_a_number(columns, rule) from None
        try:
            found = np.column_stack([decimal_numbers(cells, ",") for cells in self.strings(columns)])
        except UserError:
            raise self._not_a_number(columns, rule) from None
        self.remarks = (*self.remarks, f"decimal commas in {', '.join(f'`{self.names[i]}`' for i in columns)}")
        return found

    def _not_a_number(self, columns: Sequence[int], rule: str) -> InputError:
        """The error for the first cell, in reading order, that is no number."""
        cells = self.strings(columns)
        bad = []
        for position, cell in enumerate(cells):
            bare = pc.replace_substring(cell, ",", ".", max_replacements=1) if self.decimal_comma else cell
            rows = np.flatnonzero(~np.asarray(pc.match_substring_regex(bare, NUMBER)))
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


def _utf8(data: bytes, path: StrPath, encoding: str | None, first_line: int) -> bytes:
    """The file's text as UTF-8 without byte-order mark, lines ending in a newline."""
    if encoding is not None:
        data = _decoded(data, path, encoding).encode(errors="replace")
    elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            data = data.decode("utf-32" if data.startswith(b"\xff\xfe\0\0") else "utf-16").encode()
        except UnicodeError:
            raise InputError(path, "must be text in UTF-8 or UTF-16, got bytes that are neither") from None
    while data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if (nul := data.find(b"\0")) >= 0:
        wide = 0.3 < data[:200].count(0) / len(data[:200]) < 0.7  # every other byte of Western text
        advice = "; say so if it is UTF-16, as in --encoding utf-16-le (in Python encoding=…)" if wide else ""
        raise InputError(path, f"must be text, got a NUL byte{advice}", data.count(b"\n", 0, nul) + first_line)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        advice = "save it as UTF-8, or say which it is, as in --encoding cp1252 (in Python encoding=…)"
        rule = f"must be text in UTF-8, got the byte 0x{data[error.start]:02x}; {advice}"
        raise InputError(path, rule, line) from None
    return data if data.endswith(b"\n") else data + b"\n"


def _decoded(data: bytes, path: StrPath, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError:
        rule = f"must be one that Python knows, such as cp1252, got {shown(encoding)}"
        raise ArgumentError("encoding", rule) from None
    except UnicodeError as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(path, f"is not text in {shown(encoding)} ({reason[:120]})") from None


def line_ends(data: Bytes) -> NDArray[np.int64]:
    """Where lines end; a line break within quotes ends none."""
    return np.flatnonzero(_outside(data == _NEWLINE, data))


def _line_starts(data: Bytes) -> NDArray[np.int64]:
    return np.concatenate([[0], line_ends(data)[:-1] + 1])


def _content(text: bytes, path: StrPath, first: int) -> tuple[Bytes, NDArray[np.int64], int]:
    """The lines that hold data, their numbers in the file, and how many comment lines were skipped.

    Args:
        first: number of the first line.
    """
    top, comments = _top(text)
    data = np.frombuffer(text, dtype=np.uint8)[top:]
    if not len(data):
        raise InputError(path, "holds nothing but blank lines and comments")
    first += text.count(b"\n", 0, top)
    _check_quotes_close(data, path, first)
    starts = _line_starts(data)
    breaks = np.flatnonzero(data == _NEWLINE)
    numbers = first + np.searchsorted(breaks, starts)
    ink = (data != _SPACE) & (data != _TAB) & (data != _NEWLINE)
    kept = np.flatnonzero(np.logical_or.reduceat(ink, starts))
    hashed = np.isin(data[starts[kept]], list(_COMMENT))
    if comments and hashed.any():
        at = kept[np.argmax(hashed)]
        rule = f"a line below the first data must not begin with {chr(data[starts[at]])!r} in a file with comments"
        raise InputError(path, f"{rule}; quote it if it is an id", int(numbers[at]))
    if len(kept) < len(starts):
        lengths = np.diff(starts, append=len(data))
        keep = np.zeros(len(starts), dtype=bool)
        keep[kept] = True
        data = data[np.repeat(keep, lengths)]
    return data, numbers[kept], comments


def _top(text: bytes) -> tuple[int, int]:
    """Where the first line of data begins, and how many comments stand above it."""
    start = comments = 0
    while start < len(text):
        end = text.index(b"\n", start) + 1
        line = text[start:end]
        if line[0] in _COMMENT:
            comments += 1
        elif line.strip(b" \t\n"):
            break
        start = end
    # Without a line that is none, comments may be ids that begin so: the caller says which it is.
    return start, comments


def _check_quotes_close(data: Bytes, path: StrPath, first: int) -> None:
    quotes = data == _QUOTE
    if quotes.sum() % 2 == 0:
        return
    starts = np.concatenate([[0], np.flatnonzero(data == _NEWLINE)[:-1] + 1])
    odd = np.flatnonzero(np.add.reduceat(quotes, starts, dtype=np.int64) % 2)
    raise InputError(path, "a quote must be closed, and be doubled inside quotes", first + int(odd[0]))


def _outside(marks: NDArray[np.bool_], data: Bytes) -> NDArray[np.bool_]:
    """The marks that do not lie within quotes."""
    return marks & ~_inside_quotes(data) if (data == _QUOTE).any() else marks


def _inside_quotes(data: Bytes) -> NDArray[np.bool_]:
    """Whether each byte lies inside quotes; true for the opening one."""
    return np.bitwise_xor.accumulate(data == _QUOTE)


def _trim(data: Bytes, delimiter: int) -> Bytes:
    """Without the spaces and tabs around cells; with one space where spaces are the delimiter."""
    padding = data == _SPACE
    if delimiter != _TAB:
        padding |= data == _TAB
    padding = _outside(padding, data)
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
    if os.fspath(path).lower().endswith(".tsv") and "\t" in lines[0]:
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
    masked = re.sub(r'"[^"]*"', lambda quoted: re.sub(r"[\t;,| ]", "\0", quoted.group()), line)
    return re.split(r"[ \t]+", masked.strip(" \t")) if delimiter == " " else masked.split(delimiter)


def _one_column(path: StrPath, expected: str) -> InputError:
    rule = f"has one column; expected at least two ({expected}), separated by comma, semicolon, bar, tab or space"
    return InputError(path, rule)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number, finite or not."""
    return re.match(NUMBER, cell) is not None or cell.lower().lstrip("+-") in ("nan", "inf", "infinity")
