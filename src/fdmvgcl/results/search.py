"""Exact nearest neighbours by cosine, and what an id that does not exist was probably meant to be. No torch."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.results.vectors import VectorFile

_CANDIDATES = 500
_LONGEST = 100
_QUERIES = 1024
_DIGITS = 6  # what float32 has: a product may end otherwise for equal rows at different places


@dataclass(frozen=True)
class Neighbour:
    """A node and the cosine between its vector and the one asked for."""

    id: str
    cosine: float


def nearest(path: StrPath, node: str, count: int, column: str = "z") -> list[Neighbour]:
    """The ``count`` nodes whose vectors point most nearly where that of ``node`` does, itself left out.

    Of equals the one that stands first in the file comes first. The cosine with a zero vector is 0.
    """
    with VectorFile(path) as file:
        if column not in file.columns:
            raise InputError(path, f"must have a column {column!r}, got {shown(list(file.columns))}")
        ids = file.ids()
        row = _row_of(node, ids)
        if row is None:
            raise InputError(path, f"has no node {shown(node)}{_suggestion(node, ids)}")
        query = file.row(column, row)[None]
        numbers, cosines = nearest_rows(file.blocks(column), query, np.array([row]), min(count, file.num_rows - 1))
    return [Neighbour(ids[i].as_py(), float(cosine)) for i, cosine in zip(numbers[0].tolist(), cosines[0], strict=True)]


def _row_of(node: str, ids: pa.ChunkedArray) -> int | None:
    try:
        row = ids.index(pa.scalar(node, ids.type)).as_py()
    except UnicodeEncodeError:  # bytes of a command line that are no text, and so no id
        return None
    return None if row < 0 else row


def nearest_rows(
    blocks: Iterable[NDArray[np.float32]], queries: NDArray[np.float32], own: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Row numbers and cosines (q, count) of the nearest others, best first, of equals the earlier row.

    -1 and 0 where there are fewer. The cosine with a zero row is 0.

    Args:
        blocks: all vectors, in pieces (n, d).
        queries: (q, d).
        own: the queries' own row numbers, left out of their neighbours.
        count: how many.
    """
    wanted = _unit(queries)
    numbers = np.full((len(queries), count), -1, dtype=np.int64)
    cosines = np.full((len(queries), count), -np.inf, dtype=np.float32)
    first = 0
    for block in blocks:
        unit = _unit(block)
        for start in range(0, len(queries), _QUERIES):
            part = slice(start, start + _QUERIES)
            found = (wanted[part] @ unit.T).round(_DIGITS)
            inside = np.flatnonzero((own[part] >= first) & (own[part] < first + len(block)))
            found[inside, own[part][inside] - first] = -np.inf
            numbers[part], cosines[part] = _best(numbers[part], cosines[part], found, first)
        first += len(block)
    numbers[~np.isfinite(cosines)] = -1
    return numbers, np.clip(np.where(np.isfinite(cosines), cosines, 0.0), -1.0, 1.0)


def _best(
    numbers: NDArray[np.int64], cosines: NDArray[np.float32], found: NDArray[np.float32], first: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The best of what was known and what was found, best first, of equals the earlier row."""
    count = numbers.shape[1]
    chosen = np.array([_first(-row, min(count, found.shape[1])) for row in found]).reshape(len(found), -1)
    numbers = np.concatenate([numbers, chosen + first], axis=1)
    cosines = np.concatenate([cosines, np.take_along_axis(found, chosen, axis=1)], axis=1)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(numbers, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _first(keys: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """``np.argsort(keys, kind="stable")[:count]`` without sorting the rest."""
    if not 0 < count < len(keys):
        return np.argsort(keys, kind="stable")[:count]
    last = np.partition(keys, count - 1)[count - 1]
    pool = np.flatnonzero(~(keys > last))  # not "<=": NaN sorts last, but is among the first if there is nothing else
    return pool[np.argsort(keys[pool], kind="stable")[:count]]


def _suggestion(node: str, ids: pa.ChunkedArray) -> str:
    close = close_ids(node, ids)
    return f"; did you mean {' or '.join(shown(each) for each in close)}?" if close else ""


def close_ids(node: str, ids: pa.ChunkedArray, count: int = 3) -> list[str]:
    """Up to ``count`` ids like ``node``.

    Only ids that share as long a beginning or end with it as any id does are compared letter by letter: that would
    take seconds for all of a hundred thousand.
    """
    import pyarrow.compute as pc

    lowered = pc.utf8_lower(ids)
    wanted = node.strip().lower()[:_LONGEST]
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
            return found.slice(0, _CANDIDATES).to_pylist()
    return []
