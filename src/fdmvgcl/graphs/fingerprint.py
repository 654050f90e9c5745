"""What tells whether a graph is the same one as before, a piece at a time, so that it costs no memory."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.graphs.graph import Graph

_PIECE = 1 << 20  # ids or numbers at once


def fingerprint(graph: Graph, before: bytes = b"") -> str:
    """The same for the same ids, edges, weights and features, and no others.

    Args:
        graph: the graph.
        before: what else it is to depend on.
    """
    digest = hashlib.blake2b(before, digest_size=16)
    digest.update(b"[[")
    for some in _listed(graph.ids):
        digest.update(some)
    digest.update(f"], {json.dumps(graph.feature_names)}, {json.dumps(graph.directed)}]".encode())
    for matrix in (graph.adjacency, graph.features):
        if matrix is None:
            parts = []
        elif isinstance(matrix, np.ndarray):
            parts = [(matrix, matrix.dtype)]
        else:
            index = np.dtype(np.int64)
            parts = [(matrix.indptr, index), (matrix.indices, index), (matrix.data, matrix.data.dtype)]
        for part, dtype in parts:
            digest.update(f"{dtype}{part.shape}".encode())
            for piece in _pieces(part):
                digest.update(np.ascontiguousarray(piece, dtype).data)
        digest.update(b"|")
    return digest.hexdigest()


def _listed(ids: Sequence[str]) -> Iterator[bytes]:
    """The inside of the list of ids in JSON."""
    rest, between = iter(ids), ""
    while some := list(islice(rest, _PIECE)):
        yield (between + json.dumps(some)[1:-1]).encode()
        between = ", "


def _pieces(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    rows = max(1, _PIECE // max(1, values[:1].size))
    return (values[start : start + rows] for start in range(0, len(values), rows))
