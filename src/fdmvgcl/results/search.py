"""Exact nearest neighbours by cosine, and what an id that does not exist was probably meant to be. No torch."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.results.vectors import VectorFile

_CANDIDATES = 500
_LONGEST = 100
_TILE_VALUES = 1 << 17
_STRING = ("u1", "<i4", "u1")  # Arrow's buffers of strings: which are there, where each begins, their bytes


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
        row = _find(ids, node)
        if row is None:
            raise InputError(path, f"has no node {shown(node)}{_suggestion(node, ids)}")
        cosines = _cosines(file, column, file.row(column, row))
    others = np.flatnonzero(np.arange(len(cosines)) != row)
    best = others[_first(-cosines[others], count)]
    return [Neighbour(ids[i].as_py(), float(cosines[i])) for i in best.tolist()]


def _find(ids: pa.ChunkedArray, node: str) -> int | None:
    """The row of an id. (To import Arrow's own search takes longer than this does for a hundred thousand ids.)"""
    wanted = node.encode(errors="surrogatepass")
    before = 0
    for chunk in ids.chunks:
        _, ends, data = (np.frombuffer(part or b"", kind) for part, kind in zip(chunk.buffers(), _STRING, strict=True))
        starts = ends[chunk.offset : chunk.offset + len(chunk) + 1]
        rows = np.flatnonzero(np.diff(starts) == len(wanted))
        for place in range(len(wanted) - 1, -1, -1):  # ids differ at the end more often than at the beginning
            rows = rows[data[starts[rows] + place] == wanted[place]]
        if len(rows):
            return before + int(rows[0])
        before += len(chunk)
    return None


def _cosines(file: VectorFile, column: str, vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Cosine of every vector with this one, shape (N,).

    ``einsum`` gives equal rows equal results wherever they stand; a BLAS does not, and would put equals out of order.
    """
    tile = max(1, _TILE_VALUES // len(vector)) if len(vector) else file.num_rows
    parts = [np.zeros(0)]
    for block in file.blocks(column):
        for start in range(0, len(block), tile):
            rows = block[start : start + tile].copy()  # aligned, and small enough to stay in cache for both sums
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows), dtype=np.float64)
            products = np.einsum("ij,j->i", rows, vector).astype(np.float64)
            parts.append(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0))
    length = float(np.linalg.norm(vector.astype(np.float64)))
    cosines = np.concatenate(parts) / (length or 1.0)
    return np.clip(cosines, -1.0, 1.0)


def _first(keys: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """``np.argsort(keys, kind="stable")[:count]`` without sorting the rest."""
    if count >= len(keys):
        return np.argsort(keys, kind="stable")
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
