"""Exact nearest neighbours of many rows at once, by cosine. No torch."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_QUERIES = 1024


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
            found = wanted[part] @ unit.T
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
    if found.shape[1] > count:
        chosen = np.sort(np.argpartition(-found, count - 1, axis=1)[:, :count], axis=1)
    else:
        chosen = np.broadcast_to(np.arange(found.shape[1]), found.shape)
    numbers = np.concatenate([numbers, chosen + first], axis=1)
    cosines = np.concatenate([cosines, np.take_along_axis(found, chosen, axis=1)], axis=1)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(numbers, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
