"""Normalised adjacency operators Ā, built from edges and differentiable in their weights."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from torch import Tensor

from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.arrays import Features, rows_of, small_indices

Normalisation = Literal["sym", "rw"]

_BLOCK = 1 << 22  # entries that are normalised at once


@dataclass(frozen=True, eq=False)
class Operator:
    """A normalised adjacency Ā in compressed sparse rows; the diffusion's Laplacian is ``L = I - Ā``.

    A node that nothing reaches has ``Ā_ii = 1``, hence ``L_ii = 0``: it keeps its features.

    Args:
        rows: row pointer, shape (N + 1,), int64.
        columns: column of each entry, shape (nnz,), int64.
        values: entries, shape (nnz,). They may require gradients.
        similarity: None for a symmetric operator. For the random walk on an undirected graph, the vector d (shape
            (N,)) with ``Ā = diag(1/d) S diag(d)`` and S symmetric; ``values`` then holds S.
        directed: whether ``values`` is neither symmetric nor similar to a symmetric matrix.
        normalisation: ``"sym"`` or ``"rw"``, as asked for.
        self_loops: weight of the self-loop that was added to every node.
    """

    rows: Tensor
    columns: Tensor
    values: Tensor
    similarity: Tensor | None
    directed: bool
    normalisation: Normalisation
    self_loops: float

    @classmethod
    def from_edges(
        cls,
        edge_index: Tensor,
        weight: Tensor | None,
        num_nodes: int,
        *,
        normalisation: Normalisation = "sym",
        self_loops: float = 0.0,
        directed: bool = False,
    ) -> "Operator":
        """Normalise the adjacency given by ``edge_index`` (2, E) and ``weight`` (E,), None for ones.

        With ``directed=False`` the edges must be listed in both directions. With ``directed=True`` an edge (i, j)
        carries features from i to j: a node averages over the nodes that point to it.

        - ``sym``: ``D^(-1/2) A D^(-1/2)``, undirected graphs only;
        - ``rw``: ``D^(-1) A``, rows that sum to one.
        """
        _check_normalisation(normalisation)
        if directed and normalisation == "sym":
            raise ArgumentError(
                "normalisation", "must be 'rw' for a directed graph (its powers stay bounded), got 'sym'"
            )
        if num_nodes < 1:
            raise ArgumentError("num_nodes", f"must be at least 1 (an empty graph has no operator), got {num_nodes}")
        if edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise ArgumentError("edge_index", f"must have shape (2, E), got {tuple(edge_index.shape)}")
        if weight is None:
            weight = torch.ones(edge_index.shape[1], dtype=torch.float64, device=edge_index.device)
        _check_edges(edge_index, weight, num_nodes, self_loops)
        source, target, weight = _with_self_loops(edge_index, weight, num_nodes, self_loops)
        reached = torch.zeros(num_nodes, dtype=weight.dtype, device=weight.device).index_add(0, target, weight)
        similarity = None
        if directed:
            values = weight / _power(reached, 1.0)[target]
        else:
            root = _power(reached, 0.5)
            values = weight / (root[target] * root[source])
            if normalisation == "rw":
                similarity = root
        lonely = (reached == 0).nonzero().flatten()
        rows, columns, values = _compress(
            torch.cat([target, lonely]),
            torch.cat([source, lonely]),
            torch.cat([values, values.new_ones(lonely.numel())]),
            num_nodes,
        )
        return cls(rows, columns, values, similarity, directed, normalisation, float(self_loops))

    @classmethod
    def from_adjacency(cls, matrix: csr_array, normalisation: Normalisation, dtype: torch.dtype) -> "Operator":
        """The same of a symmetric adjacency (N, N), sorted and without self-loops, in a third of the memory.

        Entries need no sorting then, and are normalised some rows at a time; what it takes besides the operator is a
        few numbers a node.
        """
        _check_normalisation(normalisation)
        nodes = matrix.shape[0]
        counts = torch.from_numpy(np.diff(matrix.indptr)).long()
        reached = torch.zeros(nodes, dtype=torch.float64)
        for first, last in _blocks(matrix.indptr):
            weight = torch.from_numpy(np.array(matrix.data[first:last]))
            reached.index_add_(0, torch.from_numpy(matrix.indices[first:last].astype(np.int64)), weight)
        root = _power(reached, 0.5)
        lonely = (counts == 0).nonzero().flatten()
        counts[lonely] = 1
        rows = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        own = rows[lonely]  # where the entries of nodes without edges stand
        columns = torch.empty(int(rows[-1]), dtype=torch.int64)
        values = torch.empty(int(rows[-1]), dtype=dtype)
        before = torch.from_numpy(np.searchsorted(lonely.numpy(), np.arange(nodes + 1)))
        for first, last in _blocks(matrix.indptr):
            target = torch.from_numpy(rows_of(matrix.indptr, first, last))
            source = torch.from_numpy(matrix.indices[first:last].astype(np.int64))
            place = torch.arange(first, last) + before[target]
            columns[place] = source
            weight = torch.from_numpy(np.array(matrix.data[first:last]))
            values[place] = (weight / (root[target] * root[source])).to(dtype)
        columns[own], values[own] = lonely, 1.0
        similarity = root.to(dtype) if normalisation == "rw" else None
        return cls(rows, columns, values, similarity, False, normalisation, 0.0)

    @property
    def num_nodes(self) -> int:
        return self.rows.numel() - 1

    @property
    def nnz(self) -> int:
        return self.columns.numel()

    @cached_property
    def entry_rows(self) -> Tensor:
        """Row of each entry, shape (nnz,)."""
        counts = self.rows[1:] - self.rows[:-1]
        return torch.repeat_interleave(torch.arange(self.num_nodes, device=self.rows.device), counts)

    @cached_property
    def largest_frequency(self) -> float:
        """Largest eigenvalue of ``L = I - Ā``; for a directed operator the bound 2."""
        if self.directed or self.num_nodes < 3:
            return 2.0
        rows, columns, values = self.arrays(np.dtype(np.float64))
        matrix = csr_array((values, columns, rows), shape=(self.num_nodes,) * 2)
        start = np.random.default_rng(0).standard_normal(self.num_nodes)
        smallest = eigsh(matrix, k=1, which="SA", return_eigenvectors=False, tol=1e-4, v0=start)
        return float(1 - smallest[0])

    @cached_property
    def csr(self) -> Tensor:
        """The entries as a sparse CSR tensor (``S``, for an operator with a ``similarity``)."""
        return csr_tensor(self.rows, self.columns, self.values.detach(), (self.num_nodes,) * 2)

    @cached_property
    def _int_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return self.rows.cpu().numpy(), self.columns.cpu().numpy().astype(np.int32)

    def arrays(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row pointer (int64), columns (int32) and entries as NumPy arrays, for compiled kernels."""
        return *self._int_arrays, self.values.detach().cpu().numpy().astype(dtype, copy=False)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> "Operator":
        """The same operator with its entries in another dtype or on another device."""
        return replace(
            self,
            rows=self.rows.to(device),
            columns=self.columns.to(device),
            values=self.values.to(device, dtype),
            similarity=None if self.similarity is None else self.similarity.to(device, dtype),
        )

    @cached_property
    def transposed(self) -> "Operator":
        """Āᵀ of a directed operator; the entries of the others are symmetric."""
        if not self.directed:
            return self
        rows, columns, order = self.transposition
        return replace(self, rows=rows, columns=columns, values=self.values[order])

    @cached_property
    def transposition(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row pointer and columns of the transpose, and the order of this operator's entries in it."""
        entries = torch.arange(self.nnz, device=self.columns.device)
        return _compress(self.columns, self.entry_rows, entries, self.num_nodes)

    def matmul(self, x: Tensor) -> Tensor:
        """``Ā x`` for x of shape (N, d), by autograd in x and in the entries."""
        rows, columns = self.entry_rows, self.columns
        inner = x if self.similarity is None else x * self.similarity[:, None]
        out = torch.zeros_like(inner).index_add(0, rows, inner[columns] * self.values[:, None])
        return out if self.similarity is None else out / self.similarity[:, None]

    def dense(self) -> Tensor:
        """Ā as an (N, N) matrix; for tests and small graphs."""
        return self.matmul(torch.eye(self.num_nodes, dtype=self.values.dtype, device=self.values.device))


def _blocks(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Entries by first and last, some at a time."""
    entries = int(indptr[-1])
    return ((first, min(first + _BLOCK, entries)) for first in range(0, entries, _BLOCK))


def csr_tensor(rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A sparse CSR tensor, without PyTorch's note that these are in beta."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(rows, columns, values, shape, check_invariants=False)


def table_of(x: Tensor) -> Features:
    """A matrix as NumPy or SciPy has it, sparse if a CSR tensor, whose 64-bit indices scikit-learn would not take."""
    if x.layout == torch.strided:
        return x.numpy()
    parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    return small_indices(csr_array(parts, shape=tuple(x.shape)))


def _check_normalisation(normalisation: str) -> None:
    if normalisation not in ("sym", "rw"):
        raise ArgumentError("normalisation", f"must be 'sym' or 'rw', got {normalisation!r}")


def _check_edges(edge_index: Tensor, weight: Tensor, num_nodes: int, self_loops: float) -> None:
    if weight.shape != edge_index.shape[1:]:
        raise ArgumentError(
            "weight", f"must have shape ({edge_index.shape[1]},) to match edge_index, got {tuple(weight.shape)}"
        )
    if edge_index.numel() and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < num_nodes:
        raise ArgumentError(
            "edge_index",
            f"must hold node numbers from 0 to {num_nodes - 1}, got {int(edge_index.min())} to {int(edge_index.max())}",
        )
    bad = ~(weight.isfinite() & (weight >= 0))
    if bool(bad.any()):
        raise ArgumentError("weight", f"must be finite and not negative, got {weight[bad][0].item()}")
    if not 0 <= self_loops < float("inf"):
        raise ArgumentError("self_loops", f"must be a finite weight of at least 0, got {self_loops}")


def _with_self_loops(
    edge_index: Tensor, weight: Tensor, num_nodes: int, self_loops: float
) -> tuple[Tensor, Tensor, Tensor]:
    source, target = edge_index
    if not self_loops:
        return source, target, weight
    loops = torch.arange(num_nodes, device=weight.device)
    return (
        torch.cat([source, loops]),
        torch.cat([target, loops]),
        torch.cat([weight, weight.new_full((num_nodes,), self_loops)]),
    )


def _power(degree: Tensor, exponent: float) -> Tensor:
    """``degree^exponent``, 1 (with zero gradient) where the degree is 0."""
    return torch.where(degree > 0, degree, torch.ones_like(degree)) ** exponent


def _compress(row: Tensor, column: Tensor, value: Tensor, num_nodes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Coordinates to compressed sparse rows, columns ascending within a row."""
    order = torch.argsort(row * num_nodes + column, stable=True)
    counts = torch.bincount(row, minlength=num_nodes)
    rows = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    return rows, column[order], value[order]
