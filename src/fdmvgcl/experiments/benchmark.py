"""A data set made ready for runs: embed with some settings, probe, and tell it as a record."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.datasets import Dataset, Split, load
from fdmvgcl.evaluation import Outcome, Search, Trial, evaluate
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.training import Observer
from fdmvgcl.learning.view_scaling import scale_views, view_norms

Settings = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A data set, its graph, and the splits that are used."""

    dataset: Dataset
    graph: Graph

    @property
    def splits(self) -> tuple[Split, ...]:
        return self.dataset.splits

    def probe(
        self,
        views: Sequence[NDArray[np.float32]],
        splits: Sequence[int] | None = None,
        *,
        tune: bool = False,
    ) -> list[Outcome]:
        """The protocol on one embedding: for each split, choices by its validation nodes, then its test score."""
        chosen = self.splits if splits is None else [self.splits[i] for i in splits]
        return evaluate(
            [Trial({}, lambda: views)],
            self.dataset.labels,
            chosen,
            metric=self.dataset.metric,
            search=Search(tune_weights=tune, screen=True),
        )


@cache
def benchmark(name: str) -> Benchmark:
    """The data set of this name, read once."""
    dataset = load(name)
    return Benchmark(dataset, dataset.graph())


@dataclass(frozen=True, eq=False)
class Embedded:
    """What a fit leaves: views (K̃, N, d) ready to be summed, learnt orders, epochs run, and seconds of training."""

    views: NDArray[np.float32]
    model: FDMVGCL
    seconds: float

    def told(self) -> dict[str, Any]:
        """As a record holds it."""
        history = self.model.history_
        return {
            "alphas": [float(alpha) for alpha in self.model.alphas_],
            "epochs_run": len(history),
            "effective_rank": [r["effective_rank"] for r in (history[:1] + history[-1:])],
            "train_seconds": self.seconds,
        }


def embed(graph: Graph, settings: Settings, seed: int, observe: Observer | None = None) -> Embedded:
    """Fit and transform with these settings over the defaults."""
    started = time.perf_counter()
    model = FDMVGCL.from_settings({**settings, "seed": seed})
    views = model.fit_transform_views(graph, observe=observe)
    return Embedded(views, model, time.perf_counter() - started)


def embed_with_start(graph: Graph, settings: Settings, seed: int) -> tuple[Embedded, NDArray[np.float32]]:
    """:func:`embed`, and the views of the same encoder before its first step, (K, N, d), ready to be summed too."""
    found: dict[int, Tensor] = {}
    embedded = embed(graph, settings, seed, after_steps((0,), Tensor.clone, found))
    start, chosen = found[0], embedded.model.chosen_
    return embedded, scale_views(start, chosen.view_scaling, view_norms(start), chosen.anchored).numpy()


def after_steps(grid: Collection[int], probe: Callable[[Tensor], Any], found: dict[int, Any]) -> Observer:
    """For ``fit(observe=…)``: puts ``probe(views)`` into ``found`` after each number of steps in the grid."""
    seen = -1

    def observe(views: Tensor) -> dict[str, Any]:
        nonlocal seen
        seen += 1  # called before the epoch's step
        if seen in grid:
            found[seen] = probe(views)
        return {}

    return observe


def beside_untrained(bench: Benchmark, settings: Settings, seed: int) -> dict[str, Any]:
    """A record of these settings and of the same encoder before training, β tuned split by split for both."""
    trained, start = embed_with_start(bench.graph, settings, seed)
    return {
        "settings": trained.model.settings,
        **trained.told(),
        **scored(bench.probe(list(trained.views), tune=True)),
        "untrained": scored(bench.probe(list(start), tune=True)),
    }


def scored(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Test scores and what was chosen before they were read, split by split."""
    return {
        "test": [outcome.test for outcome in outcomes],
        "validation": [outcome.choice.validation for outcome in outcomes],
        "choices": [_choice(outcome) for outcome in outcomes],
    }


def _choice(outcome: Outcome) -> dict[str, Any]:
    choice = outcome.choice
    told: dict[str, Any] = {"normalise": choice.normalise, "penalty": choice.penalty}
    if choice.settings:
        told["settings"] = dict(choice.settings)
    if len(set(choice.beta)) > 1:
        told["beta"] = [round(weight, 4) for weight in choice.beta]
    return told
