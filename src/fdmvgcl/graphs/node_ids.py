"""Node ids: strings exactly as written, numbered in an order that does not depend on how they were listed."""

import difflib
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, TypeAlias, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, RowError, shown

_CANONICAL_INTEGER = r"^(0|-?[1-9][0-9]*)$"
_INT64_DIGITS = 18
_PIECE = 1 << 20  # ids that are Python strings at once

# What is looked at for an id that was misspelt.
_CANDIDATES = 500
_LONGEST = 100


def encode_ids(columns: dict[str, Any]) -> tuple[list[NDArray[np.int64]], tuple[str, ...]]:
    """Number the ids of several columns together.

    Args:
        columns: by argument name, each a sequence, NumPy array or Arrow column of strings or integers.

    Returns:
        for each column its node numbers, shape (rows,); and the distinct ids in node order.
    """
    encoded = [_dictionary(values, name) for name, values in columns.items()]
    union = pa.concat_arrays([values for _, values in encoded]).dictionary_encode()
    rank_of_entry = np.asarray(union.indices, dtype=np.int64)
    parts = np.split(rank_of_entry, np.cumsum([len(values) for _, values in encoded])[:-1])
    codes = [part[indices] for part, (indices, _) in zip(parts, encoded, strict=True)]
    # A Parquet dictionary may hold values that no row uses; those are not nodes.
    used = np.zeros(len(union.dictionary), dtype=bool)
    for column in codes:
        used[column] = True
    kept = np.flatnonzero(used)
    ids = union.dictionary.take(pa.array(kept))
    order = id_order(ids)
    rank = np.empty(len(union.dictionary), dtype=np.int64)
    rank[kept[order]] = np.arange(len(kept))
    return [rank[column] for column in codes], tuple(ids.take(pa.array(order)).to_pylist())


def id_order(ids: pa.Array) -> NDArray[np.int64]:
    """Positions that sort distinct ids: as numbers if all are canonical integers, else by code point. Shape (N,)."""
    if not all_integers(ids):
        return np.asarray(pc.sort_indices(ids), dtype=np.int64)  # bytes of UTF-8 sort as code points do
    if (pc.max(pc.utf8_length(ids)).as_py() or 0) <= _INT64_DIGITS:
        return np.argsort(np.asarray(pc.cast(ids, pa.int64())), kind="stable")
    texts = ids.to_pylist()
    return np.array(sorted(range(len(texts)), key=lambda i: _integer_key(texts[i])), dtype=np.int64)


class ArrowIds(Sequence[str]):
    """Ids in node order that stay in Arrow, on disk perhaps: as Python strings ten million take a gigabyte.

    It reads like the tuple that smaller graphs have, and equals one of the same ids.

    Args:
        values: the ids, (N,) ``large_string``, in node order.
        numeric: whether that is the order of numbers.
    """

    def __init__(self, values: pa.ChunkedArray, numeric: bool) -> None:
        self.values = values
        self.numeric = numeric

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            places = range(len(self))[place]
            if places.step == 1:
                return tuple(self.values.slice(places.start, len(places)).to_pylist())
            return tuple(self[each] for each in places)
        number = place.__index__()
        if not -len(self) <= number < len(self):
            raise IndexError("no node has this number")
        return str(self.values[number % len(self)].as_py())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _PIECE):
            yield from self.values.slice(start, _PIECE).to_pylist()

    def __contains__(self, node: object) -> bool:
        return isinstance(node, str) and self.find(node) is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ArrowIds):
            return bool(self.values.equals(other.values))
        if not isinstance(other, Sequence) or isinstance(other, str) or len(other) != len(self):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.ChunkedArray:
        return self.values if type is None or type == self.values.type else pc.cast(self.values, type)

    def find(self, node: str) -> int | None:
        """Number of the node with this id, by halving; None if there is none."""
        if self.numeric and not re.fullmatch(_CANONICAL_INTEGER, node):
            return None
        key = _integer_key if self.numeric else str
        place = bisect_left(range(len(self)), key(node), key=lambda i: key(self[i]))
        return place if place < len(self) and self[place] == node else None


Ids: TypeAlias = tuple[str, ...] | ArrowIds


class Places(Mapping[str, int]):
    """The number of each id, looked up in :class:`ArrowIds` instead of in a dictionary."""

    def __init__(self, ids: ArrowIds) -> None:
        self._ids = ids

    def __getitem__(self, node: str) -> int:
        place = self._ids.find(node)
        if place is None:
            raise KeyError(node)
        return place

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def arrow_ids(ids: Sequence[str]) -> pa.ChunkedArray:
    """Ids as Arrow strings, whatever holds them."""
    return ids.values if isinstance(ids, ArrowIds) else pa.chunked_array([pa.array(ids, pa.large_string())])


def all_integers(ids: pa.ChunkedArray | pa.Array) -> bool:
    """Whether all ids are canonical integers, whose order is that of numbers."""
    return bool(pc.all(pc.match_substring_regex(ids, _CANONICAL_INTEGER), min_count=0).as_py())


def _integer_key(text: str) -> tuple[int, int, list[int]]:
    """Sorts canonical integers of any length; int() refuses those of more than a few thousand digits."""
    if text.startswith("-"):
        return 0, -len(text), [-ord(digit) for digit in text]
    return 1, len(text), [ord(digit) for digit in text]


def _as_arrow(values: Any, name: str) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        if pa.types.is_dictionary(values.type):
            values = values.unify_dictionaries()
        return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if isinstance(values, pa.Array):
        return values
    array = values if isinstance(values, Sequence) else np.asarray(values)
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise ArgumentError(name, f"must have one dimension, got shape {array.shape}")
    if isinstance(array, str):
        raise ArgumentError(name, f"must be a sequence of ids, got the single string {shown(array)}")
    try:
        return pa.array(array)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(name, f"must hold ids that are all strings or all integers ({error})") from None


def plain_ids(column: pa.ChunkedArray, name: str, integers: bool) -> pa.ChunkedArray | None:
    """A column of ids (rows,), every row checked to hold one, as texts or as integers.

    Args:
        column: strings or integers.
        name: of the column, for the message.
        integers: whether all must be canonical integers that fit 64 bits; None is returned where they are not.
    """
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if not (pa.types.is_integer(column.type) or is_string(column.type)):
        raise ArgumentError(name, f"must hold ids that are strings or integers, got {column.type}")
    if column.null_count:
        raise RowError(f"{name} must not be missing", int(np.flatnonzero(np.asarray(pc.is_null(column)))[0]))
    if pa.types.is_integer(column.type):
        try:
            return pc.cast(column, pa.int64() if integers else pa.large_string())
        except pa.ArrowInvalid:  # beyond 64 bits with a sign
            return None
    texts = pc.cast(column, pa.large_string())
    empty = np.flatnonzero(np.asarray(pc.equal(texts, "")))
    if len(empty):
        raise RowError(f"{name} must not be empty", int(empty[0]))
    if not integers:
        return texts
    try:
        numbers = pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if pc.all(pc.equal(pc.cast(numbers, pa.large_string()), texts), min_count=0).as_py() else None


def is_string(kind: pa.DataType) -> bool:
    """A string of either size."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _dictionary(values: Any, name: str) -> tuple[NDArray[np.int64], pa.Array]:
    """Row codes (rows,) and the strings they stand for; every row is checked to hold an id."""
    column = _as_arrow(values, name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(kind) and len(column) == 0:
        column, kind = pa.array([], pa.large_string()), pa.large_string()
    if not (pa.types.is_integer(kind) or is_string(kind)):
        raise ArgumentError(name, f"must hold ids that are strings or integers, got {kind}")
    if column.null_count:
        raise RowError(f"{name} must not be missing", int(np.flatnonzero(np.asarray(pc.is_null(column)))[0]))
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = np.asarray(encoded.indices).astype(np.int64, copy=False)
    entries = pc.fill_null(pc.cast(encoded.dictionary, pa.large_string()), "")
    empty = np.flatnonzero(np.asarray(pc.equal(entries, "")))
    rows = np.flatnonzero(np.isin(codes, empty)) if len(empty) else empty
    if len(rows):
        raise RowError(f"{name} must not be empty", int(rows[0]))
    return codes, entries


def suggestion(node: str, ids: pa.ChunkedArray | Sequence[str]) -> str:
    """``; did you mean 'ann'?``, or nothing if no id is near."""
    close = close_ids(node, ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([pa.array(ids, pa.string())]))
    return f"; did you mean {' or '.join(shown(each) for each in close)}?" if close else ""


def close_ids(node: str, ids: pa.ChunkedArray, count: int = 3) -> list[str]:
    """Up to ``count`` ids like ``node``.

    Only ids that share as long a beginning or end with it as any id does are compared letter by letter: that would
    take seconds for all of a hundred thousand.
    """
    lowered = pc.utf8_lower(ids)
    # Bytes of a command line that are no text have no UTF-8.
    wanted = node.encode(errors="replace").decode().strip().lower()[:_LONGEST]
    length = len(wanted)
    beginnings = (pc.starts_with(lowered, wanted[: length - cut]) for cut in range(length))
    ends = (pc.ends_with(lowered, wanted[cut:]) for cut in range(length))
    pool = {*_first_found(ids, beginnings), *_first_found(ids, ends)}
    spelling = {each.lower(): each for each in sorted(pool, reverse=True)}
    return [spelling[each] for each in difflib.get_close_matches(wanted, sorted(spelling), n=count)]


def _first_found(ids: pa.ChunkedArray, masks: Iterator[pa.ChunkedArray]) -> list[str]:
    """The ids that the first mask with any keeps."""
    for mask in masks:
        found = ids.filter(mask)
        if len(found):
            return list(found.slice(0, _CANDIDATES).to_pylist())
    return []
