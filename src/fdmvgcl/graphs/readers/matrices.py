"""SciPy sparse matrices in ``.npz`` files, their parts checked before SciPy, which trusts them, gets hold of them."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.files import StrPath, read_npz
from fdmvgcl.graphs.arrays import checked_csr, checked_shape
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import VERSION_KEY
from fdmvgcl.graphs.provenance import Origin

# A matrix in coordinates may declare any shape; beyond this many rows for an entry it is not a graph but an attack.
_ROWS_PER_ENTRY = 10
_ROWS_ALWAYS_ALLOWED = 1_000_000


def read_npz_graph(path: StrPath, directed: bool) -> tuple[Graph, Origin]:
    """A graph from an (N, N) adjacency; the ids are ``"0"``, ``"1"``, …"""
    matrix = read_matrix(path)
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(path, f"adjacency must be square, got shape {matrix.shape}")
    if not matrix.nnz:
        raise InputError(path, "holds no edges")
    try:
        return Graph.from_scipy(matrix, directed=directed), Origin("SciPy .npz adjacency")
    except ValueError as error:
        raise InputError(path, str(error)) from None


def read_matrix(path: StrPath) -> sparse.csr_array:
    """The matrix that ``scipy.sparse.save_npz`` wrote, in format csr, csc or coo."""
    arrays = read_npz(path)
    if VERSION_KEY in arrays:
        raise InputError(path, "is a graph saved by fdmvgcl, not a SciPy matrix; read it with Graph.load")
    if "format" not in arrays or "shape" not in arrays or "data" not in arrays:
        raise InputError(path, "is not a sparse matrix saved by scipy.sparse.save_npz")
    try:
        return _matrix(arrays)
    except KeyError as error:
        raise InputError(path, f"is not a whole sparse matrix: array {error} is missing") from None
    except ValueError as error:
        raise InputError(path, f"is not a valid sparse matrix: {error}") from None


def _matrix(arrays: dict[str, NDArray]) -> sparse.csr_array:
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
