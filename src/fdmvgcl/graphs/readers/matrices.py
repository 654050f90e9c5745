"""Matrix Market, and SciPy's ``.npz``, whose parts are checked before SciPy, which trusts them, gets hold of them."""

import io
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import mminfo, mmread

from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.files import StrPath, read_npz
from fdmvgcl.graphs.arrays import checked_csr, checked_shape
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import VERSION_KEY
from fdmvgcl.graphs.provenance import Origin

# A matrix in coordinates may declare any shape; beyond this many rows for an entry it is not a graph but an attack.
_ROWS_PER_ENTRY = 10
_ROWS_ALWAYS_ALLOWED = 1_000_000


def read_matrix_graph(path: StrPath, data: bytes, form: str, directed: bool) -> tuple[Graph, Origin]:
    """A graph from an (N, N) adjacency; the ids are ``"0"``, ``"1"``, …, or ``"1"``, ``"2"``, … of Matrix Market."""
    matrix = read_matrix(path, data, form)
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(path, f"adjacency must be square, got shape {matrix.shape}")
    if not matrix.nnz:
        raise InputError(path, "holds no edges")
    told = "SciPy .npz adjacency" if form == "npz" else "Matrix Market, rows counted from 1"
    try:
        graph = Graph.from_scipy(matrix, directed=directed)
    except UserError as error:
        raise InputError(path, str(error)) from None
    if form != "npz":
        graph = replace(graph, ids=ids_of_rows(matrix.shape[0], form))
    return graph, Origin(told)


def ids_of_rows(count: int, form: str) -> tuple[str, ...]:
    """Ids of a matrix's rows, as its format counts them."""
    first = 0 if form == "npz" else 1
    return tuple(str(first + row) for row in range(count))


def read_matrix(path: StrPath, data: bytes, form: str) -> sparse.csr_array:
    """A matrix that ``scipy.sparse.save_npz`` wrote, in format csr, csc or coo, or one of Matrix Market."""
    if form != "npz":
        return _matrix_market(path, data)
    arrays = read_npz(path, data)
    if VERSION_KEY in arrays:
        raise InputError(path, "is a graph saved by fdmvgcl, not a SciPy matrix; read it with Graph.load")
    if "format" not in arrays or "shape" not in arrays or "data" not in arrays:
        raise InputError(path, "is not a sparse matrix saved by scipy.sparse.save_npz")
    try:
        return _matrix(arrays)
    except KeyError as error:
        raise InputError(path, f"is not a whole sparse matrix: array {error} is missing") from None
    except UserError as error:
        raise InputError(path, f"is not a valid sparse matrix: {error}") from None


def _matrix_market(path: StrPath, data: bytes) -> sparse.csr_array:
    """By SciPy, once the size that the file declares is one that its length can hold."""
    try:
        rows, columns, _, layout, _, _ = mminfo(io.BytesIO(data))
        entries = data.count(b"\n") + data.count(b"\r")
        if layout == "array" and rows * columns > entries + 1:
            raise InputError(path, f"declares {rows} × {columns} numbers in {entries} lines")
        if max(rows, columns) > max(_ROWS_ALWAYS_ALLOWED, _ROWS_PER_ENTRY * entries):
            raise InputError(path, f"declares shape ({rows}, {columns}), too large for {entries} lines")
        matrix = mmread(io.BytesIO(data))
    except InputError:
        raise
    except (ValueError, OverflowError, MemoryError, TypeError, EOFError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(path, f"is not a valid Matrix Market file ({reason[:120]})") from None
    found = sparse.csr_array(matrix)
    if found.dtype.kind not in "biuf":
        raise InputError(path, f"must hold real numbers, got {found.dtype}")
    return found


def _matrix(arrays: dict[str, NDArray[Any]]) -> sparse.csr_array:
    kind = arrays["format"]
    name = bytes(kind.tobytes()).replace(b"\0", b"").decode("ascii", "replace") if kind.size == 1 else "?"
    shape = checked_shape(arrays["shape"])
    data = arrays["data"]
    most = max(_ROWS_ALWAYS_ALLOWED, _ROWS_PER_ENTRY * max(array.size for array in arrays.values()))
    if max(shape) > most:
        raise UserError(f"shape {shape} is too large for {data.size} entries")
    if name == "csr":
        return checked_csr(data, arrays["indices"], arrays["indptr"], shape)
    if name == "csc":
        return sparse.csr_array(checked_csr(data, arrays["indices"], arrays["indptr"], shape[::-1]).T)
    if name != "coo":
        raise ArgumentError("format", f"must be csr, csc or coo, got {name!r:.20}")
    row, column = arrays["row"], arrays["col"]
    if row.shape != data.shape or column.shape != data.shape or data.ndim != 1 or row.dtype.kind not in "iu":
        raise UserError("row, col and data must be lists of the same length")
    inside = len(row) == 0 or 0 <= row.min() <= row.max() < shape[0]
    if not inside:
        raise ArgumentError("row", f"must lie from 0 to {shape[0] - 1}, got {row.min()} to {row.max()}")
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row.astype(np.int64), minlength=shape[0]))]).astype(np.int64)
    return checked_csr(data[order], column[order], indptr, shape)
