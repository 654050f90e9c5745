"""Sums of exponential similarities over all pairs of nodes, whole or a few rows at a time."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint


def similarity_sums(a: Tensor, b: Tensor, temperature: float, chunk: int | None = None) -> tuple[Tensor, Tensor]:
    """Row and column sums of ``exp(a bᵀ / τ)`` for a (N, d) and b (M, d) with rows of unit length: shapes (N,), (M,).

    With a ``chunk`` so many rows are held at a time and made again in the backward pass: the same numbers in memory
    linear in the nodes, for a third more work.
    """
    if chunk is None or chunk >= len(a):
        return _sums(a, b, temperature)
    parts = [checkpoint(_sums, rows, b, temperature, use_reentrant=False) for rows in a.split(chunk)]
    return torch.cat([rows for rows, _ in parts]), torch.stack([columns for _, columns in parts]).sum(0)


def _sums(a: Tensor, b: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    similar = (a @ b.T / temperature).exp()
    return similar.sum(1), similar.sum(0)


def pair_bytes(nodes: int, chunk: int | None, blocks: int) -> int:
    """Memory of so many blocks of similarities with their gradients."""
    return 4 * 3 * blocks * nodes * min(nodes, chunk or nodes)
