"""From a graph to the views that a frozen probe reads: those of a fitted model, diffused features, or raw ones."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.diffusion.linear import apply_filter, make_filter
from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional.response import Filter
from fdmvgcl.graphs.alike import with_joins
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Normalisation, Operator
from fdmvgcl.learning.encoder import FeatureMatrix, activated
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import assemble
from fdmvgcl.learning.settings import Activation, FeatureScaling, ViewScaling
from fdmvgcl.learning.view_scaling import scale_views


@dataclass(frozen=True, eq=False)
class Encoding:
    """``Y_k = scaled(σ(φ_k(L) X W_k))`` with everything but the graph fixed, shape (K, N, d).

    Args:
        transform: how features are scaled and centred.
        prepare: from a graph to X and Ā.
        spec: the responses φ_k; None for views that do not look at edges.
        weight: W, shape (K, F, d); None for the identity.
        activation, scaling: see :class:`~fdmvgcl.learning.settings.Diffusion`.
        norms: of the clean views, for ``scaling="view"``, shape (K,).
        joins: weight of the joins that ``prepare`` puts beside the edges.
        anchored: how many of the columns have no activation and are scaled by themselves.
    """

    transform: FeatureTransform
    prepare: Callable[[Graph], tuple[FeatureMatrix, Operator]]
    spec: Filter | None
    weight: Tensor | None = None
    activation: Activation = "identity"
    scaling: ViewScaling = "none"
    norms: NDArray[np.float32] | None = None
    joins: float = 0.0
    anchored: int = 0

    @classmethod
    def of_model(cls, model: FDMVGCL) -> "Encoding":
        """A fitted model, with all that it chose on its training graph."""
        encoder, chosen = model.encoder_, model.chosen_
        if encoder.dynamics:
            raise ArgumentError("model", "must have linear dynamics ('grand') to be frozen, its own are not")
        spec = Filter(
            encoder.alpha.detach(),
            encoder.time.detach(),
            encoder.scheme,
            encoder.step,
            encoder.skip,
            encoder.skip_weight.detach(),
            encoder.rate.detach(),
        )
        return cls(
            chosen.features,
            partial(_as_the_model_does, model),
            spec,
            encoder.whole_weight.detach(),
            encoder.activation,
            chosen.view_scaling,
            model.view_norms_,
            model.diffusion.joins,
            encoder.anchored,
        )

    @classmethod
    def diffused(
        cls,
        graph: Graph,
        alpha: float,
        time: float,
        scaling: FeatureScaling = "rows",
        normalisation: Normalisation = "sym",
        joins: float = 0.0,
    ) -> "Encoding":
        """Features diffused once, without projection or activation."""
        transform = FeatureTransform.fit(graph, scaling)
        prepare = partial(_plainly, transform, normalisation, joins)
        return cls(transform, prepare, make_filter(torch.tensor([alpha]), time), joins=joins)

    @classmethod
    def raw(cls, graph: Graph, scaling: FeatureScaling = "rows") -> "Encoding":
        """The features, which no edge can touch."""
        transform = FeatureTransform.fit(graph, scaling)
        return cls(transform, partial(_plainly, transform, "sym", 0.0), None)

    def views(self, graph: Graph) -> Tensor:
        """Shape (K, N, d), float32."""
        features, operator = self.prepare(graph)
        start = features.dense()[None] if self.weight is None else features.project(self.weight)
        with torch.no_grad():
            return self.finished(start.clone() if self.spec is None else apply_filter(operator, start, self.spec))

    def finished(self, diffused: Tensor) -> Tensor:
        """Activated, which may happen in place, and scaled."""
        return scale_views(
            activated(diffused, self.activation, self.anchored), self.scaling, self._norms, self.anchored
        )

    def degrees(self, graph: Graph) -> NDArray[np.float64]:
        """Sums of all that a node is joined by, but for self-loops, shape (N,)."""
        return with_joins(graph, self.joins).degrees

    @property
    def _norms(self) -> Tensor:
        return torch.ones(1) if self.norms is None else torch.as_tensor(self.norms)


def _as_the_model_does(model: FDMVGCL, graph: Graph) -> tuple[FeatureMatrix, Operator]:
    prepared = assemble(model, graph, model.chosen_)
    return prepared.features, prepared.operator


def _plainly(
    transform: FeatureTransform, normalisation: Normalisation, joins: float, graph: Graph
) -> tuple[FeatureMatrix, Operator]:
    return FeatureMatrix.of(*transform.apply(graph)), with_joins(graph, joins).operator(normalisation)
