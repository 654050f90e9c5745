"""VICReg: views that agree, columns that vary, columns that do not repeat each other."""

import torch
from torch import Tensor

from fdmvgcl.losses.base import Loss, Sums, Terms, check_weights, of_pairs, over_members, over_pairs
from fdmvgcl.losses.euclidean import mean_squared_distance, squared_distance
from fdmvgcl.losses.moments import centred, covariances, moment_sums, off_diagonal, off_diagonal_square


def variance_hinge(x: Tensor, target: float = 1.0, epsilon: float = 1e-4) -> Tensor:
    """``(1/d) Σ_j max(0, γ - √(Var(x_j) + ε))`` of centred x (N, d), with the biased variance."""
    return _hinge(x.square().mean(0), target, epsilon)


def _hinge(variance: Tensor, target: float, epsilon: float) -> Tensor:
    return torch.relu(target - (variance + epsilon).sqrt()).mean()


def covariance(x: Tensor) -> Tensor:
    """``(1/d) Σ_{i≠j} Cov(x)_ij²`` of centred x (N, d), with ``Cov(x) = xᵀx / N``."""
    return off_diagonal_square(x, x) / (len(x) ** 2 * x.shape[1])


class VICReg(Loss):
    """``Σ_pairs λ s(Y_k, Y_k') + μ [v(Y_k) + v(Y_k')] + ν [c(Y_k) + c(Y_k')]`` (Bardes et al. 2022, equation 6).

    The terms are as the papers print them: s is a mean over nodes and a sum over columns; v and c of the two views are
    *added*, not averaged. Both moments are biased (1/N), as FD-MVGCL has them; VICReg divides the covariance by N - 1.
    The authors' program differs: it divides s by d as well (here ``invariance=25 / d``), and halves v.
    FD-MVGCL writes ε for the target γ of the deviations, "a small constant"; VICReg's 1 is kept. Least (0) for equal
    views with uncorrelated columns whose deviations reach γ.

    Args:
        invariance, variance, covariance: λ, μ and ν; 25, 25 and 1 in the paper.
        target: γ, the standard deviation below which a column is pulled apart. On Cora columns begin at 0.002 to
            0.005: the default pulls at all of them throughout a short training, and little, as ε is most of the root.
        epsilon: ε, added to the variance under the root, so that a constant column has a gradient that is finite.
    """

    def __init__(
        self,
        invariance: float = 25.0,
        variance: float = 25.0,
        covariance: float = 1.0,
        *,
        target: float = 1.0,
        epsilon: float = 1e-4,
    ) -> None:
        super().__init__()
        check_weights(invariance=invariance, variance=variance, covariance=covariance, target=target, epsilon=epsilon)
        self.invariance, self.variance, self.covariance = invariance, variance, covariance
        self.weights = {"invariance": invariance, "variance": variance, "covariance": covariance}
        self.target, self.epsilon = target, epsilon

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """Terms ``invariance``, ``variance`` and ``covariance`` of views (K, N, d)."""
        each = views.unbind()
        shifted = [centred(view) for view in each]
        return {
            "invariance": over_pairs(mean_squared_distance, each),
            "variance": over_members(lambda x: variance_hinge(x, self.target, self.epsilon), shifted),
            "covariance": over_members(covariance, shifted),
        }

    def statistics(self, views: Tensor) -> Sums:
        """The sum of each pair's squared distances; of each view, of its rows and of their outer products."""
        return {"distance": of_pairs(squared_distance, views.unbind()).double(), **moment_sums(views)}

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The terms of :meth:`forward`."""
        each = covariances(sums, rows).unbind()
        return {
            "invariance": sums["distance"].sum() / rows,
            "variance": over_members(lambda c: _hinge(c.diagonal(), self.target, self.epsilon), each),
            "covariance": over_members(lambda c: off_diagonal(c).square().sum() / len(c), each),
        }
