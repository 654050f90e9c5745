"""The protocol: every choice is made split by split on validation nodes; only :func:`final_score` reads a test label.

The public splits overlap, so a setting picked on the mean of ten validations has read test labels. Here a pool of
trials serves all splits, and for each split the trial, β, the normalisation and the penalty are chosen with that
split's own training and validation labels. The functions that choose get labels without the test nodes'.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Metric, Split
from fdmvgcl.errors import ArgumentError, UserError

from .fit import COARSE, Best, Fit, Search
from .metrics import score
from .probe import LinearProbe
from .views import FloatArray, Matrix, Normalise, Views
from .weights import tune, uniform

HIDDEN = -1

Labels = NDArray[Any]  # classes, -1 for none, or numbers, NaN for none


@dataclass(frozen=True, eq=False)
class Trial:
    """One member of the pool: its settings, and how to get its views (arrays of shape (N, d), perhaps memory maps).

    ``open`` is called when the views are needed and they are let go after, so a pool need not fit in memory.
    """

    settings: Mapping[str, Any]
    open: Callable[[], Sequence[Matrix]]


@dataclass(frozen=True)
class Choice:
    """What validation chose for one split, with the probe's decision values on the test nodes, shape (n_test, C).

    ``criterion`` is what it was chosen by: the score ``validation`` itself, or the likelihood where nodes are few.
    ``probe`` takes rows prepared with ``normalise``; None where nothing was fitted.
    """

    trial: int
    settings: Mapping[str, Any]
    beta: tuple[float, ...]
    normalise: Normalise
    penalty: float
    validation: float
    criterion: float
    classes: NDArray[np.int64] = field(repr=False, compare=False)
    decision: FloatArray = field(repr=False, compare=False)
    probe: LinearProbe | None = field(default=None, repr=False, compare=False)

    def record(self) -> dict[str, Any]:
        """What was chosen, ready for JSON: enough to make the choice again."""
        names = ("trial", "beta", "normalise", "penalty", "validation", "criterion")
        return {"settings": dict(self.settings)} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Outcome:
    """A split's choice and the score of its test nodes; ``also`` holds their scores by other metrics."""

    split: int
    choice: Choice
    test: float
    also: Mapping[Metric, float] = field(default_factory=dict)


def hide_test(labels: Labels, split: Split) -> Labels:
    """A copy of ``labels`` with -1, of numbers NaN, everywhere but on the split's training and validation nodes."""
    known = np.full_like(labels, HIDDEN if labels.dtype.kind != "f" else np.nan)
    for part in (split.train, split.val):
        known[part] = labels[part]
    return known


def final_score(choice: Choice, labels: Labels, split: Split, *, metric: Metric) -> float:
    """Score the test nodes of a split by a choice made before. The only reader of test labels."""
    return score(metric, choice.decision, choice.classes, labels[split.test])


def choose(
    trials: Sequence[Trial],
    known: Sequence[Labels],
    splits: Sequence[Split],
    *,
    metric: Metric,
    search: Search,
) -> list[Choice]:
    """The best choice for each split by its validation nodes alone.

    Args:
        trials: the pool. Each is opened once for all splits (once more to tune β, and for a shortlist).
        known: for each split, the labels without its test nodes' (:func:`hide_test`), shape (N,).
        splits: the splits; no choice for one of them depends on another.
        metric: what to maximise.
        search: the choices to try.
    """
    if not trials:
        raise UserError("the pool of trials is empty")
    for labels, split in zip(known, splits, strict=True):
        given = labels[split.test]
        if not (np.isnan(given) | (given == HIDDEN)).all():
            raise UserError("choose() must not be given test labels: pass hide_test(labels, split)")
    candidates: list[Collection[int]] = [range(len(trials)) for _ in splits]
    if search.shortlist is not None and search.shortlist < len(trials):
        ranked: list[list[tuple[float, int]]] = [[] for _ in splits]
        for index, i, fit in _fits(trials, candidates, known, splits, metric):
            ranked[i].append((-fit.coarse(), index))
        candidates = [[index for _, index in sorted(ranks)[: search.shortlist]] for ranks in ranked]
    best: list[Choice | None] = [None] * len(splits)
    for index, i, fit in _fits(trials, candidates, known, splits, metric):
        best[i] = _consider(best[i], index, trials[index].settings, fit, search)
    chosen = [choice for choice in best if choice is not None]
    if search.tune_weights:
        for _, i, fit in _fits(trials, [[choice.trial] for choice in chosen], known, splits, metric):
            chosen[i] = _tune(chosen[i], fit, search)
    return chosen


def evaluate(
    trials: Sequence[Trial],
    labels: Labels,
    splits: Sequence[Split],
    *,
    metric: Metric = "accuracy",
    search: Search | None = None,
    also: Sequence[Metric] = (),
) -> list[Outcome]:
    """Choose for every split, and only then score every split's test nodes, once.

    Choices go by ``metric``; the same ones are scored by the metrics of ``also``.
    """
    known = [hide_test(labels, split) for split in splits]
    choices = choose(trials, known, splits, metric=metric, search=search or Search())
    return [
        outcome(i, choice, labels, split, metric=metric, also=also)
        for i, (choice, split) in enumerate(zip(choices, splits, strict=True))
    ]


def outcome(
    index: int, choice: Choice, labels: Labels, split: Split, *, metric: Metric, also: Sequence[Metric] = ()
) -> Outcome:
    """What a choice comes to on the split's test nodes; NaN by a further metric that is not defined for them."""
    further: dict[Metric, float] = {}
    for each in also:
        try:
            further[each] = final_score(choice, labels, split, metric=each)
        except ArgumentError:
            further[each] = float("nan")
    return Outcome(index, choice, final_score(choice, labels, split, metric=metric), further)


def _fits(
    trials: Sequence[Trial],
    candidates: Sequence[Collection[int]],
    known: Sequence[Labels],
    splits: Sequence[Split],
    metric: Metric,
) -> Iterator[tuple[int, int, Fit]]:
    """(trial, split, the two brought together) for the candidates of each split; a trial is opened once for all."""
    for index in sorted(set().union(*candidates)):
        views = Views(trials[index].open())
        for i, (labels, split) in enumerate(zip(known, splits, strict=True)):
            if index in candidates[i]:
                yield index, i, Fit(views, labels, split, metric)


def _consider(best: Choice | None, index: int, settings: Mapping[str, Any], fit: Fit, search: Search) -> Choice:
    """The better of ``best`` and this trial with uniform β."""
    beta = uniform(len(fit.views))
    paths = ((n, fit.path(beta, n, search)) for n in fit.normalisations(search))
    normalise, found = max(paths, key=lambda path: path[1].criterion)
    if best is not None and found.criterion <= best.criterion:
        return best
    return _choice(index, settings, fit, beta, normalise, found)


def _tune(choice: Choice, fit: Fit, search: Search) -> Choice:
    """``choice`` with β tuned at its normalisation, by least squares on some columns, if the probe gains by that β."""
    normalise, start = choice.normalise, uniform(len(fit.views))
    narrow = fit.narrow
    ridge = COARSE.penalties[int(np.argmax(narrow.quick(start, normalise, COARSE.penalties)))]
    beta, _ = tune(lambda b: narrow.quick(b, normalise, [ridge])[0], len(fit.views))
    found = fit.path(beta, normalise, search)
    if found.criterion <= choice.criterion:
        return choice
    return _choice(choice.trial, choice.settings, fit, beta, normalise, found)


def _choice(
    index: int, settings: Mapping[str, Any], fit: Fit, beta: FloatArray, normalise: Normalise, found: Best
) -> Choice:
    return Choice(
        trial=index,
        settings=settings,
        beta=tuple(beta.tolist()),
        normalise=normalise,
        penalty=found.penalty,
        validation=found.value,
        criterion=found.criterion,
        classes=found.probe.classes,
        decision=found.probe.decision(fit.views.rows(beta, normalise, fit.split.test)),
        probe=found.probe,
    )
