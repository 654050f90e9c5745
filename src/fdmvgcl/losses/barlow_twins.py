"""Barlow Twins: the cross-correlation of two views is to be the identity."""

import torch
from torch import Tensor

from fdmvgcl.losses.base import Loss, Sums, Terms, check_weights, of_pairs, over_pairs
from fdmvgcl.losses.moments import off_diagonal, off_diagonal_square, scales, standardised


def diagonal_gap(first: Tensor, second: Tensor) -> Tensor:
    """``Σ_i (1 - C_ii)²`` with ``C = AᵀB / N``, for standardised A and B (N, d)."""
    return (1 - (first * second).mean(0)).square().sum()


def off_diagonal_correlation(first: Tensor, second: Tensor) -> Tensor:
    """``Σ_{i≠j} C_ij²`` with ``C = AᵀB / N``, for standardised A and B (N, d)."""
    return off_diagonal_square(first, second) / len(first) ** 2


class BarlowTwins(Loss):
    """``Σ_pairs Σ_i (1 - C_ii)² + λ Σ_{i≠j} C_ij²`` (Zbontar et al. 2021, equation 1).

    C is the cross-correlation of two views, whose columns are standardised by the *biased* variance, so that equal
    views have ``C_ii = 1``; a constant column has ``C_ij = 0``. FD-MVGCL's appendix prints the second sum with
    ``C_ii``; the off-diagonal ``C_ij`` is meant. Least (0) for equal views whose columns are uncorrelated, which needs
    N > d.

    Args:
        off_diagonal: λ; 0.005 in the paper.
    """

    def __init__(self, off_diagonal: float = 0.005) -> None:
        super().__init__()
        check_weights(off_diagonal=off_diagonal)
        self.off_diagonal = off_diagonal
        self.weights = {"diagonal": 1.0, "off_diagonal": off_diagonal}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """Terms ``diagonal`` and ``off_diagonal`` of views (K, N, d)."""
        each = [standardised(view) for view in views.unbind()]
        return {
            "diagonal": over_pairs(diagonal_gap, each),
            "off_diagonal": over_pairs(off_diagonal_correlation, each),
        }

    def statistics(self, views: Tensor) -> Sums:
        """Of each view, the sum of its rows and of their squares; of each pair, of its rows' outer products."""
        x = views.double()
        cross = of_pairs(lambda first, second: first.T @ second, x.unbind())
        return {"row": x.sum(1), "square": x.square().sum(1), "cross": cross}

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The terms of :meth:`forward`."""
        mean, square = sums["row"] / rows, sums["square"] / rows
        scale = scales(square - mean.square(), square)
        correlation = sums["cross"] / rows - of_pairs(torch.outer, mean.unbind())
        correlation = correlation * of_pairs(torch.outer, scale.unbind())
        return {
            "diagonal": (1 - correlation.diagonal(dim1=1, dim2=2)).square().sum(),
            "off_diagonal": off_diagonal(correlation).square().sum(),
        }
