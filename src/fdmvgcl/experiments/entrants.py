"""One method on one data set, whatever kind it is: by default, judged by validation nodes alone, and scored.

Where training nodes are fewer than half of the validation nodes, vectors are judged by the mean score over many draws
of training nodes from both: the score of one draw tells two settings apart by luck rather than by merit. Classifiers,
which would have to be trained for every draw, are judged by the one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Split
from fdmvgcl.errors import ArgumentError, UserError, near_misses
from fdmvgcl.evaluation import COARSE, Trial, choose, hide_test, score
from fdmvgcl.evaluation.fit import FEW
from fdmvgcl.evaluation.metrics import likelihood
from fdmvgcl.experiments.benchmark import Benchmark, Settings, embed, embed_with_start, scored
from fdmvgcl.experiments.budget import too_long, within
from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.redraw import redrawn
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.methods import CLASSIFIERS, METHODS, make_classifier, make_method
from fdmvgcl.methods.registry import OURS

ENTRANTS: tuple[str, ...] = (*METHODS, *CLASSIFIERS)

REDRAWS = 30
# Few training nodes want stronger penalties.
_OF_REDRAWS = replace(COARSE, penalties=(10.0, 1.0, 0.1, 0.01))

Rows = NDArray[np.float32]


class Entrant(Protocol):
    """What a row of a table is made by."""

    def default(self, bench: Benchmark, seed: int) -> Record:
        """By its defaults, which no label has touched, with the test scores of all splits."""

    def judged(self, bench: Benchmark, settings: Settings, seed: int) -> Record:
        """``validation`` and ``criterion`` of every split; no test label is at hand."""

    def tuned(self, bench: Benchmark, settings: Settings, splits: Sequence[int], seed: int) -> tuple[Record, Record]:
        """What is told of the training, and the scores of these splits."""


def entrant(name: str) -> Entrant:
    """The method or supervised reference of this name; :class:`ArgumentError` with the near misses for none."""
    if name not in ENTRANTS:
        raise ArgumentError("method", f"{name!r} is none{near_misses(name, ENTRANTS)}")
    return Classified(name) if name in CLASSIFIERS else embedder(name)


def embedder(name: str) -> "Embedded":
    """The label-free method of this name."""
    return Embedded(_ours if name == OURS else partial(_another, name))


def refusal(name: str, graph: Graph) -> str | None:
    """Why this method is not begun on this graph, for its size or for what is not installed; None where it is."""
    if name == OURS:
        return None
    if told := too_long(name, graph):
        return told
    made: Any = make_classifier(name) if name in CLASSIFIERS else make_method(name)
    try:
        made.check(graph)
    except UserError as error:
        return str(error)
    return None


@dataclass(frozen=True, eq=False)
class Vectors:
    """What a method made: views whose weighted sum is the embedding, and their plain sum.

    Args:
        views: of shape (N, d), one for most methods.
        summed: the embedding as a user without labels has it, shape (N, d).
        told: of the training, for a record.
        start: the views before training, where the method can show them.
    """

    views: Sequence[Rows]
    summed: Rows
    told: Record
    start: Sequence[Rows] = field(default=())


def _ours(bench: Benchmark, settings: Settings, seed: int, with_start: bool) -> Vectors:
    start: Sequence[Rows] = ()
    if with_start:
        trained, before = embed_with_start(bench.graph, settings, seed)
        start = list(before)
    else:
        trained = embed(bench.graph, settings, seed)
    told = {"settings": trained.model.settings, **trained.told()}
    return Vectors(list(trained.views), trained.model.combine(trained.views), told, start)


def _another(name: str, bench: Benchmark, settings: Settings, seed: int, with_start: bool) -> Vectors:
    method = make_method(name, **within(name, dict(settings)), seed=seed)
    started = time.perf_counter()
    rows = method.fit_transform(bench.graph)
    told = _told(method, time.perf_counter() - started)
    return Vectors([rows], rows, told)


def _told(method: Any, seconds: float) -> Record:
    return {"settings": method.settings, "epochs_run": len(method.history_), "train_seconds": seconds}


@dataclass(frozen=True)
class Embedded:
    """A method that makes vectors without labels, which a linear probe reads.

    Args:
        vectors: ``(bench, settings, seed, with_start)`` to what the method made.
    """

    vectors: Callable[[Benchmark, Settings, int, bool], Vectors]

    def default(self, bench: Benchmark, seed: int) -> Record:
        made = self.vectors(bench, {}, seed, True)
        before = {"untrained": scored(bench.probe([np.mean(made.start, axis=0)]))} if made.start else {}
        return {**made.told, **scored(bench.probe([made.summed])), **before}

    def judged(self, bench: Benchmark, settings: Settings, seed: int) -> Record:
        made = self.vectors(bench, settings, seed, False)
        known = [hide_test(bench.dataset.labels, split) for split in bench.splits]
        judge = partial(choose, [Trial({}, lambda: [made.summed])], metric=bench.dataset.metric)
        found = judge(known, bench.splits, search=COARSE)
        criterion = [choice.criterion for choice in found]
        for i, (labels, split) in enumerate(zip(known, bench.splits, strict=True)):
            if split.few_labels:
                again = redrawn(labels, split, REDRAWS)
                scores = judge([labels] * len(again), again, search=_OF_REDRAWS)
                criterion[i] = float(np.mean([choice.validation for choice in scores]))
        return {**made.told, "validation": [choice.validation for choice in found], "criterion": criterion}

    def tuned(self, bench: Benchmark, settings: Settings, splits: Sequence[int], seed: int) -> tuple[Record, Record]:
        made = self.vectors(bench, settings, seed, True)
        scores = scored(bench.probe(made.views, splits, tune=True))
        if made.start:
            scores["untrained"] = scored(bench.probe(made.start, splits, tune=True))
        return made.told, scores


@dataclass(frozen=True)
class Classified:
    """A supervised reference, trained anew on the training nodes of every split, and stopped by its validation ones."""

    name: str

    def default(self, bench: Benchmark, seed: int) -> Record:
        told, scores = self.tuned(bench, {}, range(len(bench.splits)), seed)
        return {**told, **scores}

    def judged(self, bench: Benchmark, settings: Settings, seed: int) -> Record:
        validation, criterion = [], []
        for split in bench.splits:
            decided, classes, known, _ = self._decided(bench, settings, split, seed)
            own = (decided[split.val], classes, known[split.val])
            validation.append(score(bench.dataset.metric, *own))
            criterion.append(likelihood(*own) if len(split.val) < FEW else validation[-1])
        return {"settings": dict(settings), "validation": validation, "criterion": criterion}

    def tuned(self, bench: Benchmark, settings: Settings, splits: Sequence[int], seed: int) -> tuple[Record, Record]:
        scores: Record = {"test": [], "validation": []}
        told: Record = {}
        seconds = 0.0
        for split in (bench.splits[i] for i in splits):
            decided, classes, _, told = self._decided(bench, settings, split, seed)
            seconds += told["train_seconds"]
            for part, nodes in (("test", split.test), ("validation", split.val)):
                labels = bench.dataset.labels[nodes]
                scores[part].append(score(bench.dataset.metric, decided[nodes], classes, labels))
        return {**told, "train_seconds": seconds / max(len(splits), 1)}, scores

    def _decided(
        self, bench: Benchmark, settings: Settings, split: Split, seed: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], Record]:
        """Decision values of all nodes, their classes, the labels it was given, and what is told of the training."""
        known = hide_test(bench.dataset.labels, split)
        started = time.perf_counter()
        model = make_classifier(self.name, **settings, seed=seed).fit(bench.graph, known, split)
        told = _told(model, time.perf_counter() - started)
        return model.decide(bench.graph).astype(float), model.classes_, known, told


def merged(parts: Mapping[int, tuple[Sequence[int], Record]]) -> Record:
    """Scores of groups of splits, ``{trial: (splits, scores)}``, as one record in the order of the splits."""
    places = [place for splits, _ in parts.values() for place in splits]
    order = np.argsort(places)
    (first, *_) = (scores for _, scores in parts.values())
    whole: Record = {}
    for name, value in first.items():
        inner = {trial: (splits, scores[name]) for trial, (splits, scores) in parts.items()}
        if isinstance(value, dict):
            whole[name] = merged(inner)
        else:
            together = [entry for _, entries in inner.values() for entry in entries]
            whole[name] = [together[place] for place in order]
    return whole
