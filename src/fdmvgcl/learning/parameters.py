"""What an FDMVGCL is made with, and which of it cannot be."""

import math
from typing import Any, Literal

import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from fdmvgcl.diffusion.cost import Order
from fdmvgcl.diffusion.linear import make_filter
from fdmvgcl.dynamics import LINEAR, Dynamics, Factory, describe_dynamics, make_dynamics, stepping
from fdmvgcl.fractional._checks import count_steps
from fdmvgcl.fractional.response import EXACT, Filter
from fdmvgcl.graphs.operators import Normalisation
from fdmvgcl.learning.encoder import ACTIVATIONS, INITIALISATIONS, Activation, Initialisation
from fdmvgcl.learning.features import SUGGESTED_SKIP_WEIGHT, FeatureScaling
from fdmvgcl.learning.training import initial_orders
from fdmvgcl.learning.view_scaling import VIEW_SCALINGS, ViewScaling
from fdmvgcl.losses import LOSSES, REGULARISED_COSMEAN

Skip = int | Literal["auto"]


class Parameters(BaseEstimator):
    """The parameters of :class:`fdmvgcl.FDMVGCL`, which says what each means."""

    def __init__(
        self,
        dim: int = 512,
        views: int = 5,
        epochs: int = 20,
        *,
        time: float = 3.0,
        learn_time: bool = False,
        dynamics: str | Factory = LINEAR,
        scheme: str = EXACT,
        step: float | None = None,
        skip: Skip = "auto",
        skip_weight: float | None = None,
        learn_skip: bool = False,
        learn_alpha: bool = True,
        normalisation: Normalisation | None = None,
        self_loops: float = 0.0,
        like_edges: int = 0,
        like_weight: float = 1.0,
        loss: str = REGULARISED_COSMEAN,
        eta: float = 0.05,
        lr: float = 0.002,
        order_lr: float = 0.01,
        weight_decay: float = 0.0,
        activation: Activation = "leaky",
        initialisation: Initialisation = "orthogonal",
        feature_scaling: FeatureScaling = "auto",
        centre_features: bool = True,
        view_scaling: ViewScaling = "auto",
        min_rank: float = 0.75,
        merge_width: float = 1e-4,
        smallest_alpha: float = 1e-4,
        order_of_work: Order | None = None,
        memory_limit: int | None = None,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self.dim = dim
        self.views = views
        self.epochs = epochs
        self.time = time
        self.learn_time = learn_time
        self.dynamics = dynamics
        self.scheme = scheme
        self.step = step
        self.skip = skip
        self.skip_weight = skip_weight
        self.learn_skip = learn_skip
        self.learn_alpha = learn_alpha
        self.normalisation = normalisation
        self.self_loops = self_loops
        self.like_edges = like_edges
        self.like_weight = like_weight
        self.loss = loss
        self.eta = eta
        self.lr = lr
        self.order_lr = order_lr
        self.weight_decay = weight_decay
        self.activation = activation
        self.initialisation = initialisation
        self.feature_scaling = feature_scaling
        self.centre_features = centre_features
        self.view_scaling = view_scaling
        self.min_rank = min_rank
        self.merge_width = merge_width
        self.smallest_alpha = smallest_alpha
        self.order_of_work = order_of_work
        self.memory_limit = memory_limit
        self.seed = seed
        self.device = device

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the result, as JSON can hold it."""
        values = self.get_params() | {"dynamics": describe_dynamics(self.dynamics)}
        return {name: value for name, value in values.items() if name not in ("device", "memory_limit")}

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, in one ValueError that names the first."""
        for name, lowest in {"dim": 1, "views": 2, "like_edges": 0}.items():
            if not isinstance(getattr(self, name), int) or getattr(self, name) < lowest:
                raise ValueError(f"{name} must be a whole number of at least {lowest}, got {getattr(self, name)!r}")
        choices = {
            "loss": tuple(LOSSES),
            "activation": tuple(ACTIVATIONS),
            "initialisation": INITIALISATIONS,
            "view_scaling": VIEW_SCALINGS,
            "order_of_work": (None, "project", "diffuse"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        for name in ("eta", "skip_weight", "self_loops", "like_weight", "step"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
        if self.learn_skip and self.skip == 0:
            raise ValueError("learn_skip must be left out without a skip-connection, whose weight it learns: skip is 0")
        self._check_dynamics()
        self._filter(initial_orders(self.views), self._most_rounds)

    def _check_dynamics(self) -> None:
        prototype = self._prototype
        if prototype is None:
            return
        if self.order_of_work == "diffuse":
            raise ValueError("order_of_work must be 'project' for non-linear dynamics, got 'diffuse'")
        if prototype.normalisation is not None and self.normalisation not in (None, prototype.normalisation):
            raise ValueError(
                f"normalisation must be {prototype.normalisation!r} for {type(prototype).__name__}, "
                f"got {self.normalisation!r}"
            )
        count_steps(self.time, stepping(self.scheme, self.step, self.time)[1], stretch=self.learn_time)

    @property
    def _prototype(self) -> Dynamics | None:
        """The dynamics of one view as they begin; None for the linear ones."""
        return make_dynamics(self.dynamics, self.dim, torch.Generator())

    def _filter(self, alphas: Tensor, rounds: int) -> Filter:
        scheme, step = self.scheme, self.step
        if self.dynamics != LINEAR:
            scheme, step = stepping(scheme, step, self.time)
        return make_filter(alphas, self.time, scheme=scheme, step=step, skip=rounds, skip_weight=self._share)

    @property
    def _share(self) -> float:
        if self.skip_weight is None:
            return SUGGESTED_SKIP_WEIGHT if self.skip == "auto" else 1.0
        return self.skip_weight

    @property
    def _most_rounds(self) -> int:
        return 1 if self.skip == "auto" else self.skip
