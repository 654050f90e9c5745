"""What all methods meet, FD-MVGCL too: settings in the constructor, ``fit`` and ``transform`` on a graph, a history."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.inputs import as_graph
from fdmvgcl.learning.settings import FEATURE_SCALINGS, LARGEST_SEED, check_choice, check_number
from fdmvgcl.learning.settings import check_whole as _whole
from fdmvgcl.machine import machine_memory
from fdmvgcl.methods.layers import ACTIVATIONS

Embedding = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """A way to turn a graph into vectors without labels. The same seed, thread count and machine give the same bytes.

    What is set in the constructor is only stored; what is learnt has a name that ends in ``_``.

    Args:
        seed: of everything random.
        settings: all that decides the result, by name, as JSON can hold it.
    """

    seed: int

    @property
    def settings(self) -> dict[str, Any]: ...

    def fit(self, graph: Any) -> Self:
        """Learn from a graph; sets ``history_``, one record an epoch, empty where there are none."""

    def transform(self, graph: Any) -> Embedding:
        """Vectors (N, d) of a graph's nodes, rows in the order of ``Graph.ids``."""

    def fit_transform(self, graph: Any) -> Embedding:
        """``fit`` and then ``transform`` of the same graph."""


def _share(name: str, value: object) -> None:
    check_number(name, value, 0, 1)


def _positive(name: str, value: object) -> None:
    check_number(name, value, 0, float("inf"))
    if value == 0:
        raise ArgumentError(name, "must be more than 0, got 0")


def _at_least(lowest: int) -> Callable[[str, object], None]:
    return lambda name, value: _whole(name, value, lowest)


def _optional(check: Callable[[str, object], None]) -> Callable[[str, object], None]:
    return lambda name, value: None if value is None else check(name, value)


_ONE, _NONE = _at_least(1), _at_least(0)
# A setting of one name means the same in all methods, so that one rule serves them.
RULES: dict[str, Callable[[str, object], None]] = {
    **dict.fromkeys(("dim", "hidden", "layers", "degree", "window", "walks", "length"), _ONE),
    **dict.fromkeys(("epochs", "warm_up"), _NONE),
    "alpha": lambda name, value: check_number(name, value, 1e-4, 1),
    **dict.fromkeys(("patience", "chunk"), _optional(_ONE)),
    **dict.fromkeys(("lr", "filter_lr", "temperature", "time", "return_odds", "outward_odds"), _positive),
    **dict.fromkeys(("drop_edges", "drop_features", "dropout", "feature_dropout", "momentum"), _share),
    **dict.fromkeys(("drop_edges_2", "drop_features_2"), _share),
    **dict.fromkeys(("weight_decay", "filter_weight_decay", "decorrelation"), lambda n, v: check_number(n, v, 0, 1e6)),
    "features": lambda name, value: check_choice(name, value, FEATURE_SCALINGS),
    "activation": lambda name, value: check_choice(name, value, ACTIVATIONS),
    "batch_norm": lambda name, value: check_choice(name, value, (True, False)),
}


def check_settings(settings: dict[str, Any]) -> None:
    """Refuse settings that cannot be, in one :class:`~fdmvgcl.errors.ArgumentError` that names the first."""
    for name, value in settings.items():
        if name == "seed":
            _whole(name, value, 0)
            if value > LARGEST_SEED:
                raise ArgumentError("seed", f"must be at most {LARGEST_SEED}, got {value}")
        else:
            RULES[name](name, value)


class Fitted(BaseEstimator, ABC):  # type: ignore[misc]
    """What embedders and classifiers of this room share: dataclasses whose fields are their settings."""

    seed: int
    history_: list[dict[str, Any]]

    @property
    def settings(self) -> dict[str, Any]:
        return {name: getattr(value, "item", lambda v=value: v)() for name, value in self.get_params().items()}

    def check(self, graph: Any) -> Graph:
        """The graph, unless a setting cannot be or the work does not fit into this machine's memory."""
        check_settings(self.get_params())
        given = as_graph(graph)
        needed, there_is = self.bytes_needed(given), machine_memory()
        if needed > there_is:
            raise UserError(
                f"{type(self).__name__} needs about {needed / 2**30:,.0f} GiB for {given.num_nodes:,} nodes and "
                f"{given.num_edges:,} edges, and this machine has {there_is / 2**30:,.0f} GiB{self.way_out}"
            )
        return given

    way_out = ""  # what to do instead, ": set …"

    @abstractmethod
    def bytes_needed(self, graph: Graph) -> int:
        """Memory at the peak of a fit, roughly."""

    def _check_fitted(self) -> None:
        if not hasattr(self, "history_"):
            raise NotFittedError(f"this {type(self).__name__} must be fitted first")


class Method(TransformerMixin, Fitted):  # type: ignore[misc]
    """The embedders of this room."""

    def fit(self, graph: Any, y: None = None) -> Self:
        """Learn from a graph: anything that :func:`fdmvgcl.graphs.inputs.as_graph` takes."""
        given = self.check(graph)
        self.history_ = []
        self._fit(given)
        return self

    def fit_transform(self, graph: Any, y: None = None) -> Embedding:
        given = as_graph(graph)
        return self.fit(given).transform(given)

    @abstractmethod
    def _fit(self, graph: Graph) -> None: ...

    @abstractmethod
    def transform(self, graph: Any) -> Embedding: ...


class Transductive(Method):
    """A method that has vectors for the nodes it has seen and no way to others."""

    def transform(self, graph: Any) -> Embedding:
        self._check_fitted()
        given = as_graph(graph)
        known, own = self.graph_.adjacency, given.adjacency
        if given.ids != self.graph_.ids or known.nnz != own.nnz or (known != own).nnz:
            raise UserError(f"{type(self).__name__} has vectors for the graph that it was fitted on and for no other")
        return self.embedding_

    def _fit(self, graph: Graph) -> None:
        self.graph_ = graph
        self.embedding_ = np.ascontiguousarray(self._embed(graph), dtype=np.float32)

    @abstractmethod
    def _embed(self, graph: Graph) -> NDArray[np.floating]: ...
