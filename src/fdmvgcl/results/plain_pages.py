"""Floats of uncompressed Parquet pages, seen where they lie: what :func:`fdmvgcl.results.vectors.write_vectors` writes needs no
decoder, and a decoder takes ten times as long as looking at the numbers does.

A page is a header in Thrift's compact protocol, then, each behind its length, the repetition and the definition levels,
then the numbers (https://parquet.apache.org/docs/file-format/data-pages/).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_INT, _STRUCT, _STOP = (
    0x15,
    0x2C,
    0x00,
)  # "the next field, an i32", "the one after the next, a struct", "no more fields"
_MARKS = (_INT, _INT, _INT, _STRUCT, _INT, _INT, _INT, _INT)  # type, sizes, then of the data page: count, encodings
_NO_STATISTICS = b"\x1c\x00"
_DATA_PAGE, _PLAIN, _LEVELS = 0, 0, 3
_LONGEST_INT = 5


class _NotPlain(Exception):
    """The bytes need a decoder."""


def plain_floats(chunk: memoryview, width: int) -> list[NDArray[np.float32]] | None:
    """The vectors of a column chunk as views of its bytes, perhaps unaligned, shape (n, width) a page.

    None unless every page is plain, uncompressed, without statistics or missing values, and holds whole vectors.
    """
    try:
        return [_vectors(*page, width) for page in _pages(chunk)]
    except (_NotPlain, IndexError):
        return None


def _pages(chunk: memoryview) -> Iterator[tuple[memoryview, int]]:
    """Contents of each data page, and how many numbers it declares."""
    at = 0
    while at < len(chunk):
        fields, at = _header(chunk, at)
        kind, unpacked, packed, count, *encodings = fields
        if kind != _DATA_PAGE or unpacked != packed or encodings != [_PLAIN, _LEVELS, _LEVELS]:
            raise _NotPlain
        yield chunk[at : at + packed], count
        at += packed


def _header(data: memoryview, at: int) -> tuple[list[int], int]:
    """The integers of a page's header, and where it ends."""
    fields = []
    for mark in _MARKS:
        if data[at] != mark:
            raise _NotPlain
        at += 1
        if mark == _INT:
            value, at = _integer(data, at)
            fields.append(value)
    if data[at : at + 2] == _NO_STATISTICS:
        at += 2
    if data[at] != _STOP or data[at + 1] != _STOP:
        raise _NotPlain
    return fields, at + 2


def _integer(data: memoryview, at: int) -> tuple[int, int]:
    """A non-negative integer, seven bits a byte and doubled, and where it ends."""
    value = 0
    for place in range(_LONGEST_INT):
        value |= (data[at + place] & 0x7F) << (7 * place)
        if data[at + place] < 0x80:
            if value % 2:
                raise _NotPlain
            return value // 2, at + place + 1
    raise _NotPlain


def _vectors(page: memoryview, count: int, width: int) -> NDArray[np.float32]:
    start = 0
    for _ in ("repetition", "definition"):
        start += 4 + int.from_bytes(page[start : start + 4], "little")
    # Missing values have levels but no numbers, so that what is left is too short for the count.
    if len(page) - start != 4 * count or count % width:
        raise _NotPlain
    return np.frombuffer(page, "<f4", count, start).reshape(-1, width)
