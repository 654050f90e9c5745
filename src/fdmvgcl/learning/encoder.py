"""The multi-view encoder: for each view a linear projection, a fractional diffusion and an activation."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from fdmvgcl.diffusion.basis import DiffusionBasis
from fdmvgcl.diffusion.kernels import sparse_product
from fdmvgcl.diffusion.linear import apply_filter
from fdmvgcl.dynamics import LINEAR, Dynamics, Factory, evolve, make_dynamics, stepping
from fdmvgcl.fractional.response import EXACT, Filter
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.settings import Activation, Initialisation

# In place: views are the largest tensors that there are, and no gradient needs them as they were before.
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "leaky": lambda x: nn.functional.leaky_relu(x, 0.25, inplace=True),  # at 0 half of the information is lost
    "identity": lambda x: x,
}


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """A feature matrix ``X = M - 1 cᵀ`` of shape (N, F), M dense or sparse CSR, ready for products with X and Xᵀ.

    Subtracting the centre c (F,) from a sparse matrix would fill it; its projection is one row to subtract instead.
    """

    matrix: Tensor
    transpose: Tensor | None = None
    centre: Tensor | None = None

    @classmethod
    def of(cls, matrix: Tensor, centre: Tensor | None = None) -> "FeatureMatrix":
        if matrix.layout == torch.strided:
            return cls(matrix if centre is None else matrix - centre)
        return cls(matrix, matrix.to_sparse_csc().transpose(0, 1).to_sparse_csr(), centre)

    def project(self, weight: Tensor) -> Tensor:
        """``X W_k`` for weights (K, F, d), shape (K, N, d)."""
        if self.transpose is None:
            return self.matrix @ weight
        each = [_SparseProduct.apply(w, self.matrix, self.transpose) for w in weight]  # type: ignore[no-untyped-call]
        projected = torch.stack(each)
        return projected if self.centre is None else projected - (self.centre @ weight)[:, None]

    def columns(self, first: int, last: int) -> Tensor:
        """Some of X, dense, shape (N, last - first)."""
        if self.transpose is None:
            return self.matrix[:, first:last]
        starts = self.transpose.crow_indices()[first : last + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        full = self.matrix.values().new_zeros(len(self.matrix), last - first)
        column = torch.repeat_interleave(torch.arange(last - first, device=starts.device), starts.diff())
        full[self.transpose.col_indices()[inside], column] = self.transpose.values()[inside]
        if self.centre is not None:
            full -= self.centre[first:last]
        return full

    @property
    def parts(self) -> list[Tensor]:
        """The numbers that it is made of."""
        if self.transpose is None:
            return [self.matrix]
        sparse = [self.matrix.crow_indices(), self.matrix.col_indices(), self.matrix.values()]
        return sparse if self.centre is None else [*sparse, self.centre]

    def dense(self) -> Tensor:
        """X itself, shape (N, F)."""
        if self.transpose is None:
            return self.matrix
        full = self.matrix.to_dense()
        return full if self.centre is None else full - self.centre


class _SparseProduct(torch.autograd.Function):
    """``X W`` with a constant sparse X; PyTorch's own backward would transpose X in every step."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return sparse_product(matrix, weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return sparse_product(ctx.transpose, grads[0]), None, None


class MultiViewEncoder(nn.Module):
    """``Y_k = σ(φ_k(L) X W_k)`` for k = 1 … K, with φ_k the response of order α_k (and time T_k).

    With other dynamics than the linear ones, ``Y_k = σ(Y(T_k))`` of ``D^α_k Y = F_k(Y)`` from ``Y(0) = X W_k``.

    Args:
        features: number F of feature columns.
        dim: width d of a view.
        alphas: initial orders, shape (K,).
        time: diffusion time, learned one for each view if ``learn_time``.
        scheme, step, skip: see :func:`fdmvgcl.diffuse`; for non-linear dynamics, :func:`fdmvgcl.dynamics.stepping`.
        skip_weight: weight of the skip-connection, learned if ``learn_skip``.
        rate: r of ``D^α Y = r F(Y)``, one for all views, learned if ``learn_rate``.
        activation: ``"leaky"`` (slope 0.25), ``"relu"`` or ``"identity"``.
        initialisation: of the weights: ``"orthogonal"`` keeps distances in each view as well as d columns can,
            ``"joint"`` in all views together: with d ≥ K F, the sum of views begins as good as their concatenation;
            ``"whitened"`` is the same after ``start``; ``"principal"`` takes the columns themselves, or those of
            ``start``; ``"glorot"`` is the usual uniform one.
        start: a matrix (F, G) that the initial weights (G, d) are multiplied by from the left; None for ``I``.
        anchor: weights (F, a) of the last a of the d columns, which all views share and training leaves as they are,
            without an activation; None for none.
        dynamics: name of F, or a factory ``(dim, generator) -> Dynamics``, called once a view.
        generator: source of randomness for the weights.
    """

    def __init__(
        self,
        features: int,
        dim: int,
        alphas: Tensor,
        *,
        time: float,
        learn_time: bool = False,
        scheme: str = EXACT,
        step: float | None = None,
        skip: int = 0,
        skip_weight: float = 1.0,
        learn_skip: bool = False,
        rate: float = 1.0,
        learn_rate: bool = False,
        activation: Activation = "leaky",
        initialisation: Initialisation = "orthogonal",
        start: Tensor | None = None,
        anchor: Tensor | None = None,
        dynamics: str | Factory = LINEAR,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        views = len(alphas)
        rows = features if start is None else start.shape[1]
        weight = _INITIALISERS[initialisation](views, rows, dim - columns_of(anchor), generator)
        self.weight = nn.Parameter(weight if start is None else start @ weight)
        self.anchor: Tensor | None
        self.register_buffer("anchor", anchor)
        self.alpha = nn.Parameter(alphas.double().clone())
        self.time = nn.Parameter(torch.full((views,), time, dtype=torch.float64), requires_grad=learn_time)
        self.skip_weight = nn.Parameter(torch.tensor(skip_weight, dtype=torch.float64), requires_grad=learn_skip)
        self.rate = nn.Parameter(torch.tensor(rate, dtype=torch.float64), requires_grad=learn_rate)
        made = [make_dynamics(dynamics, dim, generator) for _ in range(views)]
        self.dynamics = nn.ModuleList(each for each in made if each is not None)
        if self.dynamics:
            scheme, step = stepping(scheme, step, time)
        self.scheme, self.step, self.skip = scheme, step, skip
        self.activation = activation

    @property
    def filter(self) -> Filter:
        return Filter(self.alpha, self.time, self.scheme, self.step, self.skip, self.skip_weight, self.rate)

    @property
    def anchored(self) -> int:
        """How many columns are not trained."""
        return columns_of(self.anchor)

    @property
    def whole_weight(self) -> Tensor:
        """Weights of all columns, (K, F, d)."""
        if self.anchor is None:
            return self.weight
        return torch.cat([self.weight, self.anchor.expand(len(self.weight), -1, -1)], -1)

    def trained(self, views: Tensor) -> Tensor:
        """The columns of views (K, n, d) that the loss is taken of, (K, n, d - a)."""
        return views[..., : views.shape[-1] - self.anchored]

    def forward(self, features: FeatureMatrix, operator: Operator, basis: DiffusionBasis | None = None) -> Tensor:
        """Views of shape (K, N, d).

        Args:
            features: X.
            operator: Ā, in the dtype and on the device of X.
            basis: of X, from :func:`~fdmvgcl.diffusion.basis.diffusion_basis`, to diffuse first and then project; None
                to project first and then diffuse. The numbers are the same.
        """
        if basis is not None:
            return self.project(basis.diffused(self.filter))
        projected = features.project(self.whole_weight)
        if self.dynamics:
            return self._activated(self._evolved(projected, operator))
        return self._activated(apply_filter(operator, projected, self.filter))

    def project(self, diffused: Tensor) -> Tensor:
        """Views of features that are diffused already, (K, N, F)."""
        return self._activated(diffused @ self.whole_weight)

    def _activated(self, views: Tensor) -> Tensor:
        return activated(views, self.activation, self.anchored)

    def _evolved(self, projected: Tensor, operator: Operator) -> Tensor:
        assert self.step is not None
        skip_weight, rate = self.skip_weight.to(projected), self.rate.to(projected)
        run = partial(evolve, scheme=self.scheme, step=self.step, skip=self.skip, skip_weight=skip_weight, rate=rate)
        dynamics = cast("list[Dynamics]", list(self.dynamics))
        views = zip(dynamics, projected, self.alpha, self.time, strict=True)
        return torch.stack([run(f, operator, y, alpha, time) for f, y, alpha, time in views])

    def clamp_(self, smallest_alpha: float) -> None:
        """Put orders back into [ε, 1], and times, the rate and the skip's weight to where they have a meaning."""
        with torch.no_grad():
            self.alpha.clamp_(smallest_alpha, 1.0)
            self.time.clamp_(min=1e-3)
            self.rate.clamp_(min=1e-3)
            self.skip_weight.clamp_(min=0.0)


def columns_of(anchor: Tensor | None) -> int:
    """How many columns are not trained."""
    return 0 if anchor is None else anchor.shape[1]


def activated(views: Tensor, activation: Activation, anchored: int = 0) -> Tensor:
    """σ(views), in place where it can be; the last columns, those that are anchored, stay as they are."""
    if not anchored:
        return _ACTIVATIONS[activation](views)
    _ACTIVATIONS[activation](views[..., :-anchored])
    return views


def _orthogonal(features: int, dim: int, generator: torch.Generator) -> Tensor:
    """Rows (or columns, the fewer) orthonormal, scaled so that projecting keeps the mean square length."""
    weight: Tensor = nn.init.orthogonal_(torch.empty(features, dim), generator=generator)
    return torch.mul(weight, max(1.0, features / dim) ** 0.5)


def _glorot(features: int, dim: int, generator: torch.Generator) -> Tensor:
    return nn.init.xavier_uniform_(torch.empty(features, dim), generator=generator)


def _each(initialiser: Callable[[int, int, torch.Generator], Tensor]) -> Callable[..., Tensor]:
    """Every view's weights by themselves."""

    def initialise(views: int, features: int, dim: int, generator: torch.Generator) -> Tensor:
        return torch.stack([initialiser(features, dim, generator) for _ in range(views)])

    return initialise


def _joint(views: int, features: int, dim: int, generator: torch.Generator) -> Tensor:
    """All views' rows orthogonal to each other, or as nearly as d columns allow."""
    return _orthogonal(views * features, dim, generator).view(views, features, dim)


def _unchanged(views: int, features: int, dim: int, generator: torch.Generator) -> Tensor:
    """As many columns as there are, in every view the same."""
    return torch.eye(features, dim).repeat(views, 1, 1)


_INITIALISERS: dict[str, Callable[[int, int, int, torch.Generator], Tensor]] = {
    "orthogonal": _each(_orthogonal),
    "joint": _joint,
    "whitened": _joint,
    "principal": _unchanged,
    "glorot": _each(_glorot),
}
