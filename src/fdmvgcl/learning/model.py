"""FDMVGCL: the estimator. Fit on a graph, get embeddings, keep the model, embed new nodes later."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.diffusion.cost import Order, Workload
from fdmvgcl.diffusion.linear import TOLERANCE, diffuse
from fdmvgcl.dynamics import LINEAR, Dynamics, Factory, held_bytes, stepping
from fdmvgcl.files import StrPath
from fdmvgcl.fractional._checks import count_steps
from fdmvgcl.fractional.response import EXACT, chebyshev_coefficients, warn_if_unstable
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.likeness import with_like_edges
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.encoder import Features, MultiViewEncoder, diffusion_basis
from fdmvgcl.learning.features import FeatureTransform, feature_centre, suggested_skip
from fdmvgcl.learning.parameters import Parameters
from fdmvgcl.learning.training import Observer, Schedule, Trainer, initial_orders
from fdmvgcl.learning.view_scaling import scale_views, suggested_view_scaling, view_norms
from fdmvgcl.learning.whitening import whitening
from fdmvgcl.losses import REGULARISED_COSMEAN, make_loss


@dataclass(frozen=True, eq=False)
class _Inputs:
    """A graph as the encoder takes it."""

    features: Features
    operator: Operator
    basis: Tensor | None


class FDMVGCL(Parameters):
    """Label-free node embeddings by multi-view fractional diffusion.

    K encoders project the features, diffuse them with a learnable fractional order each, and are trained to agree
    between neighbouring views; views whose orders meet are pruned; the embedding is the weighted sum of the views.

    Args:
        dim: width of the embedding.
        views: number K of views to begin with.
        epochs: of each training phase.
        time: diffusion time T. Larger reaches further.
        learn_time: learn one time for each view.
        dynamics: the right-hand side F of the equation, a name of ``fdmvgcl.dynamics.DYNAMICS``, or a factory
            ``(dim, generator) -> Dynamics`` of one's own; ``"grand"`` is linear diffusion, the fast one.
        scheme: ``"exact"``, or ``"predictor"``, ``"pece"``, ``"l1"``, ``"gl"``, ``"trapezoid"`` with ``step``. Other
            dynamics than ``"grand"`` have no exact solution: there ``"exact"`` stands for ``"trapezoid"``.
        step: step of a time-stepping scheme; other dynamics than ``"grand"`` have a default, the largest step of at
            most 1 that divides the time into at least 4.
        skip: rounds of skip-connection, which keeps a share of the undiffused features; 0 for none; ``"auto"`` decides
            by how much neighbours' features resemble each other, see :func:`fdmvgcl.learning.features.suggested_skip`.
        skip_weight: how large a share; None is 1, or 10 where ``skip="auto"`` decided for a skip-connection.
        learn_skip: learn that share.
        learn_alpha: learn the orders; otherwise they stay evenly spaced from 0.01 to 1.
        normalisation: of the adjacency, ``"sym"`` or ``"rw"``; ``None`` is ``"sym"``, or ``"rw"`` for directed graphs
            and for dynamics that are defined with it.
        self_loops: weight of the self-loop added to every node; 0 is none, or 1 for attention.
        like_edges: edges added from every node to those whose diffused features are most like its own; 0 adds none. See
            :func:`fdmvgcl.graphs.likeness.with_like_edges`.
        like_weight: weight of such an edge between nodes of equal features.
        loss: between neighbouring views: ``"regularised-cosmean"``, ``"cosmean"``, ``"euclidean"``, ``"barlow-twins"``,
            ``"vicreg"`` or ``"cca-ssg"``; see :mod:`fdmvgcl.losses`.
        eta: weight of the penalty on views with the same dominant direction; of ``"regularised-cosmean"`` alone.
        lr, order_lr, weight_decay: of Adam; ``order_lr`` is for orders, times and the skip's weight.
        activation: ``"leaky"``, ``"relu"`` or ``"identity"``.
        initialisation: of the projections, ``"orthogonal"``, ``"joint"`` (orthogonal between views too: with
            ``views`` times as many columns as features, the sum of views begins as good as their concatenation),
            ``"whitened"`` (as joint, and directions in which neighbours differ count for less, see
            :func:`fdmvgcl.learning.whitening.whitening`) or ``"glorot"``.
        feature_scaling: ``"auto"``, ``"rows"``, ``"columns"``, ``"both"`` or ``"none"``; see :class:`FeatureTransform`.
        centre_features: subtract the mean row of the scaled features. What all nodes share would otherwise make all
            views agree from the start, and training would keep little else.
        view_scaling: before the sum, each view's rows get unit length (``"rows"``), or the view is divided by one
            number (``"view"``), which keeps the differences in length between nodes, or nothing is done (``"none"``);
            ``"auto"`` takes ``"view"`` where the features' magnitudes are kept, else ``"rows"``.
        min_rank: end a phase when the effective rank falls below this share of its start (0: never).
        merge_width: δ of AVLA: orders whose logarithms are closer are one view; 0 never prunes.
        smallest_alpha: ε of AVLA: orders stay in [ε, 1].
        order_of_work: ``"project"`` or ``"diffuse"`` first; None lets the cost model choose. Same numbers either way.
        memory_limit: bytes that a precomputed diffusion basis may take; None is half of the machine's memory.
        seed: the same seed, thread count and machine give the same bytes.
        device: where to compute.

    Attributes:
        alphas_: learnt orders, ascending as trained, shape (K̃,).
        betas_: weights of the views in the sum; uniform, as no labels are seen.
        history_: one record an epoch.
        order_of_work_, skip_, view_scaling_: what was chosen.
    """

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(
        self,
        graph: Graph,
        y: None = None,
        *,
        on_epoch: Callable[[Trainer, dict[str, Any]], None] | None = None,
        observe: Observer | None = None,
        resume: StrPath | None = None,
    ) -> Self:
        """Learn projections and orders from a graph.

        Args:
            graph: the graph.
            y: ignored, as scikit-learn has it.
            on_epoch: called after each epoch with the trainer and the epoch's record.
            observe: called in each epoch with the views (K, N, dim); what it returns is added to the epoch's record and
                changes nothing else. The way to watch what the model must not know, such as labels.
            resume: a checkpoint that ``Trainer.save`` wrote in a run with the same settings on the same graph.
        """
        self.check_parameters()
        self.features_in_ = FeatureTransform.fit(graph, self.feature_scaling)
        self.feature_centre_ = self._centre(graph)
        self.skip_ = self._suggested_skip(graph) if self.skip == "auto" else self.skip
        self.view_scaling_ = (
            suggested_view_scaling(self.features_in_) if self.view_scaling == "auto" else self.view_scaling
        )
        self.order_of_work_ = self.choose_order(graph)
        inputs = self._inputs(graph)
        trainer = self._trainer(inputs, initial_orders(self.views), torch.Generator().manual_seed(self.seed), observe)
        if resume is not None:
            trainer.resume(resume, self.settings)
        return self._train(graph, inputs, trainer, on_epoch)

    def partial_fit(
        self,
        graph: Graph,
        y: None = None,
        *,
        on_epoch: Callable[[Trainer, dict[str, Any]], None] | None = None,
        observe: Observer | None = None,
    ) -> Self:
        """Train on for ``epochs`` from what was learnt, on the same graph or another with the same feature columns."""
        if not hasattr(self, "encoder_"):
            return self.fit(graph, on_epoch=on_epoch, observe=observe)
        self.check_parameters()
        inputs, generator = self._inputs(graph), torch.Generator().manual_seed(self.seed)
        trainer = self._trainer(inputs, self.encoder_.alpha.detach().cpu(), generator, observe)
        trainer.encoder.load_state_dict(self.encoder_.state_dict())
        trainer.history = list(self.history_)
        trainer.phase = 1 + max((record["phase"] for record in self.history_), default=-1)
        return self._train(graph, inputs, trainer, on_epoch)

    def _train(
        self,
        graph: Graph,
        inputs: _Inputs,
        trainer: Trainer,
        on_epoch: Callable[[Trainer, dict[str, Any]], None] | None,
    ) -> Self:
        warn_if_unstable(trainer.encoder.filter, inputs.operator.largest_frequency if self.scheme != EXACT else 0.0)
        for record in trainer.run(inputs.features, inputs.operator, inputs.basis):
            if on_epoch is not None:
                on_epoch(trainer, record)
        self.encoder_ = trainer.encoder
        self.history_ = trainer.history
        self.betas_ = np.full(len(self.alphas_), 1 / len(self.alphas_), dtype=np.float32)
        self.view_norms_ = view_norms(self._views(inputs)).cpu().numpy()
        return self

    # -- using --------------------------------------------------------------------------------------------------------

    def transform(self, graph: Graph) -> NDArray[np.float32]:
        """Embeddings of a graph's nodes, seen or unseen, shape (N, dim), rows in ``graph.ids`` order."""
        return self.combine(self.transform_views(graph))

    def fit_transform(self, graph: Graph, y: None = None) -> NDArray[np.float32]:
        """``fit`` and then ``transform`` the same graph."""
        return self.fit(graph).transform(graph)

    def transform_views(self, graph: Graph) -> NDArray[np.float32]:
        """The views as they enter the sum (scaled), shape (K̃, N, dim)."""
        if not hasattr(self, "encoder_"):
            raise ValueError("this FDMVGCL must be fitted (or loaded) before it can transform")
        return scale_views(self._views(self._inputs(graph)), self.view_scaling_, self.view_norms_).cpu().numpy()

    def combine(self, views: NDArray[np.float32]) -> NDArray[np.float32]:
        """The embedding (N, dim) of views (K̃, N, dim) from :meth:`transform_views`: their weighted sum."""
        return np.tensordot(self.betas_, views, axes=1).astype(np.float32)

    def operator(self, graph: Graph) -> Operator:
        """Ā that a fitted model diffuses with on this graph, the edges that it adds among the others."""
        operator = self._operator(graph)
        if not self.like_edges:
            return operator
        rows = diffuse(operator, self._features(graph).dense(), 0.5, 3.0).cpu()
        return self._operator(with_like_edges(graph, rows, self.like_edges, self.like_weight))

    @property
    def alphas_(self) -> NDArray[np.float64]:
        return self.encoder_.alpha.detach().cpu().numpy()

    def memory_estimate(self, graph: Graph) -> int:
        """Bytes that training on this graph takes at its peak, roughly."""
        work = self._workload(graph)
        rounds = max(1, self._most_rounds)
        stepping_bytes = 0
        if self._prototype is not None:
            steps = count_steps(self.time, stepping(self.scheme, self.step, self.time)[1], stretch=True)
            stepping_bytes = held_bytes(self._prototype, work.nodes, self.dim, steps * self.views * rounds)
        return work.training_bytes(self.choose_order(graph)) + stepping_bytes

    def save(self, folder: StrPath) -> None:
        """Write ``config.json`` and ``weights.safetensors`` into a folder; no pickle."""
        from fdmvgcl.learning.model_file import save_model  # it builds models, so it imports this module

        save_model(self, folder)

    @classmethod
    def load(cls, folder: StrPath, device: str | None = None, *, dynamics: Factory | None = None) -> "FDMVGCL":
        """Read what :meth:`save` wrote, onto the device that it was trained on or another.

        A model with dynamics of one's own needs their factory again, as files hold numbers and never code.
        """
        from fdmvgcl.learning.model_file import load_model

        return load_model(folder, device, dynamics)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _workload(self, graph: Graph) -> Workload:
        transform = FeatureTransform.fit(graph, self.feature_scaling)
        sparse = graph.features is not None and not isinstance(graph.features, np.ndarray)
        entries = graph.features.nnz if sparse else graph.num_nodes * transform.columns  # type: ignore[union-attr]
        spec = self._filter(torch.tensor([0.01, 1.0]), self._most_rounds)
        degree = chebyshev_coefficients(spec, TOLERANCE[torch.float32]).shape[1] - 1
        nnz = graph.adjacency.nnz + graph.num_nodes * (1 + 2 * min(self.like_edges, graph.num_nodes))
        return Workload(graph.num_nodes, nnz, transform.columns, entries, not sparse, self.dim, self.views, degree)

    def choose_order(self, graph: Graph) -> Order:
        """The order of work that a fit on this graph takes."""
        if graph.directed or self.learn_time or self.learn_skip or self.dynamics != LINEAR:
            return "project"  # the basis serves undirected graphs, linear dynamics, and a degree known beforehand
        return self.order_of_work or self._workload(graph).faster_order(self.memory_limit)

    def _inputs(self, graph: Graph) -> _Inputs:
        features, operator = self._features(graph), self.operator(graph)
        basis = None
        if self.order_of_work_ == "diffuse" and not graph.directed:
            spec = self._filter(initial_orders(2), self.skip_)
            basis = diffusion_basis(features, operator, spec, smallest_alpha=self.smallest_alpha)
        return _Inputs(features, operator, basis)

    def _features(self, graph: Graph) -> Features:
        centre = None if self.feature_centre_ is None else torch.from_numpy(self.feature_centre_).to(self.device)
        return Features.of(self.features_in_.apply(graph).to(self.device), centre)

    def _operator(self, graph: Graph) -> Operator:
        prototype = self._prototype or Dynamics()
        return graph.operator(
            self.normalisation or prototype.normalisation, self.self_loops or prototype.self_loops
        ).to(self.device)

    def _build(self, alphas: Tensor, generator: torch.Generator, start: Tensor | None = None) -> MultiViewEncoder:
        encoder = MultiViewEncoder(
            self.features_in_.columns,
            self.dim,
            alphas,
            time=self.time,
            learn_time=self.learn_time,
            scheme=self.scheme,
            step=self.step,
            skip=self.skip_,
            skip_weight=self._share,
            learn_skip=self.learn_skip,
            activation=self.activation,
            initialisation=self.initialisation,
            start=start,
            dynamics=self.dynamics,
            generator=generator,
        )
        encoder.alpha.requires_grad_(self.learn_alpha)
        return encoder.to(self.device)

    def _trainer(
        self, inputs: _Inputs, alphas: Tensor, generator: torch.Generator, observe: Observer | None
    ) -> Trainer:
        start = None
        if self.initialisation == "whitened":
            start = whitening(inputs.operator, inputs.features.dense(), self.time).cpu()
        schedule = Schedule(
            epochs=self.epochs,
            lr=self.lr,
            order_lr=self.order_lr,
            weight_decay=self.weight_decay,
            smallest_alpha=self.smallest_alpha,
            merge_width=self.merge_width,
            min_rank=self.min_rank,
        )
        loss = make_loss(self.loss, **({"eta": self.eta} if self.loss == REGULARISED_COSMEAN else {}))
        build = partial(self._build, start=start)
        return Trainer(build, loss, self._combine_uniformly, schedule, alphas, generator, observe)

    def _views(self, inputs: _Inputs) -> Tensor:
        with torch.no_grad():
            return self.encoder_(inputs.features, inputs.operator, inputs.basis)

    def _centre(self, graph: Graph) -> NDArray[np.float32] | None:
        if not self.centre_features or self.features_in_.substitute:
            return None
        return feature_centre(self.features_in_.apply(graph))

    def _suggested_skip(self, graph: Graph) -> int:
        # Other dynamics have terms of their own that hold on to the start.
        rounds = suggested_skip(graph, self.features_in_) if self.dynamics == LINEAR else 0
        if self.learn_skip and rounds == 0:
            warnings.warn(
                "learn_skip has nothing to learn: skip='auto' found no need of a skip-connection", stacklevel=3
            )
        return rounds

    def _combine_uniformly(self, views: Tensor) -> Tensor:
        """The embedding's rows while training, when the scale of a whole view is taken from the sample itself."""
        return scale_views(views, self.view_scaling_, view_norms(views)).mean(0)
