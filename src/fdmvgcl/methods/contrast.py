"""Sums of exponential similarities over all pairs of nodes, whole or a few rows at a time."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

# Rows of a block of similarities of one set of rows with itself, where all blocks are kept.
BLOCK = 1024


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


def own_similarity_sums(a: Tensor, temperature: float, chunk: int | None = None) -> Tensor:
    """Row sums of ``exp(a aᵀ / τ)``, shape (N,), for half the work of :func:`similarity_sums` of ``a`` with itself.

    Every pair is looked at once: row i's block begins at its own column, and what lies below it stands above the
    diagonal of a later one.
    """
    sums: Tensor = _OwnSums.apply(a, temperature, chunk)  # type: ignore[no-untyped-call]
    return sums


class _OwnSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, temperature: float, chunk: int | None) -> Tensor:
        ctx.temperature, ctx.chunk, ctx.blocks = temperature, chunk, []
        ctx.save_for_backward(a)
        sums = a.new_zeros(len(a))
        for first, last in _ranges(len(a), chunk):
            block = _upper(a, first, last, temperature)
            sums[first:last] += block.sum(1)
            sums[last:] += block[:, last - first :].sum(0)
            if chunk is None:
                ctx.blocks.append(block)
        return sums

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """``Σ_i g_i s_i`` has the gradient ``Σ_j (g_i + g_j) e^(a_i a_j / τ) a_j / τ`` in a_i."""
        (a,), (along,) = ctx.saved_tensors, grads
        gradient = torch.zeros_like(a)
        for number, (first, last) in enumerate(_ranges(len(a), ctx.chunk)):
            block = ctx.blocks[number] if ctx.blocks else _upper(a, first, last, ctx.temperature)
            pulled = block * (along[first:last, None] + along[None, first:])
            gradient[first:last] += pulled @ a[first:]
            gradient[last:] += pulled[:, last - first :].T @ a[first:last]
        return gradient / ctx.temperature, None, None


def _ranges(rows: int, chunk: int | None) -> Iterator[tuple[int, int]]:
    step = chunk or BLOCK
    return ((first, min(first + step, rows)) for first in range(0, rows, step))


def _upper(a: Tensor, first: int, last: int, temperature: float) -> Tensor:
    """``exp(a_i a_j / τ)`` for rows i of a range and all j from its first."""
    return (a[first:last] @ a[first:].T).div_(temperature).exp_()


def pair_bytes(nodes: int, chunk: int | None, blocks: int) -> int:
    """Memory of so many blocks of similarities with their gradients."""
    return 4 * 3 * blocks * nodes * min(nodes, chunk or nodes)
