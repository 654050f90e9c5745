"""From a graph to what the encoder takes: every decision once, with the sentence that explains it."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.diffusion.basis import diffusion_basis
from fdmvgcl.diffusion.cost import Order, Workload
from fdmvgcl.diffusion.linear import TOLERANCE, make_filter
from fdmvgcl.dynamics import LINEAR, Dynamics, held_bytes, make_dynamics, stepping
from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional._checks import count_steps
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Normalisation, Operator
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.learning.features import SUBSTITUTE_COLUMNS, SUGGESTED_SKIP_WEIGHT, FeatureTransform, suggested_skip
from fdmvgcl.learning.settings import Diffusion, ViewScaling
from fdmvgcl.learning.view_scaling import suggested_view_scaling

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

ORDERS: tuple[Order, ...] = ("project", "diffuse")
_ORDERS_TOLD = {"project": "features are projected, then diffused", "diffuse": "features are diffused, then projected"}
_SCALINGS_TOLD = {
    "columns": "columns of features are standardised, since some are negative",
    "rows": "rows of features are divided by their sums, since those of neighbours differ",
    "none": "features are taken as they are, since neighbours' sums are alike",
}


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a graph decided where a setting left it open; kept with the model.

    Args:
        features: how features are scaled and centred.
        skip: rounds of skip-connection.
        view_scaling: how views are scaled before the sum.
        order_of_work: ``"project"`` or ``"diffuse"`` first. The numbers are the same either way.
        sentences: each choice and its reason.
    """

    features: FeatureTransform
    skip: int
    view_scaling: ViewScaling
    order_of_work: Order
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Prepared:
    """A graph as the encoder takes it. Operator and basis are made when they are first asked for, and once.

    Args:
        graph: the graph.
        chosen: what was decided.
        features: X, scaled and centred.
        spec: times, scheme and skip of the diffusion; its orders mean nothing.
        smallest_alpha: the least order that the basis must serve.
        normalisation, self_loops: of the operator.
        memory: bytes that training takes at its peak, roughly.
    """

    graph: Graph
    chosen: Chosen
    features: FeatureMatrix
    spec: Filter
    smallest_alpha: float
    normalisation: Normalisation | None
    self_loops: float
    memory: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was chosen, and why."""
        return self.chosen.sentences

    @cached_property
    def operator(self) -> Operator:
        """Ā, on the device of the features."""
        made = self.graph.operator(self.normalisation, self.self_loops)
        return made.to(self.features.matrix.device)

    @cached_property
    def basis(self) -> Tensor | None:
        """Features diffused for every order at once, if that is the order of work; it serves undirected graphs."""
        if self.chosen.order_of_work == "project" or self.graph.directed:
            return None
        return diffusion_basis(self.features.dense(), self.operator, self.spec, smallest_alpha=self.smallest_alpha)


def prepare(model: "FDMVGCL", graph: Graph, order_of_work: Order | None, memory_limit: int | None) -> Prepared:
    """Every decision that a fit of this model on this graph takes."""
    settings, told = model.diffusion, []
    transform = FeatureTransform.fit(graph, model.feature_settings.scaling, centre=model.feature_settings.centre)
    if transform.substitute:
        told.append(f"no features: {SUBSTITUTE_COLUMNS} random signs drawn from each node's id stand in for them")
    elif model.feature_settings.scaling == "auto":
        told.append(_SCALINGS_TOLD[transform.scaling])
    skip = settings.skip
    if skip == "auto":
        skip = _suggested_skip(settings, graph, transform)
        if skip:
            told.append("a skip-connection keeps the features undiffused too, since neighbours' hardly resemble theirs")
    scaling = suggested_view_scaling(transform) if settings.view_scaling == "auto" else settings.view_scaling
    spec = make_spec(settings, model.time, skip)
    work = _workload(model, graph, transform, spec)
    order = _order(settings, graph, work, order_of_work, memory_limit)
    told.append(_ORDERS_TOLD[order] + ("" if order_of_work else ", the faster way here"))
    chosen = Chosen(transform, skip, scaling, order, tuple(told))
    return assemble(model, graph, chosen, work.training_bytes(order) + _stepping_bytes(model, graph, spec))


def assemble(model: "FDMVGCL", graph: Graph, chosen: Chosen, memory: int = 0) -> Prepared:
    """A graph by decisions that were taken before, on this graph or another."""
    settings = model.diffusion
    prototype = prototype_of(settings, model.dim) or Dynamics()
    return Prepared(
        graph,
        chosen,
        FeatureMatrix.of(*chosen.features.apply(graph, model.device)),
        make_spec(settings, model.time, chosen.skip),
        model.schedule.smallest_alpha,
        settings.normalisation or prototype.normalisation,
        settings.self_loops or prototype.self_loops,
        memory,
    )


def prototype_of(settings: Diffusion, dim: int) -> Dynamics | None:
    """The dynamics of one view as they begin; None for the linear ones."""
    return make_dynamics(settings.dynamics, dim, torch.Generator())


def make_spec(settings: Diffusion, time: float, skip: int) -> Filter:
    """The filter of all orders from 0.01 to 1, checked; ``scheme="exact"`` is a stepping one for other dynamics."""
    scheme, step = settings.scheme, settings.step
    if settings.dynamics != LINEAR:
        scheme, step = stepping(scheme, step, time)
    ends = torch.tensor([0.01, 1.0])
    return make_filter(ends, time, scheme=scheme, step=step, skip=skip, skip_weight=share_of(settings))


def share_of(settings: Diffusion) -> float:
    """The skip's weight."""
    if settings.skip_weight is not None:
        return settings.skip_weight
    return SUGGESTED_SKIP_WEIGHT if settings.skip == "auto" else 1.0


def _suggested_skip(settings: Diffusion, graph: Graph, transform: FeatureTransform) -> int:
    # Other dynamics have terms of their own that hold on to the start.
    rounds = suggested_skip(graph, transform) if settings.dynamics == LINEAR else 0
    if settings.learn_skip and rounds == 0:
        warnings.warn("learn_skip has nothing to learn: skip='auto' found no need of a skip-connection", stacklevel=5)
    return rounds


def _order(settings: Diffusion, graph: Graph, work: Workload, asked: Order | None, memory_limit: int | None) -> Order:
    if asked not in (None, *ORDERS):
        raise ArgumentError("order_of_work", f"must be one of {(None, *ORDERS)}, got {asked!r}")
    if asked == "diffuse" and settings.dynamics != LINEAR:
        raise ArgumentError("order_of_work", "must be 'project' for non-linear dynamics, got 'diffuse'")
    if graph.directed or settings.learn_time or settings.learn_skip or settings.dynamics != LINEAR:
        return "project"  # the basis serves undirected graphs, linear dynamics, and a degree known beforehand
    return asked or work.faster_order(memory_limit)


def _workload(model: "FDMVGCL", graph: Graph, transform: FeatureTransform, spec: Filter) -> Workload:
    sparse = graph.features is not None and not isinstance(graph.features, np.ndarray)
    entries = graph.features.nnz if sparse else graph.num_nodes * transform.columns  # type: ignore[union-attr]
    degree = chebyshev_coefficients(spec, TOLERANCE[torch.float32]).shape[1] - 1
    nnz = graph.adjacency.nnz + graph.num_nodes
    return Workload(graph.num_nodes, nnz, transform.columns, entries, not sparse, model.dim, model.views, degree)


def _stepping_bytes(model: "FDMVGCL", graph: Graph, spec: Filter) -> int:
    prototype = prototype_of(model.diffusion, model.dim)
    if prototype is None:
        return 0
    assert spec.step is not None
    steps = count_steps(model.time, spec.step, stretch=True)
    return held_bytes(prototype, graph.num_nodes, model.dim, steps * model.views * max(1, spec.skip))
