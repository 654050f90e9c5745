"""Vectors and tables for other programs: Parquet, CSV, NumPy, word2vec text. Vectors are streamed."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError, UserError, shown
from fdmvgcl.files import StrPath, atomic_write
from fdmvgcl.results.vectors import VectorFile, unit_rows, vector_writer

_PLAIN = pv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
_CSV = pv.WriteOptions(include_header=False)

# Numbers in a piece of text that is made at once.
_TEXT_VALUES = 1 << 18

# By the ending of the file's name.
ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".npy": "npy",
    ".w2v": "word2vec",
    ".vec": "word2vec",
    ".txt": "word2vec",
}


@dataclass(frozen=True)
class Vectors:
    """Vectors that come a piece at a time: ids (n,) with rows (n, width)."""

    count: int
    width: int
    blocks: Callable[[], Iterator[tuple[pa.Array, NDArray[np.float32]]]]


def export_vectors(source: StrPath, path: StrPath, kind: str | None = None, *, unit: bool = False) -> list[Path]:
    """Write the vectors ``z`` of a file of vectors, a piece at a time, aside and renamed; the files written.

    - ``parquet``: ``id`` and ``z``, a list of fixed size of float32: what LanceDB, DuckDB and Polars take.
    - ``csv``: ``id,z0,z1,…``, the shortest decimals that are the same float32.
    - ``npy``: float32, row after row: what ``numpy.load`` maps and FAISS takes; ids in the same order beside it, in a
      file with the column ``id`` (:func:`ids_file`).
    - ``word2vec``: a line ``N d``, then ``id x0 x1 …``: what gensim and most viewers read. No id may have white space.

    Args:
        source: the file of vectors.
        path: the file to write.
        kind: one of these; None goes by the ending of ``path``.
        unit: divide each vector by its length, so that inner products are cosines; a zero vector stays.
    """
    write = WRITERS[kind_of(path, kind)]
    with VectorFile(source) as file:
        if "z" not in file.columns:
            raise InputError(source, f"must have a column 'z', got {shown(list(file.columns))}")
        return write(Path(path), Vectors(file.num_rows, file.columns["z"], lambda: _blocks(file, unit)))


def save_vectors(path: StrPath, ids: Sequence[str], z: NDArray[np.float32], kind: str | None = None) -> list[Path]:
    """The same of ids (N,) and vectors (N, d) in memory."""
    names = pa.array(ids, pa.string())
    return WRITERS[kind_of(path, kind)](Path(path), Vectors(len(z), z.shape[1], lambda: iter([(names, z)])))


def kind_of(path: StrPath, kind: str | None = None) -> str:
    """The format of a file: as asked, else by its ending."""
    if kind is not None:
        if kind not in WRITERS:
            raise ArgumentError("kind", f"must be one of {', '.join(WRITERS)}, got {kind!r}")
        return kind
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in ENDINGS:
        raise InputError(path, f"must end in {', '.join(ENDINGS)}, which say the format")
    return ENDINGS[ending]


def ids_file(path: StrPath) -> Path:
    """``vectors.ids.csv`` for ``vectors.npy``."""
    return Path(path).with_suffix(".ids.csv")


def written(path: StrPath, kind: str | None = None) -> list[Path]:
    """The files that :func:`export_vectors` would write."""
    return [Path(path), ids_file(path)] if kind_of(path, kind) == "npy" else [Path(path)]


def write_table(path: StrPath, columns: Mapping[str, Sequence[Any]]) -> None:
    """A table as CSV or Parquet, by the ending, aside and renamed; the same table gives the same bytes."""
    kind = table_kind(path)
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with atomic_write(path) as handle:
        if kind == "parquet":
            pq.write_table(table, handle)
        else:
            handle.write(",".join(columns).encode() + b"\n")
            pv.write_csv(table, handle, _CSV)


def table_kind(path: StrPath) -> str:
    """``"csv"`` or ``"parquet"``, or an :class:`InputError`."""
    kind = ENDINGS.get(os.path.splitext(os.fspath(path))[1].lower())
    if kind not in ("csv", "parquet"):
        raise InputError(path, "must end in .csv or .parquet")
    return kind


def _blocks(file: VectorFile, unit: bool) -> Iterator[tuple[pa.Array, NDArray[np.float32]]]:
    ids, first = file.ids().combine_chunks(), 0
    for block in file.blocks("z"):
        yield ids.slice(first, len(block)), unit_rows(block) if unit else block
        first += len(block)


def _write_parquet(path: Path, vectors: Vectors) -> list[Path]:
    with atomic_write(path) as handle, vector_writer(handle, {"z": vectors.width}) as write:
        for ids, block in vectors.blocks():
            write(ids, {"z": block})
    return [path]


def _write_csv(path: Path, vectors: Vectors) -> list[Path]:
    names = [f"z{column}" for column in range(vectors.width)]

    def lines(ids: pa.Array, block: NDArray[np.float32]) -> list[bytes]:
        return [_text(pa.table([ids, *_columns(block)], names=["id", *names]), _CSV)]

    with atomic_write(path) as handle:
        handle.write(",".join(["id", *names]).encode() + b"\n")
        for piece in _in_turn(lines, vectors):
            handle.writelines(piece)
    return [path]


def _write_npy(path: Path, vectors: Vectors) -> list[Path]:
    header = {"descr": "<f4", "fortran_order": False, "shape": (vectors.count, vectors.width)}
    beside = ids_file(path)
    with atomic_write(beside) as ids_handle, atomic_write(path) as handle:
        np.lib.format.write_array_header_1_0(handle, header)
        ids_handle.write(b"id\n")
        for ids, block in vectors.blocks():
            handle.write(np.ascontiguousarray(block, dtype="<f4").data)
            pv.write_csv(pa.table([ids], names=["id"]), ids_handle, _CSV)
    return [path, beside]


def _write_word2vec(path: Path, vectors: Vectors) -> list[Path]:

    def lines(ids: pa.Array, block: NDArray[np.float32]) -> list[bytes]:
        names = ids.to_pylist()
        spaced = next((name for name in names if name.split() != [name]), None)
        if spaced is not None:
            raise UserError(
                f"word2vec text cannot hold an id with white space, got {shown(spaced)}; write csv, npy or parquet"
            )
        numbers = _text(pa.table(_columns(block), names=list(map(str, range(block.shape[1])))), _PLAIN).splitlines(True)
        return [name.encode() + b" " + line for name, line in zip(names, numbers, strict=True)]

    with atomic_write(path) as handle:
        handle.write(f"{vectors.count} {vectors.width}\n".encode())
        for piece in _in_turn(lines, vectors):
            handle.writelines(piece)
    return [path]


def _in_turn(lines: Callable[[pa.Array, NDArray[np.float32]], list[bytes]], vectors: Vectors) -> Iterator[list[bytes]]:
    """The text of all rows, in small pieces, of which threads make several at a time: that is what takes long."""
    threads = os.cpu_count() or 1
    rows = max(1, _TEXT_VALUES // max(1, vectors.width))
    waiting: deque[Future[list[bytes]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for ids, block in vectors.blocks():
            for first in range(0, len(block), rows):
                waiting.append(pool.submit(lines, ids.slice(first, rows), block[first : first + rows]))
                if len(waiting) > 2 * threads:
                    yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _text(table: pa.Table, options: pv.WriteOptions) -> bytes:
    """A table's rows as lines, by Arrow, which is some ten times quicker than Python."""
    with pa.BufferOutputStream() as text:
        pv.write_csv(table, text, options)
        return bytes(text.getvalue().to_pybytes())


def _columns(block: NDArray[np.float32]) -> list[pa.Array]:
    return [pa.array(column) for column in np.ascontiguousarray(block.T)]


WRITERS: dict[str, Callable[[Path, Vectors], list[Path]]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "npy": _write_npy,
    "word2vec": _write_word2vec,
}
