"""Mean squared distance between views."""

from torch import Tensor

from fdmvgcl.losses.base import Loss, Sums, Terms, of_pairs, over_pairs


def mean_squared_distance(first: Tensor, second: Tensor) -> Tensor:
    """``(1/N) Σ_i ‖a_i - b_i‖²`` for (N, d) and (N, d): a mean over nodes, a *sum* over the d columns."""
    return squared_distance(first, second) / len(first)


def squared_distance(first: Tensor, second: Tensor) -> Tensor:
    """``‖A - B‖_F²`` for (N, d) and (N, d)."""
    return (first - second).square().sum()


class Euclidean(Loss):
    """``Σ_pairs (1/N) Σ_i ‖Y_k,i - Y_k',i‖²`` (FD-MVGCL, the appendix on losses). Least (0) for equal views."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = {"euclidean": 1.0}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """The term ``euclidean`` of views (K, N, d)."""
        return {"euclidean": over_pairs(mean_squared_distance, views.unbind())}

    def statistics(self, views: Tensor) -> Sums:
        """The sum of each pair's squared distances."""
        return {"distance": of_pairs(squared_distance, views.unbind()).double()}

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The term of :meth:`forward`."""
        return {"euclidean": sums["distance"].sum() / rows}
