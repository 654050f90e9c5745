"""Structural features: what a graph's edges alone tell of its nodes, and the same for nodes that come later.

The truncated logarithm of how much likelier a random walk is to meet two nodes together than by chance, factored by a
randomised eigendecomposition, and the factors diffused. It is NetMF (Qiu et al., WSDM 2018) with walks that are cut
where they have thinned out, so that nothing is ever dense.
"""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.diffusion.kernels import sparse_product
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, atomic_write
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.marks import undirected
from fdmvgcl.graphs.node_ids import Ids
from fdmvgcl.graphs.operators import Operator, csr_tensor

COLUMNS = 128

# Steps of a walk. With ten, sparse graphs are told better than with five, and none worse.
STEPS = 10

# Edges that one step of a walk may look at, for a node: the most, the least, and those of all nodes and steps together.
_MOST_LOOKS, _LEAST_LOOKS, _ALL_LOOKS = 30_000, 1000, 2e9

# Neighbours at a distance that a node keeps, the likeliest: the least, and those of all nodes together.
_LEAST_KEPT, _ALL_KEPT = 100, 1e7

# Rows of a block, extra columns and rounds of the randomised eigendecomposition.
_BLOCK, _EXTRA, _ROUNDS = 512, 16, 4

# Rows of a block that is made orthonormal by itself.
_QR_ROWS = 1 << 15

# Known nodes' edges must be told from other pairs at least this well for the ids to mean the same nodes.
_SAME_GRAPH, _FEWEST_EDGES = 0.6, 20

# Of the diffusion of the factors.
_ORDER, _TIME = 0.7, 10.0

Csr: TypeAlias = sparse.csr_array
Matrix: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Structure:
    """Structural features of a training graph.

    Args:
        ids: its nodes.
        vectors: a row for each of them, shape (N, k): ``φ(L) U |Λ|^(1/2)`` of the log-proximity ``U Λ Uᵀ``.
        values: Λ, by descending magnitude, shape (k,).
    """

    ids: Ids
    vectors: Matrix
    values: NDArray[np.float64]

    @classmethod
    def fit(cls, graph: Graph, operator: Operator, seed: int, columns: int = COLUMNS) -> "Structure":
        """Of this graph, diffused by its operator; directed edges count both ways, nodes without edges get zeros."""
        vectors, values = eigenpairs(_symmetric_proximity(graph), columns, seed)
        factors = torch.from_numpy((vectors * np.sqrt(np.abs(values))).astype(np.float32))
        return cls(graph.ids, diffuse(operator, factors, _ORDER, _TIME).numpy(), values)

    def of(self, graph: Graph) -> tuple[Matrix, int]:
        """Rows for a graph's nodes, (M, k), and how many of them have none, as nothing known is near them.

        A node that is known by its id keeps its row. A new one gets the mean of the known nodes near it, weighted by
        the log-proximity that it has to them (Nyström's extension, ``ℓ U |Λ|^(1/2) / Λ``). Where the ids are known but
        the edges between them are not those of the training graph, it is another graph, and no node is known.
        """
        if graph.ids == self.ids:
            return self.vectors, 0
        places = np.array([self._places.get(node, -1) for node in graph.ids])
        known = places >= 0
        rows = np.zeros((graph.num_nodes, len(self.values)), np.float32)
        rows[known] = self.vectors[places[known]]
        if not self._agrees(graph, known, rows):
            return np.zeros_like(rows), graph.num_nodes
        new = np.flatnonzero(~known)
        if len(new):
            near = log_proximity(graph.adjacency, new)
            inverse = np.divide(1.0, self.values, out=np.zeros_like(self.values), where=self.values != 0)
            rows[new] = (near @ rows) * inverse
        return rows, int((~rows[new].any(axis=1)).sum())

    @cached_property
    def _places(self) -> dict[str, int]:
        return {node: place for place, node in enumerate(self.ids)}

    def _agrees(self, graph: Graph, known: NDArray[np.bool_], rows: Matrix) -> bool:
        """Whether edges between known nodes join nodes that are more alike than others."""
        entries = graph.adjacency.tocoo()
        both = np.flatnonzero(known[entries.row] & known[entries.col])[:100_000]
        if len(both) < _FEWEST_EDGES:
            return True
        tails, heads = entries.row[both], entries.col[both]
        others = np.random.default_rng(0).permutation(heads)
        linked, apart = (np.einsum("ij,ij->i", rows[tails], rows[ends]) for ends in (heads, others))
        return bool(np.mean((linked > apart) + 0.5 * (linked == apart)) >= _SAME_GRAPH)


def save_structure(structure: Structure, path: StrPath) -> None:
    """Write the columns ``id`` and ``s``, a row a node, as Parquet; the same structure gives the same bytes."""
    width = structure.vectors.shape[1]
    rows = pa.FixedSizeListArray.from_arrays(pa.array(structure.vectors.ravel()), width)
    told = {"values": json.dumps(structure.values.tolist())}
    table = pa.table({"id": pa.array(structure.ids, pa.large_string()), "s": rows}).replace_schema_metadata(told)
    with atomic_write(path) as handle:
        pq.write_table(table, handle)


def load_structure(path: StrPath) -> Structure | None:
    """What :func:`save_structure` wrote; None if there is no such file."""
    if not Path(path).exists():
        return None
    try:
        table = pq.read_table(path)
        vectors = table["s"].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)
        values = np.array(json.loads(table.schema.metadata[b"values"]), dtype=np.float64)
        if values.shape != vectors.shape[1:] or not np.isfinite(vectors).all():
            raise ValueError("rows and values must be finite and of one length")
    except (pa.ArrowException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(path, f"is not the structure of a model ({' '.join(str(error).split())})") from None
    return Structure(tuple(table["id"].to_pylist()), np.asarray(vectors, np.float32), values)


def log_proximity(adjacency: Any, nodes: NDArray[np.int64]) -> Csr:
    """``log max(1, vol/T · Σ_{r=1..T} (P^r)_ij / d_j)`` for these nodes i and all j, shape (len(nodes), N).

    P is the random walk on the edges taken both ways, T = 10. A walk goes on from a node only while it is likely enough
    to be worth its edges; what is cut off counts as spread evenly over all edges. Of each row the largest entries stay.
    """
    walk = undirected(adjacency)
    count = walk.shape[0]
    degrees = np.asarray(walk.sum(axis=1)).ravel()
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    looks = float(np.clip(_ALL_LOOKS / (count * STEPS), _LEAST_LOOKS, _MOST_LOOKS))
    kept = int(max(_LEAST_KEPT, _ALL_KEPT / count))
    with np.errstate(over="ignore"):  # beside a much heavier edge a faint one is as far from chance as numbers go
        above_chance = np.minimum(degrees.sum() / STEPS * inverse, np.finfo(np.float32).max).astype(np.float32)
    run = partial(
        _block,
        (sparse.diags_array(inverse) @ walk).tocsr().astype(np.float32),
        (np.diff(walk.indptr) / looks).astype(np.float32),
        above_chance,
        kept,
    )
    with ThreadPoolExecutor() as pool:
        return _stacked(pool.map(run, np.array_split(nodes, max(1, len(nodes) // _BLOCK))), len(nodes), kept, count)


def _symmetric_proximity(graph: Graph) -> Csr:
    """Half the sum of the log-proximity and its transpose, with as few copies at a time as can be."""
    proximity = log_proximity(graph.adjacency, np.arange(graph.num_nodes))
    proximity.data *= np.float32(0.5)
    return Csr(proximity + proximity.T.tocsr())


def _stacked(blocks: Iterable[Csr], rows: int, kept: int, columns: int) -> Csr:
    """Blocks one below the other, each given up once it is copied; no row has more than ``kept`` entries.

    Of the arrays made for the most entries that there could be, the system gives out only the pages that are filled.
    """
    most = rows * min(kept, columns)
    data, indices, filled = np.empty(most, np.float32), np.empty(most, np.int32), 0
    counts = []
    for block in blocks:
        data[filled : filled + block.nnz], indices[filled : filled + block.nnz] = block.data, block.indices
        filled += block.nnz
        counts.append(np.diff(block.indptr))
    indptr = np.concatenate([[0], *counts]).cumsum(dtype=np.int64)
    return Csr((data[:filled], indices[:filled], indptr), shape=(rows, columns))


def _block(walk: Csr, price: Matrix, rarity: Matrix, kept: int, nodes: NDArray[np.int64]) -> Csr:
    """The rows of some nodes; a step goes on from a node whose likelihood is at least its ``price``."""
    now = total = walk[nodes]
    lost, connected = np.zeros(len(nodes), np.float32), np.diff(now.indptr) > 0
    for _ in range(STEPS - 1):
        going = Csr((np.where(now.data >= price[now.indices], now.data, 0), now.indices, now.indptr), shape=now.shape)
        going.eliminate_zeros()
        now = going @ walk
        total = total + now
        lost += (1 - now.sum(axis=1)) * connected
    spread = np.repeat(lost / STEPS, np.diff(total.indptr))
    total.data = np.log(np.maximum(total.data * rarity[total.indices] + spread, 1)).astype(np.float32)
    total.eliminate_zeros()
    return _largest(total, kept)


def _largest(matrix: Csr, kept: int) -> Csr:
    """Of each row the ``kept`` largest entries."""
    counts = np.diff(matrix.indptr)
    if counts.max(initial=0) > kept:
        rows = np.repeat(np.arange(matrix.shape[0]), counts)
        order = np.lexsort((-matrix.data, rows))
        rank = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], counts)
        matrix.data[order[rank >= kept]] = 0
        matrix.eliminate_zeros()
    return matrix


def eigenpairs(matrix: Csr, count: int, seed: int) -> tuple[Matrix, NDArray[np.float64]]:
    """Vectors (N, k) and values (k,) of the largest magnitude of a symmetric matrix, k = min(count, N).

    Randomised subspace iteration (Halko et al., 2011). A vector's largest entry is positive. A value that is nothing
    but rounding is 0, and so is its vector: it would point wherever the processor rounds to.
    """
    size = matrix.shape[0]
    basis = np.random.default_rng(seed).standard_normal((size, min(size, count + _EXTRA))).astype(np.float32)
    for _ in range(_ROUNDS):
        basis = _orthonormal(_product(matrix, basis))
    values, turns = np.linalg.eigh((basis.T @ _product(matrix, basis)).astype(np.float64))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    vectors = basis @ turns[:, order].astype(np.float32)
    values = values[order]
    told = np.abs(values) > size * np.finfo(np.float32).eps * np.abs(values[:1])
    peaks = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return vectors * np.where(peaks < 0, np.float32(-1), np.float32(1)) * told, values * told


def _orthonormal(columns: Matrix) -> Matrix:
    """An orthonormal basis of what some columns span, in their place: of blocks of rows, and then of their triangles.

    A block fits the cache, and nothing is as large as the columns but they themselves (Demmel et al., 2012).
    """
    blocks = np.array_split(columns, max(1, len(columns) // _QR_ROWS))
    triangles = []
    for block in blocks:
        block_basis, triangle = np.linalg.qr(block)
        block[:] = block_basis
        triangles.append(triangle)
    if len(blocks) > 1:
        turns = np.split(np.linalg.qr(np.concatenate(triangles))[0], len(blocks))
        for block, turn in zip(blocks, turns, strict=True):
            block[:] = block @ turn
    return columns


def _product(matrix: Csr, dense: Matrix) -> Matrix:
    rows, columns, values = map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data))
    left = csr_tensor(rows, columns, values, matrix.shape)
    return np.asarray(sparse_product(left, torch.from_numpy(np.ascontiguousarray(dense))))
