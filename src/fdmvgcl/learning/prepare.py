"""From a graph to what the encoder takes: every decision once, with the sentence that explains it."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.diffusion.basis import Basis, DiffusionBasis, diffusion_basis, half_basis, half_error, widest
from fdmvgcl.diffusion.basis_file import store_basis
from fdmvgcl.diffusion.cost import ORDERS, Order, Workload
from fdmvgcl.diffusion.linear import TOLERANCE, diffuse, make_filter
from fdmvgcl.diffusion.modes import Modes, choose_modes
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.dynamics import LINEAR, Dynamics, held_bytes, make_dynamics, stepping
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.fractional._checks import count_steps
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients
from fdmvgcl.graphs.alike import with_joins
from fdmvgcl.graphs.assortativity import assortativity
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.batches import Batch, Blocks, FullBatch, seen_rows, view_pieces
from fdmvgcl.learning.encoder import FeatureMatrix, MultiViewEncoder
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.foresight import FEWEST_NODES, Foresight, foresight
from fdmvgcl.learning.settings import Diffusion, StructureUse, ViewScaling
from fdmvgcl.learning.structure import COLUMNS, Structure
from fdmvgcl.learning.view_scaling import suggested_view_scaling

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

_ORDERS_TOLD: dict[Order, str] = {
    "project": "features are projected, then diffused",
    "diffuse": "features are diffused, then projected",
    "interpolate": "features are diffused at a few orders that all others are interpolated of, then projected",
    "blocks": "all at once would exceed the memory: features are diffused first, and views made in blocks of rows",
}
_SCALINGS_TOLD = {
    "columns": "columns of features are standardised, since they have units of their own",
    "rows": "rows of features are divided by their sums, since those of neighbours differ",
    "none": "features are taken as they are, since neighbours' sums are alike",
}

# Features that foretell less than this part of each other's variance are noise, as far as can be told without labels,
# and structural ones beside them are so much longer. Random features foretell nothing, and of eight graphs' features
# the least telling, Chameleon's, 0.017.
NOISE, BESIDE_NOISE = 0.01, 4.0

# Few columns that neighbours hardly share (assortativity) tell nothing of the edges, and structural ones stand beside
# them. Where neighbours do share them (Minesweeper) these would only drown them.
UNSHARED, BESIDE_UNSHARED = 0.05, 1.0


_DTYPES = {"float32": torch.float32, "float16": torch.float16}


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a graph decided where a setting left it open; kept with the model.

    Args:
        features: how features are scaled and centred.
        skip: rounds of skip-connection.
        skip_weight: the share that each keeps.
        view_scaling: how views are scaled before the sum.
        order_of_work: a name of :data:`fdmvgcl.diffusion.cost.Order`. But for rounding, the numbers are the same.
        sentences: each choice and its reason.
        encoding: what was done to the columns of a table to make features of it; None where they came as numbers.
        anchored: how many columns are principal components of the features, not trained.
    """

    features: FeatureTransform
    skip: int
    skip_weight: float
    view_scaling: ViewScaling
    order_of_work: Order
    sentences: tuple[str, ...] = ()
    encoding: Encoding | None = None
    anchored: int = 0


@dataclass(frozen=True, eq=False)
class Prepared:
    """A graph as the encoder takes it. The basis is made when it is first asked for, and once.

    Args:
        graph: the graph.
        chosen: what was decided.
        features: X, scaled and centred.
        operator: Ā, on the device of the features.
        spec: times, scheme and skip of the diffusion; its orders mean nothing.
        smallest_alpha: the least order that the basis must serve.
        memory: bytes that training takes at its peak, roughly.
        resources: what work may take.
        kept: float32 or float16, of the basis in blocks.
    """

    graph: Graph
    chosen: Chosen
    features: FeatureMatrix
    operator: Operator
    spec: Filter
    smallest_alpha: float
    memory: int
    resources: Resources
    kept: torch.dtype = torch.float32

    def with_sentences(self, told: tuple[str, ...]) -> "Prepared":
        """The same with these sentences before the others."""
        return replace(self, chosen=replace(self.chosen, sentences=(*told, *self.sentences)))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was chosen, and why."""
        return self.chosen.sentences

    @property
    def in_blocks(self) -> bool:
        """Whether rows are worked on in blocks."""
        return self.chosen.order_of_work == "blocks" and not self.graph.directed

    def seen(self, rows: Tensor | None) -> Tensor | None:
        """Nodes whose views an observer sees while training on these, None for all."""
        if not self.in_blocks:
            return rows
        return seen_rows(self.graph.num_nodes) if rows is None else rows[seen_rows(len(rows))]

    @cached_property
    def basis(self) -> DiffusionBasis | None:
        """Features diffused for every order at once, if all rows are worked on at once, and are diffused first."""
        order = self.chosen.order_of_work
        if order in ("project", "blocks") or self.graph.directed:
            return None
        return self._made(modes_of(self.spec, self.smallest_alpha) if order == "interpolate" else None)

    @cached_property
    def block_basis(self) -> Basis:
        """The same to take blocks of rows from, in memory or on disk."""
        modes = modes_of(self.spec, self.smallest_alpha)
        terms = widest(self.spec, torch.float32, self.smallest_alpha)
        nodes, columns = self.graph.num_nodes, self.chosen.features.width
        size = self.kept.itemsize * nodes * columns * (terms if modes is None else len(modes))
        if self.resources.stores(size):
            parts, folder, group = self.features.parts, self.resources.folder / "basis", self.resources.group
            panel, operator = self.features.columns, self.operator
            return store_basis(folder, panel, columns, operator, modes, terms, parts, group, self.kept)
        if self.kept == torch.float32:
            return self._made(modes)
        x, least = self.features.dense(), self.smallest_alpha
        return half_basis(x, self.operator, self.spec, smallest_alpha=least, modes=modes)

    def _made(self, modes: Modes | None) -> DiffusionBasis:
        x, least = self.features.dense(), self.smallest_alpha
        return diffusion_basis(x, self.operator, self.spec, smallest_alpha=least, modes=modes)

    def batch(self, rows: Tensor | None) -> Batch:
        """What a model trains on: all nodes, or those of these numbers."""
        if self.in_blocks:
            basis = self.block_basis if rows is None else self.block_basis.at(rows)
            return Blocks(basis, self.resources.group)
        if self.basis is None or rows is None:
            return FullBatch(self.features, self.operator, self.basis, rows)
        return FullBatch(self.features, self.operator, self.basis.at(rows))

    def views_of(self, encoder: MultiViewEncoder, nodes: Tensor) -> Tensor:
        """An encoder's views of some nodes, (K, n, d)."""
        basis = self.block_basis if self.in_blocks else self.basis
        if basis is None:
            return next(self.view_pieces(encoder))[:, nodes]
        ascending, places = nodes.unique(return_inverse=True)
        with torch.no_grad():
            return encoder.project(basis.at(ascending).diffused(encoder.filter))[:, places]

    def view_pieces(self, encoder: MultiViewEncoder) -> Iterator[Tensor]:
        """An encoder's views of all nodes, some (K, n, d) at a time, or all at once."""
        if self.in_blocks:
            yield from view_pieces(encoder, self.block_basis)
            return
        with torch.no_grad():
            yield encoder(self.features, self.operator, self.basis)


def prepare(
    model: "FDMVGCL", graph: Graph, order_of_work: Order | None, resources: Resources, structure: StructureUse
) -> Prepared:
    """Every decision that a fit of this model on this graph takes."""
    settings, told = model.diffusion, []
    table = graph.without_features() if structure == "only" else graph
    if structure == "none" and table.features is None:
        raise ArgumentError("structure", "must be auto or only for a graph without features, got 'none'")
    operator = _operator(model, graph)
    # Joins are made of the features, which would foretell themselves through them.
    edges = _operator_of(model, graph) if settings.joins else operator
    transform = FeatureTransform.fit(table, model.feature_settings.scaling, operator=edges, seed=int(model.seed))
    if transform.columns and model.feature_settings.scaling == "auto":
        told.append(_SCALINGS_TOLD[transform.scaling])
    open_yet = settings.skip == "auto" or structure == "auto"
    found = _foresight(model, table, transform, edges) if open_yet else None
    skip, weight = _skip(settings, found, told)
    reason, longer = _structure(transform, table, structure, found)
    if reason and transform.structure is None:
        made = Structure.fit(graph, operator, int(model.seed))
        transform = transform.with_structure(graph, made, longer)
    if reason:
        told.append(f"{reason}: {transform.width - transform.columns} columns are made of the edges")
    if model.feature_settings.centre:
        transform = transform.centred(table)
    scaling = suggested_view_scaling(transform) if settings.view_scaling == "auto" else settings.view_scaling
    anchored = _anchored(model, graph.num_nodes, transform, scaling, told)
    spec = make_spec(settings, model.time, skip, weight)
    work = workload(model, graph, transform, spec)
    order, work = choose_order(model, graph.directed, spec, work, order_of_work, resources)
    told.append(_ORDERS_TOLD[order] + ("" if order_of_work or order == "blocks" else ", the faster way here"))
    if order == "blocks" and settings.basis_dtype == "float16":
        off = half_error(modes_of(spec, model.schedule.smallest_alpha))
        told.append(f"they are kept in half precision, off by at most {off:.1e} of the largest that a column can be")
    chosen = Chosen(transform, skip, weight, scaling, order, tuple(told), graph.encoding, anchored)
    memory = training_bytes(work, order, resources) + _stepping_bytes(model, graph, spec)
    return assemble(model, graph, chosen, memory, operator, resources)


def _foresight(model: "FDMVGCL", graph: Graph, transform: FeatureTransform, operator: Operator) -> Foresight | None:
    """What the features foretell of each other; None for too few columns or nodes to tell."""
    if transform.columns < 2 or graph.num_nodes < FEWEST_NODES:
        return None

    def blur(x: Tensor) -> Tensor:
        return diffuse(operator, x, 0.5, model.time)

    return foresight(transform.scaled(graph), blur)


def _skip(settings: Diffusion, found: Foresight | None, told: list[str]) -> tuple[int, float]:
    """Rounds of skip-connection, and the share that each keeps."""
    weight = 1.0 if settings.skip_weight is None else float(settings.skip_weight)
    if settings.skip != "auto":
        return int(settings.skip), weight
    # Other dynamics have terms of their own that hold on to the start.
    share = 0.0 if found is None or found.best < NOISE or settings.dynamics != LINEAR else found.share
    if share:
        told.append(f"features are kept undiffused too, with weight {share:g}: so they foretell most of each other")
        return 1, share if settings.skip_weight is None else weight
    if settings.learn_skip:
        warnings.warn("learn_skip has nothing to learn: skip='auto' found no need of a skip-connection", stacklevel=5)
    return 0, weight


def _structure(
    transform: FeatureTransform, graph: Graph, use: StructureUse, found: Foresight | None
) -> tuple[str, float]:
    """Why there are structural columns, and how much longer than the others they are; "" where they are left out."""
    if not transform.columns:
        return "no features" if use == "auto" else "features are left out", 1.0
    if use == "none":
        return "", 0.0
    if found is None or found.best < NOISE:
        return "the features foretell nothing of each other", BESIDE_NOISE
    if transform.columns < COLUMNS and assortativity(graph, graph.features) < UNSHARED:
        return f"neighbours hardly share the {transform.columns} columns of features", BESIDE_UNSHARED
    return "", 0.0


def _anchored(model: "FDMVGCL", nodes: int, transform: FeatureTransform, scaling: ViewScaling, told: list[str]) -> int:
    """How many columns are anchored; none where lengths of rows are kept, which the leading components would be."""
    if scaling != "rows" or model.diffusion.dynamics != LINEAR:
        return 0
    anchored = min(int(model.feature_settings.anchor * model.dim), transform.width, nodes)
    if anchored:
        told.append(f"{anchored} of {model.dim} columns are the features' principal components, diffused, not trained")
    return anchored


def assemble(
    model: "FDMVGCL",
    graph: Graph,
    chosen: Chosen,
    memory: int = 0,
    operator: Operator | None = None,
    resources: Resources | None = None,
) -> Prepared:
    """A graph by decisions that were taken before, on this graph or another."""
    settings = model.diffusion
    if chosen.encoding is not None:
        graph = graph.encoded(chosen.encoding)
    if graph.features is not None and not chosen.features.columns and model.feature_settings.structure != "only":
        raise UserError(f"the model was trained without features, got a graph with {graph.num_features}")
    return Prepared(
        graph,
        chosen,
        FeatureMatrix.of(*chosen.features.apply(graph, model.device)),
        (_operator(model, graph) if operator is None else operator).to(model.device),
        make_spec(settings, model.time, chosen.skip, chosen.skip_weight),
        model.schedule.smallest_alpha,
        memory,
        Resources() if resources is None else resources,
        _DTYPES[settings.basis_dtype],
    )


def _operator(model: "FDMVGCL", graph: Graph) -> Operator:
    return _operator_of(model, with_joins(graph, model.diffusion.joins))


def _operator_of(model: "FDMVGCL", graph: Graph) -> Operator:
    prototype = prototype_of(model.diffusion, model.dim) or Dynamics()
    normalisation = model.diffusion.normalisation or prototype.normalisation
    return graph.operator(normalisation, model.diffusion.self_loops or prototype.self_loops)


def prototype_of(settings: Diffusion, dim: int) -> Dynamics | None:
    """The dynamics of one view as they begin; None for the linear ones."""
    return make_dynamics(settings.dynamics, dim, torch.Generator())


def make_spec(settings: Diffusion, time: float, skip: int, skip_weight: float = 1.0) -> Filter:
    """The filter of all orders from 0.01 to 1, checked; ``scheme="exact"`` is a stepping one for other dynamics."""
    scheme, step = settings.scheme, settings.step
    if settings.dynamics != LINEAR:
        scheme, step = stepping(scheme, step, time)
    ends = torch.tensor([0.01, 1.0])
    return make_filter(ends, time, scheme=scheme, step=step, skip=skip, skip_weight=skip_weight, rate=settings.rate)


def choose_order(
    model: "FDMVGCL", directed: bool, spec: Filter, work: Workload, asked: Order | None, resources: Resources
) -> tuple[Order, Workload]:
    """The order of work, and the work with what the basis then holds.

    Modes serve where all terms do not fit, and blocks of rows where nothing does that works on all rows at once, or
    where several processes are to share in them.
    """
    settings = model.diffusion
    if asked not in (None, *ORDERS):
        raise ArgumentError("order_of_work", f"must be one of {(None, *ORDERS)}, got {asked!r}")
    if asked not in (None, "project") and settings.dynamics != LINEAR:
        raise ArgumentError("order_of_work", f"must be 'project' for non-linear dynamics, got {asked!r}")
    learnt = settings.learn_time or settings.learn_skip or settings.learn_rate
    if directed or learnt or settings.dynamics != LINEAR:
        return "project", work  # the basis serves undirected graphs, linear dynamics, and a degree known beforehand
    if asked in ("project", "diffuse"):
        return asked, work
    at_once = work.faster_order(resources.memory) if asked is None else "project"
    if asked is None and work.fits(resources.memory) and not _too_large(work, at_once, resources):
        return at_once, work
    modes = modes_of(spec, model.schedule.smallest_alpha)
    if modes is None and asked == "interpolate":
        raise ArgumentError("order_of_work", "must not be 'interpolate': no few orders stand for all others here")
    fewer = replace(work, modes=None if modes is None else len(modes))
    if asked is not None:
        return asked, kept_in_blocks(model, fewer) if asked == "blocks" else fewer
    order: Order = "interpolate" if modes is not None and fewer.faster_order(resources.memory) == "diffuse" else at_once
    if not _too_large(fewer, order, resources):
        return (order, fewer) if order == "interpolate" else (order, work)
    return ("blocks", kept_in_blocks(model, fewer)) if model.made_loss.takes_blocks else (order, work)


def kept_in_blocks(model: "FDMVGCL", work: Workload) -> Workload:
    """With the numbers that the basis is kept in there."""
    return replace(work, kept=_DTYPES[model.diffusion.basis_dtype].itemsize)


def _too_large(work: Workload, order: Order, resources: Resources) -> bool:
    return resources.group.size > 1 or work.training_bytes(order) > resources.memory


def training_bytes(work: Workload, order: Order, resources: Resources) -> int:
    """Roughly what training takes at its peak besides time stepping."""
    kept = order == "blocks" and not resources.stores(work.basis_bytes)
    return work.training_bytes(order) + (work.basis_bytes if kept else 0)


def modes_of(spec: Filter, smallest_alpha: float) -> Modes | None:
    """For every order that training can come to, from those that it begins with."""
    least = min(smallest_alpha, float(spec.alpha.min()))
    return choose_modes(spec, smallest_alpha=least, tolerance=TOLERANCE[torch.float32])


def workload(model: "FDMVGCL", graph: Graph, transform: FeatureTransform, spec: Filter) -> Workload:
    """What an epoch's cost depends on."""
    width, dense = transform.width, not transform.columns or isinstance(graph.features, np.ndarray)
    entries = graph.num_nodes * width
    if not dense:
        entries = graph.features.nnz + graph.num_nodes * (width - transform.columns)  # type: ignore[union-attr]
    degree = chebyshev_coefficients(spec, TOLERANCE[torch.float32]).shape[1] - 1
    nnz = graph.adjacency.nnz + graph.num_nodes
    return Workload(graph.num_nodes, nnz, width, entries, dense, model.dim, model.views, degree)


def _stepping_bytes(model: "FDMVGCL", graph: Graph, spec: Filter) -> int:
    prototype = prototype_of(model.diffusion, model.dim)
    if prototype is None:
        return 0
    assert spec.step is not None
    steps = count_steps(model.time, spec.step, stretch=True)
    return held_bytes(prototype, graph.num_nodes, model.dim, steps * model.views * max(1, spec.skip))
