"""Mean cosine between views, plain and with the penalty on a shared dominant direction."""

from typing import Any

import torch
from torch import Tensor

from fdmvgcl.losses.base import Loss, Sums, Terms, check_weights, of_pairs, over_pairs
from fdmvgcl.losses.direction import dominant_direction, gram_direction


def cosmean(first: Tensor, second: Tensor) -> Tensor:
    """``1 - (1/N) Σ_i ⟨a_i, b_i⟩ / (‖a_i‖ ‖b_i‖)`` for (N, d) and (N, d); the cosine of a zero row is 0."""
    return 1 - cosine_sum(first, second) / len(first)


def cosine_sum(first: Tensor, second: Tensor) -> Tensor:
    """``Σ_i ⟨a_i, b_i⟩ / (‖a_i‖ ‖b_i‖)`` for (N, d) and (N, d); the cosine of a zero row is 0."""
    return _CosineSum.apply(first, second)  # type: ignore[no-any-return, no-untyped-call]


class _CosineSum(torch.autograd.Function):
    """The gradient in closed form: autograd's own takes three times as many passes over the views, most of an epoch."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor) -> Tensor:
        inverse = [_reciprocal(torch.linalg.vector_norm(x, dim=-1)) for x in (first, second)]
        cosine: Tensor = torch.linalg.vecdot(first, second) * inverse[0] * inverse[1]
        ctx.save_for_backward(first, second, *inverse, cosine)
        return cosine.sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        first, second, inverse_first, inverse_second, cosine = ctx.saved_tensors
        scale = grads[0]
        across = (scale * inverse_first * inverse_second)[:, None]

        def gradient(own: Tensor, other: Tensor, inverse: Tensor) -> Tensor:
            along = -scale * cosine * inverse.square()
            return torch.mul(other, across).addcmul_(own, along[:, None])

        return (
            gradient(first, second, inverse_first) if ctx.needs_input_grad[0] else None,
            gradient(second, first, inverse_second) if ctx.needs_input_grad[1] else None,
        )


def _reciprocal(norm: Tensor) -> Tensor:
    return torch.where(norm > 0, 1 / torch.where(norm > 0, norm, torch.ones_like(norm)), 0.0)


class Cosmean(Loss):
    """``Σ_pairs cosmean(Y_k, Y_k')``: FD-MVGCL's L_0 (the appendix on losses), as BGRL has it.

    Blind to the length of rows. Least (0) where every node points the same way in both views, which all views being
    alike, or all nodes alike, satisfies too.
    """

    def __init__(self) -> None:
        super().__init__()
        self.weights = {"cosmean": 1.0}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """The term ``cosmean`` of views (K, N, d)."""
        return {"cosmean": over_pairs(cosmean, views.unbind())}

    def statistics(self, views: Tensor) -> Sums:
        """The sum of each pair's cosines."""
        return {"cosine": of_pairs(cosine_sum, views.unbind()).double()}

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The term of :meth:`forward`."""
        return {"cosmean": (1 - sums["cosine"] / rows).sum()}


class RegularisedCosmean(Loss):
    """``Σ_pairs cosmean(Y_k, Y_k') + η |⟨c_k, c_k'⟩|`` with c_k the dominant direction of Y_k: FD-MVGCL's own loss.

    The paper leaves open whether a view is centred before its dominant direction is taken; here it is not.

    Args:
        eta: weight η of the alignment of dominant directions; 0 leaves plain cosmean.
    """

    def __init__(self, eta: float = 0.05) -> None:
        super().__init__()
        check_weights(eta=eta)
        self.eta = eta
        self.weights = {"cosmean": 1.0, "direction": eta}

    def forward(self, views: Tensor) -> dict[str, Tensor]:
        """Terms ``cosmean`` and ``direction`` of views (K, N, d)."""
        each = views.unbind()
        terms = {"cosmean": over_pairs(cosmean, each)}
        if self.weights["direction"]:
            terms["direction"] = over_pairs(_alignment, [dominant_direction(view) for view in each])
        return terms

    def statistics(self, views: Tensor) -> Sums:
        """The sum of each pair's cosines; of each view, of its rows and of their outer products."""
        sums = {"cosine": of_pairs(cosine_sum, views.unbind()).double()}
        if self.weights["direction"]:
            sums |= {"row": views.sum(1).double(), "gram": (views.mT @ views).double()}
        return sums

    def finish(self, sums: Sums, rows: int) -> Terms:
        """The terms of :meth:`forward`."""
        terms = {"cosmean": (1 - sums["cosine"] / rows).sum()}
        if self.weights["direction"]:
            pairs = zip(sums["gram"].unbind(), sums["row"].detach(), strict=True)
            terms["direction"] = over_pairs(_alignment, [gram_direction(gram, row) for gram, row in pairs])
        return terms

    def slopes(self, sums: Sums, rows: int) -> tuple[Terms, Sums]:
        """Those of Gram matrices are of rank one, and kept as ``left`` and ``right``, shape (K, d)."""
        terms, found = super().slopes(sums, rows)
        if "gram" in found:
            del found["row"]
            factors = [_factors(slope) for slope in found.pop("gram")]
            found["left"], found["right"] = (torch.stack(each) for each in zip(*factors, strict=True))
        return terms, found

    def rows(self, views: Tensor, slopes: Sums) -> Tensor:
        """With ``⟨l rᵀ, YᵀY⟩ = ⟨Y l, Y r⟩``, which needs no Gram matrix."""
        found = (slopes["cosine"] * of_pairs(cosine_sum, views.unbind())).sum()
        if "left" in slopes:
            left, right = (slopes[side].to(views)[..., None] for side in ("left", "right"))
            found = found + ((views @ left) * (views @ right)).sum()
        return found


def _alignment(first: Tensor, second: Tensor) -> Tensor:
    return (first @ second).abs()


def _factors(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """l and r of ``l rᵀ``."""
    right = matrix[matrix.square().sum(1).argmax()]
    square = right.square().sum()
    return matrix @ right / torch.where(square > 0, square, 1.0), right
