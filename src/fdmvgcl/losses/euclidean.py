"""Mean squared distance between views."""

from torch import Tensor

from fdmvgcl.losses.base import Loss, over_pairs


def mean_squared_distance(first: Tensor, second: Tensor) -> Tensor:
    """``(1/N) Σ_i ‖a_i - b_i‖²`` for (N, d) and (N, d): a mean over nodes, a *sum* over the d columns."""
    return (first - second).square().sum() / len(first)


class Euclidean(Loss):
    """``Σ_pairs (1/N) Σ_i ‖Y_k,i - Y_k',i‖²`` (FD-MVGCL, the appendix on losses). Least (0) for equal views."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = {"euclidean": 1.0}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """The term ``euclidean`` of views (K, N, d)."""
        return {"euclidean": over_pairs(mean_squared_distance, views.unbind())}
