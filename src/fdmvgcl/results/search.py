"""Exact nearest neighbours by cosine. No torch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdmvgcl.errors import InputError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.node_ids import suggestion
from fdmvgcl.results.vectors import VectorFile, unit_rows

_QUERIES = 1024
_DIGITS = 6  # what float32 has: a product may end otherwise for equal rows at different places


@dataclass(frozen=True)
class Neighbour:
    """A node and the cosine between its vector and the one asked for."""

    id: str
    cosine: float


def nearest(path: StrPath, node: str, count: int) -> list[Neighbour]:
    """The ``count`` nodes of a file of vectors that point most nearly where ``node`` does; see :func:`nearest_of`."""
    return nearest_of(path, [node], count)[node]


def nearest_of(
    path: StrPath, nodes: Sequence[str] | None, count: int, *, asked: StrPath | None = None
) -> dict[str, list[Neighbour]]:
    """For each of many nodes the ``count`` whose vectors point most nearly where its own does, itself left out.

    Of equals the one that stands first in the file comes first. The cosine with a zero vector is 0.

    Args:
        path: the file of vectors ``z`` that neighbours are looked for in.
        nodes: ids, in the order of the answer; None for all of ``asked``.
        count: how many neighbours.
        asked: a file with the vectors of ``nodes``, if these are others: such as ``transform`` writes.
    """
    with VectorFile(path) as file:
        width = _width(file)
        ids = file.ids()
        if asked is None:
            wanted = list(dict.fromkeys(ids.to_pylist() if nodes is None else nodes))
            own = rows_of(wanted, ids, path)
            queries = file.rows("z", own)
        else:
            with VectorFile(asked) as other:
                if _width(other) != width:
                    raise InputError(asked, f"must have vectors of {width} numbers, as {path} has, got {_width(other)}")
                wanted = list(dict.fromkeys(other.ids().to_pylist() if nodes is None else nodes))
                queries = other.rows("z", rows_of(wanted, other.ids(), asked))
            own = _index(wanted, ids)
        others = file.num_rows - int((own >= 0).all())
        numbers, cosines = nearest_rows(file.blocks("z"), queries, own, min(count, others))
    names = ids.combine_chunks()
    return {
        node: [
            Neighbour(names[i].as_py(), round(float(cosine), _DIGITS))
            for i, cosine in zip(*found, strict=True)
            if i >= 0
        ]
        for node, *found in zip(wanted, numbers.tolist(), cosines, strict=True)
    }


def rows_of(nodes: Sequence[str], ids: pa.ChunkedArray, path: StrPath) -> NDArray[np.int64]:
    """Row numbers of nodes in a file with these ids, or an :class:`InputError` with near misses of one that is not."""
    rows = _index(nodes, ids)
    if (rows < 0).any():
        node = nodes[int(np.argmax(rows < 0))]
        raise InputError(path, f"has no id {shown(node)}{suggestion(node, ids)}")
    return rows


def _index(nodes: Sequence[str], ids: pa.ChunkedArray) -> NDArray[np.int64]:
    """Row numbers, -1 for what is no id."""
    # Bytes of a command line that are no text are no id.
    texts = [node if node.isascii() or _is_text(node) else None for node in nodes]
    found = pc.index_in(pa.array(texts, ids.type), value_set=ids, skip_nulls=True)
    return np.asarray(pc.fill_null(found, -1), dtype=np.int64)


def _is_text(node: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in node)


def _width(file: VectorFile) -> int:
    if "z" not in file.columns:
        raise InputError(file.path, f"must have a column 'z', got {shown(list(file.columns))}")
    return int(file.columns["z"])


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
    wanted = unit_rows(queries)
    numbers = np.full((len(queries), count), -1, dtype=np.int64)
    cosines = np.full((len(queries), count), -np.inf, dtype=np.float32)
    first = 0
    for block in blocks:
        unit = unit_rows(block)
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


def _first(keys: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """``np.argsort(keys, kind="stable")[:count]`` without sorting the rest."""
    if not 0 < count < len(keys):
        return np.argsort(keys, kind="stable")[:count]
    last = np.partition(keys, count - 1)[count - 1]
    pool = np.flatnonzero(~(keys > last))  # not "<=": NaN sorts last, but is among the first if there is nothing else
    return pool[np.argsort(keys[pool], kind="stable")[:count]]
