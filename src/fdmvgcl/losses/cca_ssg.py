"""CCA-SSG: canonical correlation analysis as a loss."""

import math

from torch import Tensor

from fdmvgcl.losses.base import Loss, check_weights, over_members, over_pairs
from fdmvgcl.losses.moments import off_diagonal_square, standardised


def squared_distance(first: Tensor, second: Tensor) -> Tensor:
    """``‖A - B‖_F²`` for (N, d) and (N, d)."""
    return (first - second).square().sum()


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
