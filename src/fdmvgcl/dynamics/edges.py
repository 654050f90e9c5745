"""Sums over a graph's edges, differentiable, whose memory is a number for each edge and not a row of features.

With P the pattern of an operator's entries: ``edge_dots`` reads a product of two matrices at P, ``edge_sum`` multiplies
by a matrix that lives on P. Each is the other's derivative.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fdmvgcl.diffusion.kernels import sparse_product
from fdmvgcl.graphs.operators import Operator, csr_tensor

_CHUNK = 1 << 19  # numbers of a block of edges by features, small enough for the cache


def propagate(operator: Operator, y: Tensor) -> Tensor:
    """``Ā y`` for y of shape (N, d), differentiable in y and, where they require it, in the entries."""
    similarity = operator.similarity
    inner = y if similarity is None else y * similarity[:, None]
    out = edge_sum(operator, operator.values, inner)
    return out if similarity is None else out / similarity[:, None]


def entries(operator: Operator) -> Tensor:
    """Entries of Ā itself, shape (nnz,): those of the random walk, and not of the S similar to it."""
    if operator.similarity is None:
        return operator.values
    return operator.values * operator.similarity[operator.columns] / operator.similarity[operator.entry_rows]


def edge_dots(operator: Operator, a: Tensor, b: Tensor) -> Tensor:
    """``a_i · b_j`` for each entry (i, j), shape (nnz,), of a and b (N, d)."""
    return _Dots.apply(a, b, operator)  # type: ignore[no-any-return, no-untyped-call]


def edge_sum(operator: Operator, weights: Tensor, y: Tensor) -> Tensor:
    """``Σ_j w_ij y_j`` over the entries (i, j), shape (N, d), of weights (nnz,) and y (N, d)."""
    return _Sum.apply(weights, y, operator)  # type: ignore[no-any-return, no-untyped-call]


def edge_softmax(operator: Operator, scores: Tensor, prior: Tensor) -> Tensor:
    """``p_ij exp(s_ij) / Σ_k p_ik exp(s_ik)``, rows that sum to 1, of scores and prior weights (nnz,)."""
    rows = operator.entry_rows
    highest = scores.detach().new_full((operator.num_nodes,), -torch.inf)
    highest = highest.scatter_reduce(0, rows, scores.detach(), "amax")
    weights = prior * torch.exp(scores - highest[rows])
    totals = torch.zeros_like(highest).index_add(0, rows, weights)
    return weights / totals[rows]


def convect(operator: Operator, weights: Tensor, potential: Tensor, y: Tensor) -> Tensor:
    """``Σ_j w_ij tanh(u_j - u_i) ⊙ y_j`` over the entries (i, j), of weights (nnz,), potential u and y (N, d).

    The velocity on an edge is a row of features; it is made block by block and again in the backward pass, so that
    never more than one block of them is held.
    """
    return _Convection.apply(weights, potential, y, operator)  # type: ignore[no-any-return, no-untyped-call]


def _product(operator: Operator, weights: Tensor, y: Tensor, *, transpose: bool = False) -> Tensor:
    rows, columns, shape = operator.rows, operator.columns, (operator.num_nodes,) * 2
    if transpose:
        rows, columns, order = operator.transposition
        weights = weights[order]
    return sparse_product(csr_tensor(rows, columns, weights.detach(), shape), y.detach())


def _dots(operator: Operator, a: Tensor, b: Tensor) -> Tensor:
    zeros = a.new_zeros(operator.nnz)
    pattern = csr_tensor(operator.rows, operator.columns, zeros, (operator.num_nodes,) * 2)
    found: Tensor = torch.sparse.sampled_addmm(pattern, a.detach().contiguous(), b.detach().contiguous().T)
    return found.values()


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, y: Tensor, operator: Operator) -> Tensor:
        ctx.save_for_backward(weights, y if ctx.needs_input_grad[0] else None)
        ctx.operator = operator
        return _product(operator, weights, y)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        weights, y = ctx.saved_tensors
        grad_weights = _dots(ctx.operator, grad, y) if ctx.needs_input_grad[0] else None
        grad_y = _product(ctx.operator, weights, grad, transpose=True) if ctx.needs_input_grad[1] else None
        return grad_weights, grad_y, None


class _Dots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, operator: Operator) -> Tensor:
        ctx.save_for_backward(a, b)
        ctx.operator = operator
        return _dots(operator, a, b)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        a, b = ctx.saved_tensors
        return _product(ctx.operator, grad, b), _product(ctx.operator, grad, a, transpose=True), None


class _Convection(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, potential: Tensor, y: Tensor, operator: Operator) -> Tensor:
        ctx.save_for_backward(weights, potential, y)
        ctx.operator = operator
        out = torch.zeros_like(y)
        for block in _blocks(operator, y.shape[1]):
            rows, columns = operator.entry_rows[block], operator.columns[block]
            flow = _velocity(potential, rows, columns).mul_(y.index_select(0, columns))
            out.index_add_(0, rows, flow.mul_(weights[block, None]))
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        weights, potential, y = ctx.saved_tensors
        grad_weights, grad_potential, grad_y = (torch.zeros_like(each) for each in (weights, potential, y))
        for block in _blocks(ctx.operator, y.shape[1]):
            rows, columns = ctx.operator.entry_rows[block], ctx.operator.columns[block]
            velocity = _velocity(potential, rows, columns)
            pulled, carried = grad.index_select(0, rows), y.index_select(0, columns)
            if ctx.needs_input_grad[0]:
                grad_weights[block] = (pulled * velocity * carried).sum(1)
            pulled.mul_(weights[block, None])
            grad_y.index_add_(0, columns, pulled * velocity)
            slope = pulled.mul_(carried).mul_(1 - velocity.square_())
            grad_potential.index_add_(0, columns, slope).index_add_(0, rows, slope, alpha=-1)
        return grad_weights, grad_potential, grad_y, None


def _velocity(potential: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    return potential.index_select(0, columns).sub_(potential.index_select(0, rows)).tanh_()


def _blocks(operator: Operator, width: int) -> list[slice]:
    size = max(1, _CHUNK // width)
    return [slice(start, start + size) for start in range(0, operator.nnz, size)]
