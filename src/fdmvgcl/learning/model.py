"""FDMVGCL: the estimator. Fit on a graph, get embeddings, keep the model, embed new nodes later."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from torch import Tensor

from fdmvgcl.diffusion.cost import Order
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.dynamics import Factory, describe_dynamics
from fdmvgcl.errors import ArgumentError, near_misses
from fdmvgcl.files import StrPath
from fdmvgcl.fractional._checks import count_steps
from fdmvgcl.fractional.response import EXACT, warn_if_unstable
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.inputs import as_graph, check_alone
from fdmvgcl.graphs.node_ids import Ids
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning import settings as s
from fdmvgcl.learning.batches import drawn_rows
from fdmvgcl.learning.encoder import MultiViewEncoder
from fdmvgcl.learning.graph_level import embed_graphs, told_sample, training_sample, view_graphs
from fdmvgcl.learning.keyed import check_form, column_names, keyed
from fdmvgcl.learning.prepare import Chosen, Prepared, assemble, make_spec, prepare, prototype_of
from fdmvgcl.learning.settings import Diffusion, Features, Readout, Schedule
from fdmvgcl.learning.training import Build, Observer, Trainer, initial_orders
from fdmvgcl.learning.view_scaling import norms_of_pieces, scale_views, view_norms
from fdmvgcl.learning.whitening import principal_axes, whitening
from fdmvgcl.losses import Loss, describe_loss, make_loss

Listener = Callable[[Trainer, dict[str, Any]], None]


class FDMVGCL(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """Label-free node embeddings by multi-view fractional diffusion.

    K encoders project the features, diffuse them with a learnable fractional order each, and are trained to agree
    between neighbouring views; views whose orders meet are pruned; the embedding is the weighted sum of the views.

    Given a :class:`~fdmvgcl.GraphSet`, it makes one vector a graph: marks of structure go beside the features, training
    sees at most 20 000 nodes, and the nodes' vectors are read out.

    ``fit``, ``transform`` and their kin take a :class:`~fdmvgcl.Graph`, a SciPy matrix, a graph of NetworkX, igraph or
    PyTorch Geometric, or a table of edges; see :func:`fdmvgcl.graphs.inputs.as_graph`. What they return is keyed by the
    nodes' ids after :meth:`set_output`.

    Args:
        dim: width of the embedding.
        views: number K of views to begin with; one, of order 0.7, where there are no epochs.
        epochs: of each training phase.
        time: diffusion time T. Larger reaches further.
        diffusion: what happens within a view; see :class:`~fdmvgcl.learning.settings.Diffusion`.
        loss: between neighbouring views: ``"regularised-cosmean"``, ``"cosmean"``, ``"euclidean"``, ``"barlow-twins"``,
            ``"vicreg"`` or ``"cca-ssg"``, or an instance such as ``RegularisedCosmean(eta=0.1)``, perhaps of a class of
            one's own; see :mod:`fdmvgcl.losses`.
        schedule: how fast to train, when to stop and to prune; see :class:`~fdmvgcl.learning.settings.Schedule`.
        features: how features go in, a :class:`~fdmvgcl.learning.settings.Features`, or its ``scaling`` alone.
        readout: how nodes' vectors become one where many graphs are given, a
            :class:`~fdmvgcl.learning.settings.Readout`, or its ``kind`` alone: ``"sum-over-root"`` (of the number of
            nodes), ``"sum"``, ``"mean"``, ``"max"``, ``"mean+deviation"``.
        seed: the same seed, thread count and machine give the same bytes.
        device: where to compute.

    Attributes:
        alphas_: learnt orders, ascending as trained, shape (K̃,).
        betas_: weights of the views in the sum; uniform, as no labels are seen.
        history_: one record an epoch.
        chosen_: what the graph decided where a setting left it open, with reasons.
        n_features_in_: columns of the features.
    """

    def __init__(
        self,
        dim: int = s.DIM,
        views: int = s.VIEWS,
        epochs: int = s.EPOCHS,
        time: float = s.TIME,
        *,
        diffusion: Diffusion = Diffusion(),  # noqa: B008, it is frozen
        loss: str | Loss = s.LOSS,
        schedule: Schedule = Schedule(),  # noqa: B008
        features: str | Features = "auto",
        readout: str | Readout = s.READOUT,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self.dim = dim
        self.views = views
        self.epochs = epochs
        self.time = time
        self.diffusion = diffusion
        self.loss = loss
        self.schedule = schedule
        self.features = features
        self.readout = readout
        self.seed = seed
        self.device = device

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "FDMVGCL":
        """From settings as files have them: ``{"dim": 64, "schedule": {"lr": 0.01}}`` or ``{"schedule.lr": 0.01}``."""
        return cls(**s.arguments(settings))

    # -- parameters ---------------------------------------------------------------------------------------------------

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the result, by room, as JSON can hold it."""
        return {
            "dim": int(self.dim),
            "views": int(self.views),
            "epochs": int(self.epochs),
            "time": float(self.time),
            "diffusion": _plain(self.diffusion.get_params() | {"dynamics": describe_dynamics(self.diffusion.dynamics)}),
            "loss": _plain(describe_loss(self.loss)),
            "schedule": _plain(self.schedule.get_params()),
            "features": _plain(self.feature_settings.get_params()),
            "readout": _plain(self.readout_settings.get_params()),
            "seed": int(self.seed),
        }

    @property
    def feature_settings(self) -> Features:
        """``features``, of which the scaling alone may have been given."""
        return self.features if isinstance(self.features, Features) else Features(scaling=self.features)  # type: ignore[arg-type]

    @property
    def readout_settings(self) -> Readout:
        """``readout``, of which the kind alone may have been given."""
        return self.readout if isinstance(self.readout, Readout) else Readout(kind=self.readout)  # type: ignore[arg-type]

    @property
    def made_loss(self) -> Loss:
        """``loss``, of which the name alone may have been given."""
        return self.loss if isinstance(self.loss, Loss) else make_loss(self.loss)

    def set_params(self, **params: Any) -> Self:
        """As scikit-learn has it; ``schedule__lr=0.01`` replaces the schedule by one with that rate."""
        known = self.get_params(deep=False)
        for name, value in params.items():
            outer, inside, inner = name.partition("__")
            if outer not in known:
                raise ArgumentError(outer, f"is no parameter of FDMVGCL{near_misses(outer, known)}")
            if inside:
                whole = {"features": self.feature_settings, "readout": self.readout_settings}
                current = whole.get(outer, getattr(self, outer))
                if not isinstance(current, s.Settings):
                    raise ArgumentError(name, f"is no parameter: {outer} is {current!r}")
                value = current.changed({inner: value})
            setattr(self, outer, value)
        return self

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, in one :class:`~fdmvgcl.errors.ArgumentError` that names the first."""
        least = 1 if self.epochs == 0 else 2  # one view has no other to be trained with
        for name, lowest in {"dim": 1, "views": least, "epochs": 0, "seed": 0}.items():
            s.check_whole(name, getattr(self, name), lowest)
        if self.seed > s.LARGEST_SEED:
            raise ArgumentError("seed", f"must be at most {s.LARGEST_SEED}, got {self.seed}")
        for name, kind in {"diffusion": Diffusion, "schedule": Schedule}.items():
            if not isinstance(getattr(self, name), kind):
                raise ArgumentError(name, f"must be a {kind.__name__}, got {getattr(self, name)!r}")
        if not isinstance(self.features, str | Features):
            raise ArgumentError("features", f"must be a Features or its scaling, got {self.features!r}")
        if not isinstance(self.readout, str | Readout):
            raise ArgumentError("readout", f"must be a Readout or its kind, got {self.readout!r}")
        _ = self.feature_settings, self.readout_settings
        if not isinstance(self.loss, Loss):
            make_loss(self.loss)
        s.check_positive("time", self.time)
        self._check_device()
        self._check_dynamics()
        make_spec(self.diffusion, self.time, 1 if self.diffusion.skip == "auto" else self.diffusion.skip)

    def _check_device(self) -> None:
        if not isinstance(self.device, str):
            raise ArgumentError("device", f"must be a name such as 'cpu' or 'cuda:1', got {self.device!r}")
        try:
            torch.zeros(1, device=self.device).item()
        except (RuntimeError, AssertionError, NotImplementedError, ImportError, TypeError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise ArgumentError("device", f"{self.device!r} cannot be used here ({reason[:120]})") from None

    def _check_dynamics(self) -> None:
        prototype = prototype_of(self.diffusion, self.dim)
        if prototype is None:
            return
        asked = self.diffusion.normalisation
        if prototype.normalisation is not None and asked not in (None, prototype.normalisation):
            needed = f"must be {prototype.normalisation!r} for {type(prototype).__name__}"
            raise ArgumentError("normalisation", f"{needed}, got {asked!r}")
        spec = make_spec(self.diffusion, self.time, 0)
        assert spec.step is not None
        count_steps(self.time, spec.step, stretch=self.diffusion.learn_time)

    # -- learning -----------------------------------------------------------------------------------------------------

    def prepare(
        self,
        graph: Any,
        *,
        features: Any = None,
        ids: Any = None,
        order_of_work: Order | None = None,
        resources: Resources | None = None,
    ) -> Prepared:
        """Every decision that a fit on this graph takes, once, with its reason; ``fit`` takes what this returns.

        Args:
            graph, features, ids: see :func:`fdmvgcl.graphs.inputs.as_graph`.
            order_of_work: ``"project"`` or ``"diffuse"`` first, or ``"interpolate"``: diffuse at a few orders that
                all others are interpolated of, or ``"blocks"``: the same, and then a block of rows after the other.
                None lets the cost model choose. But for rounding the numbers agree.
            resources: what the work may take, ``Resources(memory=8_000_000_000, scratch=Path("scratch"))``; without it
                half of the machine's memory, and a temporary folder for what does not fit.
        """
        self.check_parameters()
        if isinstance(graph, GraphSet) and self.diffusion.joins:
            raise ArgumentError("joins", f"must be 0 for many graphs: they would join them; got {self.diffusion.joins}")
        sample = training_sample(graph, self.seed) if isinstance(graph, GraphSet) else graph
        # Structural features are those of one graph's nodes; marks, which many graphs have, mean the same in all.
        structure = "none" if isinstance(graph, GraphSet) else self.feature_settings.structure
        made = as_graph(sample, features=features, ids=ids)
        prepared = prepare(self, made, order_of_work, Resources() if resources is None else resources, structure)
        return prepared if sample is graph else prepared.with_sentences(told_sample(graph, sample))

    def fit(
        self,
        graph: Any,
        y: None = None,
        *,
        features: Any = None,
        ids: Any = None,
        on_epoch: Listener | None = None,
        observe: Observer | None = None,
        resume: StrPath | None = None,
    ) -> Self:
        """Learn projections and orders from a graph.

        Args:
            graph, features, ids: see :func:`fdmvgcl.graphs.inputs.as_graph`; or what :meth:`prepare` returned.
            y: ignored, as scikit-learn has it.
            on_epoch: called after each epoch with the trainer and the epoch's record.
            observe: called in each epoch with the views (K, N, dim); what it returns is added to the epoch's record and
                changes nothing else. The way to watch what the model must not know, such as labels.
            resume: a checkpoint that ``Trainer.save`` wrote in a run with the same settings on the same graph.
        """
        self._fit(self._prepared(graph, features, ids), on_epoch, observe, resume)
        return self

    def fit_transform(
        self, graph: Any, y: None = None, *, features: Any = None, ids: Any = None
    ) -> NDArray[np.float32]:
        """``fit`` and then ``transform`` the same graph, whose views are computed once."""
        if isinstance(graph, GraphSet):
            return self.fit(graph, features=features, ids=ids).transform(graph)
        prepared = self._prepared(graph, features, ids)
        return self._keyed(self._combined(self.fit_transform_pieces(prepared)), prepared.graph.ids)

    def fit_transform_views(
        self,
        graph: Any,
        *,
        on_epoch: Listener | None = None,
        observe: Observer | None = None,
        resume: StrPath | None = None,
    ) -> NDArray[np.float32]:
        """``fit`` and then ``transform_views`` the same graph, whose views are computed once."""
        return joined(self.fit_transform_pieces(graph, on_epoch=on_epoch, observe=observe, resume=resume))

    def fit_transform_pieces(
        self,
        graph: Any,
        *,
        on_epoch: Listener | None = None,
        observe: Observer | None = None,
        resume: StrPath | None = None,
    ) -> Iterator[NDArray[np.float32]]:
        """``fit``, and then the views as :meth:`transform_pieces` has them."""
        views = self._fit(self._prepared(graph), on_epoch, observe, resume)
        return map(self._scaled, views)

    def partial_fit(
        self,
        graph: Any,
        y: None = None,
        *,
        features: Any = None,
        ids: Any = None,
        on_epoch: Listener | None = None,
        observe: Observer | None = None,
    ) -> Self:
        """Train on for ``epochs`` from what was learnt, on the same graph or another with the same feature columns.

        Weights and orders go on from where they are; the last phase goes on, and prunes nothing more.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(graph, features=features, ids=ids, on_epoch=on_epoch, observe=observe)
        self.check_parameters()
        sample = training_sample(graph, self.seed) if isinstance(graph, GraphSet) else graph
        prepared = assemble(self, as_graph(sample, features=features, ids=ids), self.chosen_)
        generator = torch.Generator().manual_seed(int(self.seed))
        schedule = replace(self.schedule, merge_width=0.0)
        build = partial(self._build, anchor=self.encoder_.anchor)
        trainer = self._trainer(build, self.encoder_.alpha.detach().cpu(), schedule, generator, observe)
        trainer.go_on(self.encoder_, self.history_)
        self._train(prepared, trainer, on_epoch)
        return self

    def _prepared(self, graph: Any, features: Any = None, ids: Any = None) -> Prepared:
        if isinstance(graph, Prepared):
            check_alone(features, ids, "what prepare returned, which has its own")
            self.check_parameters()
            return graph
        return self.prepare(graph, features=features, ids=ids)

    def _fit(
        self, prepared: Prepared, on_epoch: Listener | None, observe: Observer | None, resume: StrPath | None
    ) -> Iterable[Tensor]:
        self.chosen_ = prepared.chosen
        generator = torch.Generator().manual_seed(int(self.seed))
        build = self._start(prepared)
        trainer = self._trainer(build, initial_orders(self.views), self.schedule, generator, observe)
        if resume is not None:
            trainer.resume(resume, s.dotted(self.settings))
        return self._train(prepared, trainer, on_epoch)

    def trained_rows(self, graph: Graph) -> Tensor | None:
        """Numbers of the nodes that the loss is taken of, None for all: see ``schedule.train_rows``."""
        return drawn_rows(graph.num_nodes, self.schedule.train_rows, int(self.seed))

    def _train(self, prepared: Prepared, trainer: Trainer, on_epoch: Listener | None) -> Iterable[Tensor]:
        """Train to the end; the views of the trained encoder in pieces (K̃, n, dim), not yet scaled."""
        stepped = self.diffusion.scheme != EXACT
        warn_if_unstable(trainer.encoder.filter, prepared.operator.largest_frequency if stepped else 0.0)
        for record in trainer.run(prepared.batch(self.trained_rows(prepared.graph))):
            if on_epoch is not None:
                on_epoch(trainer, record)
        self.encoder_ = trainer.encoder
        self.history_ = trainer.history
        self.betas_ = np.full(len(self.alphas_), 1 / len(self.alphas_), dtype=np.float32)
        if prepared.in_blocks:  # not all at once: made again when they are asked for
            self.view_norms_ = norms_of_pieces(prepared.view_pieces(self.encoder_)).cpu().numpy()
            return prepared.view_pieces(self.encoder_)
        (views,) = prepared.view_pieces(self.encoder_)
        self.view_norms_ = view_norms(views).cpu().numpy()
        return [views]

    # -- using --------------------------------------------------------------------------------------------------------

    def transform(self, graph: Any, *, features: Any = None, ids: Any = None) -> NDArray[np.float32]:
        """Embeddings of a graph's nodes, seen or unseen, shape (N, dim), rows in the order of ``Graph.ids``.

        Of a :class:`~fdmvgcl.GraphSet`, one row a graph in the order of its ids, by the readout.
        """
        if isinstance(graph, GraphSet):
            self._check_fitted()
            check_alone(features, ids)
            return self._keyed(embed_graphs(self, graph), graph.ids)
        prepared = self._assembled(graph, features, ids)
        return self._keyed(self._combined(self.transform_pieces(prepared)), prepared.graph.ids)

    def transform_views(self, graph: Any, *, features: Any = None, ids: Any = None) -> NDArray[np.float32]:
        """The views as they enter the sum (scaled), shape (K̃, N, dim); of a GraphSet, each read out by itself."""
        self._check_fitted()
        if isinstance(graph, GraphSet):
            check_alone(features, ids)
            return view_graphs(self, graph)
        return joined(self.transform_pieces(graph, features=features, ids=ids))

    def transform_rows(
        self, graph: Any, nodes: NDArray[np.int64], *, resources: Resources | None = None
    ) -> NDArray[np.float32]:
        """Rows of :meth:`transform_views` by number, (K̃, n, dim); ``resources`` is what making them may take."""
        self._check_fitted()
        if isinstance(graph, GraphSet):
            return view_graphs(self, graph)[:, nodes]
        prepared = assemble(self, as_graph(graph), self.chosen_, resources=resources)
        return self._scaled(prepared.views_of(self.encoder_, torch.from_numpy(nodes)))

    def transform_pieces(self, graph: Any, *, features: Any = None, ids: Any = None) -> Iterator[NDArray[np.float32]]:
        """The same for some nodes after the other, (K̃, n, dim): where not all views fit the memory, in many pieces."""
        self._check_fitted()
        return map(self._scaled, self._assembled(graph, features, ids).view_pieces(self.encoder_))

    def _assembled(self, graph: Any, features: Any, ids: Any) -> Prepared:
        self._check_fitted()
        if not isinstance(graph, Prepared):
            return assemble(self, as_graph(graph, features=features, ids=ids), self.chosen_)
        check_alone(features, ids, "what prepare returned, which has its own")
        if graph.chosen is self.chosen_:
            return graph
        return assemble(self, graph.graph, self.chosen_, resources=graph.resources)

    def set_output(self, *, transform: str | None = None) -> Self:
        """What ``transform`` and ``fit_transform`` return from now on: vectors keyed by the nodes' ids.

        Args:
            transform: ``"pandas"``: a frame whose index is the ids. ``"polars"``: one with a column ``id`` (in a
                pipeline, whose next step wants nothing but numbers, pandas serves better). ``"arrow"``: a table of
                ``id`` and ``z``, as ``embeddings.parquet`` has it. ``"default"``: the array (N, dim) in the order of
                ``Graph.ids``. None changes nothing.
        """
        if transform is not None:
            check_form(transform)
            self._sklearn_output_config = {"transform": transform}
        return self

    def _keyed(self, z: NDArray[np.float32], ids: Ids) -> NDArray[np.float32]:
        asked = getattr(self, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
        return cast("NDArray[np.float32]", keyed(z, ids, column_names(z.shape[1]), asked))

    def combine(self, views: NDArray[np.float32]) -> NDArray[np.float32]:
        """The embedding (N, dim) of views (K̃, N, dim) from :meth:`transform_views`: their weighted sum."""
        self._check_fitted()
        if len(views) != len(self.betas_):
            raise ArgumentError("views", f"must be the {len(self.betas_)} views of transform_views, got {len(views)}")
        return np.tensordot(self.betas_, views, axes=1).astype(np.float32)

    def operator(self, graph: Graph | GraphSet) -> Operator:
        """Ā that a fitted model diffuses with on this graph, or on the block of many."""
        self._check_fitted()
        return assemble(self, as_graph(graph), self.chosen_).operator

    @property
    def alphas_(self) -> NDArray[np.float64]:
        self._check_fitted()
        return self.encoder_.alpha.detach().cpu().numpy()

    @property
    def n_features_in_(self) -> int:
        self._check_fitted()
        return self.chosen_.features.columns

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``z0``, ``z1``, …: names of the embedding's columns."""
        return np.array(column_names(self.dim), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "encoder_")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("this FDMVGCL must be fitted (or loaded) first")

    def save(self, folder: StrPath) -> None:
        """Write ``config.json`` and ``weights.safetensors`` into a folder; no pickle."""
        from fdmvgcl.learning.model_file import save_model  # it builds models, so it imports this module

        self._check_fitted()
        save_model(self, folder)

    @classmethod
    def load(
        cls, folder: StrPath, device: str | None = None, *, dynamics: Factory | None = None, loss: Loss | None = None
    ) -> "FDMVGCL":
        """Read what :meth:`save` wrote, onto the device that it was trained on or another.

        A model with dynamics or a loss of one's own needs them again, as files hold numbers and never code.
        """
        from fdmvgcl.learning.model_file import load_model

        return load_model(folder, device, dynamics, loss)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _build(
        self, alphas: Tensor, generator: torch.Generator, start: Tensor | None = None, anchor: Tensor | None = None
    ) -> MultiViewEncoder:
        diffusion = self.diffusion
        encoder = MultiViewEncoder(
            self.chosen_.features.width,
            self.dim,
            alphas,
            time=self.time,
            learn_time=diffusion.learn_time,
            scheme=diffusion.scheme,
            step=diffusion.step,
            skip=self.chosen_.skip,
            skip_weight=self.chosen_.skip_weight,
            learn_skip=diffusion.learn_skip,
            rate=diffusion.rate,
            learn_rate=diffusion.learn_rate,
            activation=diffusion.activation,
            initialisation=self.feature_settings.initialisation,
            start=start,
            anchor=anchor,
            dynamics=diffusion.dynamics,
            generator=generator,
        )
        encoder.alpha.requires_grad_(diffusion.learn_alpha)
        return encoder.to(self.device)

    def _start(self, prepared: Prepared) -> Build:
        """What makes a fresh encoder for this graph, from orders and a source of randomness."""
        start, initialisation = None, self.feature_settings.initialisation
        if initialisation == "whitened":
            start = whitening(prepared.operator, prepared.features.dense(), self.time).cpu()
        elif initialisation == "principal" and prepared.chosen.features.width > self.dim:
            start = principal_axes(prepared.features, self.dim).cpu()
        anchored = prepared.chosen.anchored
        anchor = principal_axes(prepared.features, anchored).cpu() if anchored else None
        return partial(self._build, start=start, anchor=anchor)

    def _trainer(
        self,
        build: Build,
        alphas: Tensor,
        schedule: Schedule,
        generator: torch.Generator,
        observe: Observer | None,
    ) -> Trainer:
        combine = partial(_combine_uniformly, self.chosen_)
        return Trainer(build, self.made_loss, combine, self.epochs, schedule, alphas, generator, observe)

    def _combined(self, pieces: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
        """The embedding of views that come in pieces."""
        return np.concatenate([self.combine(piece) for piece in pieces])

    def _scaled(self, views: Tensor) -> NDArray[np.float32]:
        anchored = self.encoder_.anchored
        return scale_views(views, self.chosen_.view_scaling, self.view_norms_, anchored).cpu().numpy()


def joined(pieces: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Views (K, N, d) of their pieces."""
    each = list(pieces)
    return each[0] if len(each) == 1 else np.concatenate(each, axis=1)


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """With Python's own numbers for NumPy's, which JSON does not know."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}


def _combine_uniformly(chosen: Chosen, views: Tensor) -> Tensor:
    """The embedding's rows while training, when the scale of a whole view is taken from the sample itself."""
    return scale_views(views, chosen.view_scaling, view_norms(views), chosen.anchored).mean(0)
