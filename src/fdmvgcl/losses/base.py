"""What every loss shares: the ring of pairs, sums over it, and the contract with the trainer."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from inspect import signature
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from fdmvgcl.errors import ArgumentError

Terms = dict[str, Tensor]
Sums = dict[str, Tensor]


def ring(views: int) -> list[tuple[int, int]]:
    """Consecutive pairs, closed to a ring: (0, 1), …, (K-1, 0); for two views the one pair counts once."""
    if views < 2:
        raise ArgumentError("views", f"must be at least 2 to be contrasted, got {views}")
    return [(0, 1)] if views == 2 else [(k, (k + 1) % views) for k in range(views)]


def over_pairs(term: Callable[[Tensor, Tensor], Tensor], each: Sequence[Tensor]) -> Tensor:
    """``Σ term(Y_k, Y_k')`` over the ring of pairs.

    Takes the views one by one, from ``views.unbind()``: the backward of ``views[k]`` would fill a tensor of all views
    each time.
    """
    return of_pairs(term, each).sum()


def of_pairs(term: Callable[[Tensor, Tensor], Tensor], each: Sequence[Tensor]) -> Tensor:
    """``term(Y_k, Y_k')`` of every pair of the ring, shape (P, …)."""
    return torch.stack([term(each[a], each[b]) for a, b in ring(len(each))])


def over_members(term: Callable[[Tensor], Tensor], each: Sequence[Tensor]) -> Tensor:
    """``Σ term(Y_k) + term(Y_k')`` over the ring of pairs; a view is computed once, however many pairs it is in."""
    count = Counter(k for pair in ring(len(each)) for k in pair)
    return torch.stack([count[k] * term(view) for k, view in enumerate(each)]).sum()


def unit_rows(x: Tensor) -> Tensor:
    """Rows divided by their norm; a zero row stays zero and gets no gradient. Shape (…, N, d)."""
    square = x.square().sum(-1, keepdim=True)
    return torch.where(square > 0, x * torch.where(square > 0, square, torch.ones_like(square)).rsqrt(), 0.0)


def check_weights(**weights: float) -> None:
    """Refuse what is no finite number of at least 0."""
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= value < math.inf:
            raise ArgumentError(name, f"must be a finite number of at least 0, got {value!r}")


class Loss(nn.Module):
    """A loss over views (K, N, d): ``forward`` returns named terms, ``weights`` says how they add up.

    What a loss is made with, it keeps under the same names.

    Rows may come in blocks, for a loss whose terms are functions of sums over rows: ``statistics`` are the sums of one
    block, ``finish`` makes the terms of the sums of all. With S the sums and f the total, the gradient at a block's
    views Y is that of ``⟨∂f/∂S, S(Y)⟩``: once :meth:`slopes` knows ∂f/∂S from a first pass, :meth:`rows` of each block
    in a second has the gradient of the whole.
    """

    weights: dict[str, float]

    def total(self, terms: Terms) -> Tensor:
        """The terms added up by their weights."""
        return torch.stack([self.weights[name] * term for name, term in terms.items()]).sum()

    @property
    def takes_blocks(self) -> bool:
        """Whether it can be taken block by block."""
        return type(self).statistics is not Loss.statistics

    def statistics(self, views: Tensor) -> Sums:
        """Sums over the rows of views (K, n, d), float64, by name; what ``finish`` needs, and differentiable."""
        raise NotImplementedError(f"{type(self).__name__} is not made of sums over rows")

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The terms of :meth:`forward` from the sums over all rows, and how many these are."""
        raise NotImplementedError(f"{type(self).__name__} is not made of sums over rows")

    def slopes(self, sums: Sums, rows: int) -> tuple[Terms, Sums]:
        """The terms, and what :meth:`rows` needs to know of all rows: the total's gradient in each sum."""
        leaves = {name: value.detach().requires_grad_() for name, value in sums.items()}
        with torch.enable_grad():
            terms = self.finish(leaves, rows)
            found = torch.autograd.grad(self.total(terms), list(leaves.values()), materialize_grads=True)
        return {name: term.detach() for name, term in terms.items()}, dict(zip(leaves, found, strict=True))

    def rows(self, views: Tensor, slopes: Sums) -> Tensor:
        """A sum over the rows of views (K, n, d) whose gradient in them is the total's."""
        found = self.statistics(views)
        return torch.stack([(slopes[name] * value).sum() for name, value in found.items()]).sum()

    def settings(self) -> dict[str, Any]:
        """What it was made with, by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}
