"""The arrays inside a Graph: adjacency from numbered edges, and features."""

import re
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, RowError, shown
from fdmvgcl.graphs.provenance import Counts

Features: TypeAlias = NDArray[np.float32] | sparse.csr_array
SPARSE_BELOW = 0.2  # of the numbers are not zero: compressed, a table is smaller then, and faster to multiply
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name when it hands out Arrow
REPEATED = ("max", "sum", "count", "first")
FAINTEST = 1e-300  # the least weight above 0: the inverse of a degree must not overflow


def assemble_adjacency(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    num_nodes: int,
    directed: bool,
    repeated: str = "max",
) -> tuple[sparse.csr_array, Counts]:
    """The (N, N) adjacency of edges given by node numbers, each of shape (E,), and what was dropped or merged.

    An edge that is listed more than once, if undirected in either direction, has the largest of its weights
    (``"max"``), their sum, their count, or the first one listed. Without weights all are 1.
    """
    check_repeated(repeated)
    loops = source == target
    empty = np.zeros_like(loops) if weight is None else (weight == 0) & ~loops
    kept = ~(loops | empty)
    source, target, weight = source[kept], target[kept], None if weight is None else weight[kept]
    key = source * num_nodes + target
    listed = one_way = len(key)
    if directed:
        key, weight = merged(key, weight, repeated)
        one_way = len(key)
        source, target = np.divmod(key, max(num_nodes, 1))
    else:
        one_way = int(np.count_nonzero(np.diff(np.sort(key), prepend=-1)))
        key, weight = merged(np.minimum(source, target) * num_nodes + np.maximum(source, target), weight, repeated)
        low, high = np.divmod(key, max(num_nodes, 1))
        source, target = np.concatenate([low, high]), np.concatenate([high, low])
        weight = None if weight is None else np.concatenate([weight, weight])
    values = np.ones(len(source)) if weight is None else weight
    matrix = sparse.coo_array((values, (source, target)), shape=(num_nodes, num_nodes)).tocsr()
    counts = Counts(
        self_loops=int(loops.sum()),
        zero_weights=int(empty.sum()),
        repeated=listed - one_way,
        reciprocal=one_way - len(key),
        merged=repeated,
    )
    return canonical_csr(matrix, np.float64), counts


def check_repeated(repeated: str) -> None:
    """One of the ways to merge."""
    if repeated not in REPEATED:
        raise ArgumentError("repeated", f"must be one of {', '.join(REPEATED)}, got {shown(repeated)}")


def merged(
    key: NDArray[np.int64], weight: NDArray[np.float64] | None, repeated: str
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Distinct keys, ascending, each with one weight made of all of its own."""
    counted = repeated == "count" or (repeated == "sum" and weight is None)
    if weight is None and not counted:
        key = np.sort(key)  # NumPy's unique() hashes, ten times slower here
        return key[np.flatnonzero(np.diff(key, prepend=-1))], None
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    if counted:
        return key[first], np.diff(first, append=len(key)).astype(np.float64)
    assert weight is not None
    weight = weight[order]
    if not len(key) or repeated == "first":
        return key[first], weight[first]
    return key[first], (np.add if repeated == "sum" else np.maximum).reduceat(weight, first)


def check_weights(weight: Any, num_edges: int) -> NDArray[np.float64]:
    """Edge weights (E,) as float64: finite, at least 0, and not so large that a degree overflows."""
    try:
        values = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError("weight", f"must hold numbers ({error})") from None
    if values.shape != (num_edges,):
        raise ArgumentError("weight", f"must have shape ({num_edges},), one for each edge, got {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        row = int(bad[0])
        raise RowError(f"weight must be a finite number of at least 0, got {float(values[row])!r}", row)
    faint = np.flatnonzero((values > 0) & (values < FAINTEST))
    if len(faint):
        row = int(faint[0])
        raise RowError(f"weight must be 0 or at least {FAINTEST:g}, got {float(values[row])!r}", row)
    with np.errstate(over="ignore"):
        # Twice, because an undirected edge counts in two degrees.
        if not np.isfinite(2 * values.sum()):
            raise ArgumentError("weight", "must have a finite sum, got one that overflows float64")
    return values


def canonical_csr(matrix: sparse.csr_array, dtype: type[np.floating]) -> sparse.csr_array:
    """The same matrix, columns sorted, no zeros stored, the smallest index type: equal matrices are identical."""
    matrix = sparse.csr_array(matrix)
    matrix.sum_duplicates()
    matrix = matrix.astype(dtype)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return small_indices(matrix)


def small_indices(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix with 32-bit indices, where they are enough."""
    small = max(*matrix.shape, matrix.nnz) < 2**31
    index = np.int32 if small else np.int64
    parts = (matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index))
    return sparse.csr_array(parts, shape=matrix.shape)


def rows_of(indptr: NDArray[Any], first: int, last: int) -> NDArray[np.int64]:
    """The row of each entry of compressed sparse rows, from the first to before the last, (last - first,)."""
    low, high = np.searchsorted(indptr, first, side="right") - 1, np.searchsorted(indptr, last, side="left")
    return np.repeat(np.arange(low, high), np.diff(np.clip(indptr[low : high + 1], first, last)))


def as_features(features: Any) -> Features:
    """Check a feature table of shape (N, F) and store it as float32.

    What is given sparse stays sparse; a dense table in which fewer than one number in five is not zero becomes sparse.
    """
    if sparse.issparse(features):
        if features.ndim != 2 or features.shape[1] == 0 or features.dtype.kind not in "biuf":
            raise ArgumentError(
                "features", f"must be real numbers of shape (N, F), got {features.dtype} {features.shape}"
            )
        matrix = sparse.csr_array(features, copy=True)
        matrix.sum_duplicates()
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        _check_finite(matrix.data, rows, matrix.indices)
        return canonical_csr(matrix, np.float32)
    table = np.asarray(features)
    if table.ndim != 2 or table.shape[1] == 0 or table.dtype.kind not in "biuf":
        raise ArgumentError(
            "features", f"must be real numbers of shape (N, F) with F ≥ 1, got {table.dtype} {table.shape}"
        )
    filled = int(np.count_nonzero(table))
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(table, dtype=np.float32)
    if not np.isfinite(single).all():
        rows, columns = np.nonzero(~np.isfinite(single))
        _check_finite(table[rows, columns], rows, columns)
    if filled < SPARSE_BELOW * table.size:
        return canonical_csr(sparse.csr_array(single), np.float32)
    return single + np.float32(0)  # -0.0 becomes 0.0, as it does in a sparse table


def _check_finite(values: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> None:
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~np.isfinite(values.astype(np.float32)))
    if len(bad):
        at = bad[0]
        rule = f"features must be finite in float32, got {float(values[at])!r} in column {int(columns[at])}"
        raise RowError(rule, int(rows[at]))


def take_rows(features: Features, rows: NDArray[np.int64], blank: NDArray[np.float32] | None = None) -> Features:
    """The given rows of a table; where -1 is given, ``blank`` (F,), or zeros."""
    if not (rows < 0).any():
        return features[rows] if isinstance(features, np.ndarray) else canonical_csr(features[rows], np.float32)
    fill = np.zeros((1, features.shape[1]), dtype=np.float32) if blank is None else blank[None, :]
    if isinstance(features, np.ndarray):
        return np.concatenate([features, fill])[rows]  # -1 is the last row
    padded = sparse.csr_array(sparse.vstack([features, sparse.csr_array(fill)]))
    return canonical_csr(padded[np.where(rows < 0, features.shape[0], rows)], np.float32)


def is_table(value: Any) -> bool:
    """Whether it is a table that speaks Arrow: pandas, Polars, pyarrow and others."""
    return hasattr(value, "__arrow_c_stream__") and not isinstance(value, pa.Array | pa.ChunkedArray)


def as_table(value: Any, argument: str) -> pa.Table:
    """A table that speaks Arrow, for an argument of this name, without the index that pandas adds as a column."""
    try:
        table = pa.table(value)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        rule = f"must be a table whose columns have names of their own and values of one kind each ({reason})"
        raise ArgumentError(argument, rule) from None
    for place, kind in enumerate(table.schema.types):
        if pa.types.is_string_view(kind):  # Polars hands them over
            table = table.set_column(place, table.column_names[place], table.column(place).cast(pa.large_string()))
    return table.drop_columns([name for name in table.column_names if _INDEX.fullmatch(name)])


def checked_shape(shape: NDArray[Any]) -> tuple[int, int]:
    """A stored shape as two numbers that are at least 0 and fit an index."""
    if (
        shape.shape != (2,)
        or shape.dtype.kind not in "iu"
        or (shape.astype(np.float64) >= 2.0**62).any()
        or min(shape) < 0
    ):
        raise ArgumentError(
            "shape", f"must be two whole numbers of at least 0, got {shape.dtype} {shape.tolist()!r:.60}"
        )
    return int(shape[0]), int(shape[1])


def checked_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """Compressed sparse rows of stored, untrusted parts. SciPy trusts the indices, so none may be wrong."""
    if data.ndim != 1 or data.dtype.kind not in "biuf" or data.dtype.itemsize > 8:
        raise ArgumentError("data", f"must be a list of real numbers, got {data.dtype} of shape {data.shape}")
    for name, array in (("indices", indices), ("indptr", indptr)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ArgumentError(name, f"must be a list of whole numbers, got {array.dtype} of shape {array.shape}")
    indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ArgumentError("indptr", f"must hold {shape[0] + 1} numbers that start at 0 and never fall")
    used = int(indptr[-1])
    if used > len(indices) or used > len(data):
        raise ArgumentError(
            "indptr", f"must end within indices and data, got {used} for {len(indices)} and {len(data)}"
        )
    indices = indices[:used]
    if used and not 0 <= indices.min() <= indices.max() < shape[1]:
        raise ArgumentError("indices", f"must lie from 0 to {shape[1] - 1}, got {indices.min()} to {indices.max()}")
    native = data[:used].astype(data.dtype.newbyteorder("="))
    return sparse.csr_array((native, indices, indptr), shape=shape)
