"""CCA-SSG: canonical correlation analysis as a loss."""

import math

import torch
from torch import Tensor

from fdmvgcl.losses.base import Loss, Sums, Terms, check_weights, of_pairs, over_members, over_pairs
from fdmvgcl.losses.euclidean import squared_distance
from fdmvgcl.losses.moments import covariances, moment_sums, off_diagonal, off_diagonal_square, scales, standardised


def identity_gap(x: Tensor) -> Tensor:
    """``‖xᵀx - I‖_F²`` for x (N, d)."""
    return off_diagonal_square(x, x) + (1 - x.square().sum(0)).square().sum()


class CCASSG(Loss):
    """``Σ_pairs ‖Ỹ_k - Ỹ_k'‖_F² + λ (‖Ỹ_kᵀỸ_k - I‖_F² + ‖Ỹ_k'ᵀỸ_k' - I‖_F²)`` (Zhang et al. 2021).

    Ỹ has the columns of Y with mean 0 and length 1: standardised by the biased variance, divided by √N. A constant
    column becomes zero and adds 1 to its view's second term. The authors' program takes ``-tr(Ỹ_kᵀỸ_k')`` for the first
    term, which is half of this one but for a constant, so its λ is twice as strong as the same number here; it also
    standardises by the unbiased variance. Least (0) for equal views whose columns are uncorrelated, which needs N > d.

    Args:
        decorrelation: λ; 0.001 in the authors' program, for Cora.
    """

    def __init__(self, decorrelation: float = 1e-3) -> None:
        super().__init__()
        check_weights(decorrelation=decorrelation)
        self.decorrelation = decorrelation
        self.weights = {"invariance": 1.0, "decorrelation": decorrelation}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """Terms ``invariance`` and ``decorrelation`` of views (K, N, d)."""
        each = [standardised(view) / math.sqrt(len(view)) for view in views.unbind()]
        return {
            "invariance": over_pairs(squared_distance, each),
            "decorrelation": over_members(identity_gap, each),
        }

    def statistics(self, views: Tensor) -> Sums:
        """Of each view, the sum of its rows and of their outer products; of each pair, of its columns' products."""
        each = views.double().unbind()
        return {**moment_sums(views), "along": of_pairs(lambda first, second: (first * second).sum(0), each)}

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The terms of :meth:`forward`: ``‖ỹ_j - ỹ'_j‖² = ‖ỹ_j‖² + ‖ỹ'_j‖² - 2 ⟨ỹ_j, ỹ'_j⟩`` for each column."""
        covariance, mean = covariances(sums, rows), sums["row"] / rows
        variance = covariance.diagonal(dim1=1, dim2=2)
        scale = scales(variance, variance + mean.square())
        correlation = covariance * scale[:, :, None] * scale[:, None, :]
        own = correlation.diagonal(dim1=1, dim2=2)
        across = sums["along"] / rows - of_pairs(torch.mul, mean.unbind())
        across = across * of_pairs(torch.mul, scale.unbind())
        return {
            "invariance": (of_pairs(torch.add, own.unbind()) - 2 * across).sum(),
            "decorrelation": over_members(
                lambda c: off_diagonal(c).square().sum() + (1 - c.diagonal()).square().sum(), correlation.unbind()
            ),
        }
