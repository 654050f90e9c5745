"""``graph.npz``: a Graph on disk, without pickle, the same graph giving the same bytes."""

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.files import StrPath, read_npz, write_npz
from fdmvgcl.graphs.arrays import Features, as_features, canonical_csr, check_weights, checked_csr, checked_shape
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.node_ids import arrow_ids, id_order

VERSION_KEY = "fdmvgcl_graph_version"
VERSION = 1


def save_graph(graph: Graph, path: StrPath) -> None:
    """Write ids as UTF-8 with offsets, the adjacency and any sparse features as compressed sparse rows."""
    write_npz(path, _packed(graph))


def save_graphs(graphs: GraphSet, path: StrPath) -> None:
    """Write the block's file, with the graphs' ids in it."""
    write_npz(path, _packed(graphs.block) | _pack_strings("graph_ids", graphs.ids))


def _packed(graph: Graph) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        VERSION_KEY: np.array(VERSION, dtype=np.int64),
        "directed": np.array(graph.directed),
        **_pack_strings("ids", graph.ids),
        "indptr": graph.adjacency.indptr,
        "indices": graph.adjacency.indices,
    }
    if graph.weighted:
        arrays["weights"] = graph.adjacency.data
    if isinstance(graph.features, np.ndarray):
        arrays["features"] = graph.features
    elif graph.features is not None:
        arrays["features_shape"] = np.array(graph.features.shape, dtype=np.int64)
        arrays["features_indptr"] = graph.features.indptr
        arrays["features_indices"] = graph.features.indices
        arrays["features_data"] = graph.features.data
    if graph.feature_names is not None:
        arrays.update(_pack_strings("feature_names", graph.feature_names))
    if graph.encoding is not None:
        arrays["encoding"] = np.frombuffer(json.dumps(graph.encoding.record()).encode(), dtype=np.uint8)
    return arrays


def load_graph(path: StrPath) -> Graph:
    """Read :func:`save_graph`'s file, every rule of a Graph checked anew."""
    found = load_either(path)
    if isinstance(found, GraphSet):
        raise InputError(path, "holds many graphs, and this is for one; GraphSet.load reads it")
    return found


def load_graphs(path: StrPath) -> GraphSet:
    """Read :func:`save_graphs`'s file."""
    found = load_either(path)
    if isinstance(found, Graph):
        raise InputError(path, "holds one graph, not many")
    return found


def load_either(path: StrPath) -> Graph | GraphSet:
    """Read the file of one graph or of many."""
    arrays = read_npz(path)
    version = arrays.get(VERSION_KEY)
    if version is None:
        raise InputError(path, "is not a graph saved by fdmvgcl")
    if version.shape != () or version.dtype.kind != "i" or int(version) != VERSION:
        raise InputError(path, f"graph format version must be {VERSION}, got {version}")
    try:
        graph = _graph(arrays)
        return GraphSet(_strings("graph_ids", arrays), graph) if "graph_ids" in arrays else graph
    except KeyError as error:
        raise InputError(path, f"is not a whole saved graph: array {error} is missing") from None
    except UserError as error:
        raise InputError(path, f"is not a valid saved graph: {error}") from None


def _graph(arrays: dict[str, NDArray[Any]]) -> Graph:
    held = _unpack_strings("ids", arrays)
    ids, n = tuple(held.to_pylist()), len(held)
    if len(set(ids)) != n or "" in ids or not np.array_equal(id_order(held), np.arange(n)):
        raise ArgumentError("ids", "must be distinct, not empty and in node order")
    directed = arrays["directed"]
    if directed.shape != () or directed.dtype != np.bool_:
        raise ArgumentError("directed", f"must be true or false, got {directed.dtype} of shape {directed.shape}")
    indptr, indices = arrays["indptr"], arrays["indices"]
    weights = check_weights(arrays.get("weights", np.ones(indices.shape)), indices.size)
    adjacency = canonical_csr(checked_csr(weights, indices, indptr, (n, n)), np.float64)
    if adjacency.diagonal().any() or adjacency.nnz != len(weights):
        raise ArgumentError("adjacency", "must have no self-loops, no repeated entries and no zeros")
    if not directed and (adjacency != adjacency.T).nnz:
        raise UserError("adjacency of an undirected graph must be symmetric")
    names = _strings("feature_names", arrays) if "feature_names" in arrays else None
    encoding = _encoding(arrays["encoding"], names) if "encoding" in arrays else None
    return Graph(ids, adjacency, _features(arrays), names, directed=bool(directed), encoding=encoding)


def _encoding(stored: NDArray[Any], names: tuple[str, ...] | None) -> Encoding:
    try:
        made = Encoding.of_record(json.loads(stored.tobytes()))
    except RecursionError:
        raise ArgumentError("encoding", "must be JSON that is not nested") from None
    if made.names != names:
        raise ArgumentError("encoding", "must be that of the features' names")
    return made


def _features(arrays: dict[str, NDArray[Any]]) -> Features | None:
    if "features" in arrays:
        # as_features() could store it sparse, which save_graph() then would have done.
        table = arrays["features"]
        if table.dtype != np.float32 or table.ndim != 2 or not np.isfinite(table).all():
            raise ArgumentError("features", "must be finite float32 numbers of shape (N, F)")
        return np.ascontiguousarray(table)
    if "features_shape" not in arrays:
        return None
    shape = checked_shape(arrays["features_shape"])
    parts = (arrays["features_data"], arrays["features_indices"], arrays["features_indptr"])
    return as_features(checked_csr(*parts, shape))


def _pack_strings(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any]]:
    held = pa.concat_arrays([pa.array([], pa.large_string()), *arrow_ids(strings).chunks])
    _, offsets, text = (np.frombuffer(part or b"", np.uint8) for part in held.buffers())
    ends = offsets.view(np.int64)[held.offset : held.offset + len(held) + 1]
    ends = ends if len(ends) else np.zeros(1, np.int64)
    return {name: text[ends[0] : ends[-1]], f"{name}_offsets": ends - ends[0]}


def _strings(name: str, arrays: dict[str, NDArray[Any]]) -> tuple[str, ...]:
    return tuple(_unpack_strings(name, arrays).to_pylist())


def _unpack_strings(name: str, arrays: dict[str, NDArray[Any]]) -> pa.Array:
    """What was packed, as Arrow's ``large_string``: a hundred thousand take no time."""
    text, offsets = arrays[name], arrays[f"{name}_offsets"]
    valid = text.dtype == np.uint8 and text.ndim == 1 and offsets.dtype == np.int64 and offsets.ndim == 1
    if valid and len(offsets) and offsets[0] == 0 and offsets[-1] == len(text):
        parts = [None, *(pa.py_buffer(np.ascontiguousarray(part)) for part in (offsets, text))]
        found = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, parts)
        with contextlib.suppress(pa.ArrowInvalid):
            found.validate(full=True)
            return found
    raise ArgumentError(name, "must be UTF-8 bytes with ascending offsets")
