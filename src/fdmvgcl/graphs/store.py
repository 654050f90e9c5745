"""A graph as a folder of plain arrays that are mapped into memory: what is not looked at takes none.

======================  ===============================================================================================
``meta.json``           sizes, how the input was understood, and the graph's fingerprint
``indptr.i64``          where each node's entries begin, N + 1
``indices.i32``         the other end of each entry, ascending within a node; an undirected edge has two entries
``weights.f64``         of the entries, not shortened, as graphs in memory have them; left out where all are 1
``degree.f64``          sum of each node's weights, N
``ids.arrow``           the ids in node order: one column, memory-mapped too, which Parquet cannot be
``features.f32``        (N, F) row after row; if sparse ``features.indptr.i64``, ``.indices.i32`` and ``.data.f32``
======================  ===============================================================================================

No pickle, little-endian, and all of it or none: the folder is written aside and renamed. A folder that was damaged is
refused before anything follows its numbers.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import InputError, UserError
from fdmvgcl.files import StrPath, atomic_folder
from fdmvgcl.graphs.arrays import Features, rows_of
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.fingerprint import fingerprint
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.node_ids import ArrowIds, all_integers, arrow_ids
from fdmvgcl.graphs.provenance import Counts, Origin

META, FORMAT, VERSION = "meta.json", "fdmvgcl graph store", 1
MOST_NODES = 2**31 - 1  # the compiled sweeps number nodes by 32 bits
_PIECE = 1 << 22  # numbers at once


def is_store(path: StrPath) -> bool:
    """Whether it is a folder that says it holds a graph."""
    return (Path(path) / META).is_file()


def save_store(graph: Graph, path: StrPath) -> None:
    """Write a graph's folder, which must not be there yet."""
    with atomic_folder(path) as folder:
        matrix = graph.adjacency
        write_ids(folder, arrow_ids(graph.ids))
        edges = EdgeFiles(folder, graph.num_nodes, weighted=graph.weighted)
        for first in range(0, matrix.nnz, _PIECE):
            last = min(first + _PIECE, matrix.nnz)
            rows = rows_of(matrix.indptr, first, last)
            edges.add(rows, matrix.indices[first:last], matrix.data[first:last] if graph.weighted else None)
        edges.close()
        width = write_features(folder, graph.features)
        finish(
            folder,
            Told(graph.directed, graph.counts, graph.origin, graph.feature_names, graph.encoding, width),
        )


class EdgeFiles:
    """Writes entries that come in pieces, sorted by row and then column.

    Args:
        folder: of the store.
        nodes: N.
        weighted: whether entries come with weights.
    """

    def __init__(self, folder: Path, nodes: int, weighted: bool) -> None:
        if nodes > MOST_NODES:
            raise UserError(f"a graph must have at most {MOST_NODES} nodes, got {nodes}")
        self._folder = folder
        self._indptr = np.zeros(nodes + 1, dtype=np.int64)
        self._degree = np.zeros(nodes)
        self._ones = True
        self._indices = open(folder / "indices.i32", "wb")  # noqa: SIM115, close() does
        self._weights = open(folder / "weights.f64", "wb") if weighted else None  # noqa: SIM115

    def add(self, rows: NDArray[Any], columns: NDArray[Any], weights: NDArray[np.float64] | None) -> None:
        """The next entries."""
        np.add.at(self._indptr, rows + 1, 1)
        self._indices.write(np.ascontiguousarray(columns, "<i4").data)
        if self._weights is None:
            return
        assert weights is not None
        np.add.at(self._degree, rows, weights)  # one by one: a sum must not depend on where pieces end
        self._ones = self._ones and bool((weights == 1).all())
        self._weights.write(np.ascontiguousarray(weights, "<f8").data)

    def close(self) -> None:
        """Write what is of nodes."""
        self._indices.close()
        degree = self._degree
        if self._weights is None:
            degree = self._indptr[1:].astype(np.float64)
        else:
            self._weights.close()
            if self._ones:
                Path(self._weights.name).unlink()
        np.cumsum(self._indptr, out=self._indptr)
        _write(self._folder / "indptr.i64", self._indptr, "<i8")
        _write(self._folder / "degree.f64", degree, "<f8")


def write_ids(folder: Path, ids: pa.ChunkedArray) -> None:
    """Ids in node order."""
    schema = pa.schema([("id", pa.large_string())])
    with pa.OSFile(str(folder / "ids.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema) as file:
        file.write_table(pa.table([ids], schema=schema), max_chunksize=_PIECE)


def write_features(folder: Path, features: Features | None) -> int | None:
    """A table (N, F) in memory, dense or sparse; F, None without one."""
    if features is None:
        return None
    if isinstance(features, np.ndarray):
        _write(folder / "features.f32", features, "<f4")
    else:
        _write(folder / "features.indptr.i64", features.indptr, "<i8")
        _write(folder / "features.indices.i32", features.indices, "<i4")
        _write(folder / "features.data.f32", features.data, "<f4")
    return int(features.shape[1])


@dataclass(frozen=True)
class Told:
    """What a graph's files do not tell: see :class:`~fdmvgcl.graphs.graph.Graph`; ``width`` is F, None without any."""

    directed: bool
    counts: Counts
    origin: Origin | None = None
    names: tuple[str, ...] | None = None
    encoding: Encoding | None = None
    width: int | None = None


def finish(folder: Path, told: Told, source: dict[str, Any] | None = None) -> None:
    """Say what the files mean, last of all.

    Args:
        folder: of the store, not yet in its place.
        told: what they do not tell.
        source: what the store was made of, to know it again.
    """
    meta: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": (folder / "indptr.i64").stat().st_size // 8 - 1,
        "entries": (folder / "indices.i32").stat().st_size // 4,
        "columns": told.width,
        "directed": told.directed,
        "counts": asdict(told.counts),
        "origin": None if told.origin is None else asdict(told.origin),
        "feature_names": told.names,
        "encoding": None if told.encoding is None else told.encoding.record(),
        "source": source,
        "files": {entry.name: entry.stat().st_size for entry in sorted(folder.iterdir())},
    }
    place = folder / META
    place.write_text(json.dumps(meta))
    meta["fingerprint"] = fingerprint(open_store(folder))
    place.write_text(json.dumps(meta, indent=1))


def source_of(path: StrPath) -> dict[str, Any] | None:
    """What a store was made of, as :func:`finish` was told; None where there is no whole one."""
    try:
        found = json.loads((Path(path) / META).read_bytes()).get("source")
    except (OSError, ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) else None


def open_store(path: StrPath) -> Graph:
    """The graph of a folder, its arrays and ids mapped into memory; :class:`InputError` for a damaged one."""
    folder = Path(path)
    try:
        meta = json.loads((folder / META).read_bytes())
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise InputError(path, "is not a graph store of fdmvgcl")
        if meta["version"] != VERSION:
            raise InputError(path, f"graph store version must be {VERSION}, got {meta['version']!r}")
        for name, size in meta["files"].items():
            if Path(name).name != name or (folder / name).stat().st_size != size:
                raise ValueError(f"{name} has not the size that was written")
        return _graph(folder, meta)
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(path, f"is not a whole graph store: {Path(error.filename).name} is missing") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(path, f"is not a whole graph store ({reason})") from None


def _graph(folder: Path, meta: dict[str, Any]) -> Graph:
    nodes, entries = int(meta["nodes"]), int(meta["entries"])
    ids = _ids(folder)
    if len(ids) != nodes:
        raise ValueError(f"ids.arrow holds {len(ids)} ids of {nodes}")
    indptr, indices = _mapped(folder / "indptr.i64", "<i8", nodes + 1), _mapped(folder / "indices.i32", "<i4", entries)
    weighted = "weights.f64" in meta["files"]
    data = _mapped(folder / "weights.f64", "<f8", entries) if weighted else np.broadcast_to(np.float64(1), entries)
    adjacency = _csr(data, indices, indptr, (nodes, nodes))
    graph = Graph(
        ids,
        adjacency,
        _features(folder, meta, nodes),
        None if meta["feature_names"] is None else tuple(meta["feature_names"]),
        directed=bool(meta["directed"]),
        counts=Counts(**meta["counts"]),
        origin=None if meta["origin"] is None else _origin(meta["origin"]),
        encoding=None if meta["encoding"] is None else Encoding.of_record(meta["encoding"]),
    )
    # What a Graph works out when it is first asked is known here.
    known = {"degrees": _mapped(folder / "degree.f64", "<f8", nodes), "weighted": weighted}
    vars(graph).update(known | {name: meta[name] for name in ("fingerprint",) if name in meta})
    return graph


def _ids(folder: Path) -> ArrowIds:
    with pa.memory_map(str(folder / "ids.arrow")) as source:
        values = pa.ipc.open_file(source).read_all().column(0)
    if values.type != pa.large_string() or values.null_count:
        raise ValueError("ids.arrow must hold strings")
    values.validate(full=True)
    return ArrowIds(values, all_integers(values))


def _origin(record: dict[str, Any]) -> Origin:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}
    return Origin(**fields)


def _features(folder: Path, meta: dict[str, Any], nodes: int) -> Features | None:
    if meta["columns"] is None:
        return None
    shape = nodes, int(meta["columns"])
    if "features.f32" in meta["files"]:
        return _mapped(folder / "features.f32", "<f4", shape[0] * shape[1]).reshape(shape)
    entries = meta["files"]["features.indices.i32"] // 4
    return _csr(
        _mapped(folder / "features.data.f32", "<f4", entries),
        _mapped(folder / "features.indices.i32", "<i4", entries),
        _mapped(folder / "features.indptr.i64", "<i8", nodes + 1),
        shape,
    )


def _csr(
    data: NDArray[Any], indices: NDArray[np.int32], indptr: NDArray[np.int64], shape: tuple[int, int]
) -> sparse.csr_array:
    """Compressed sparse rows over the arrays as they lie. SciPy trusts the numbers in them, so none may be wrong."""
    if indptr[0] != 0 or indptr[-1] != len(indices) or any((np.diff(piece) < 0).any() for piece in _pieces(indptr, 1)):
        raise ValueError("indptr must start at 0, never fall, and end with the entries")
    for piece in _pieces(indices):
        if piece.min() < 0 or piece.max() >= shape[1]:
            raise ValueError(f"indices must lie from 0 to {shape[1] - 1}")
    matrix = sparse.csr_array(shape, dtype=data.dtype)
    # The constructor would widen 32-bit indices beside a 64-bit pointer, and so read all of them into memory.
    small = len(indices) < 2**31
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr.astype(np.int32) if small else indptr
    return matrix


def _mapped(path: Path, dtype: str, count: int) -> NDArray[Any]:
    """A file's numbers, mapped; an empty file cannot be."""
    if path.stat().st_size != np.dtype(dtype).itemsize * count:
        raise ValueError(f"{path.name} must hold {count} numbers")
    return np.asarray(np.memmap(path, dtype, "r")) if count else np.empty(0, dtype)


def _write(path: Path, values: NDArray[Any], dtype: str) -> None:
    with open(path, "wb") as handle:
        for piece in _pieces(values):
            handle.write(np.ascontiguousarray(piece, dtype).data)


def _pieces(values: NDArray[Any], overlap: int = 0) -> Iterator[NDArray[Any]]:
    rows = max(1, _PIECE // max(1, values[:1].size))
    return (values[start : start + rows + overlap] for start in range(0, len(values), rows))
