"""The protocol: every choice is made split by split on validation nodes; only :func:`final_score` reads a test label.

The public splits overlap, so a setting picked on the mean of ten validations has read test labels. Here a pool of
trials serves all splits, and for each split the trial, β, the normalisation and the penalty are chosen with that
split's own training and validation labels. The functions that choose get labels without the test nodes'.

Choices go by the validation nodes' score, or by their likelihood where they are few: the accuracy of a hundred nodes
moves by a point at a time and ties often, so that its best penalty is mostly luck. On halves of the validation nodes
of Texas, Cornell, Wisconsin and Chameleon the likelihood of one half chose better for the other than accuracy did, by
0.4 to 1.3 points; on Cora, CiteSeer, Photo and Squirrel they were within 0.2 points of each other.

Where training nodes are many a path of penalties takes long and its best is easy to see, so less is searched there: a
path ends sooner, its probes stop at ten times the tolerance, and least squares may pick the normalisation.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.data import Metric, Split

from .metrics import closeness, likelihood, score
from .probe import PENALTIES, TOLERANCE, LinearProbe, fit_path, least_squares
from .views import NORMALISATIONS, FloatArray, Matrix, Normalise, Views
from .weights import tune, uniform

HIDDEN = -1

# Validation nodes; with fewer, choices go by likelihood.
FEW = 500

# Training nodes; with more, a path of penalties has this patience and tolerance at most.
MANY = 1000
_PATIENCE_OF_MANY = 2
_TOLERANCE_OF_MANY = 1e-2


@dataclass(frozen=True, eq=False)
class Trial:
    """One member of the pool: its settings, and how to get its views (arrays of shape (N, d), perhaps memory maps).

    ``open`` is called when the views are needed and they are let go after, so a pool need not fit in memory.
    """

    settings: Mapping[str, Any]
    open: Callable[[], Sequence[Matrix]]


@dataclass(frozen=True)
class Search:
    """What is chosen on validation besides the trial. Of equals the first in the order given is kept.

    Args:
        normalisations: preparations of the embedding to try.
        penalties: penalties to try, strongest first (see :func:`fdmvgcl.evaluation.probe.fit_path`).
        patience: the path of penalties ends after this many that gain neither in score nor in likelihood, which tells
            too strong a penalty from too weak a one where the score stands still: weaker ones only overfit, and cost
            most.
        tune_weights: whether to tune β of the chosen trial, with least squares for the probe's stand-in; else β is
            uniform.
        shortlist: search only so many trials of a larger pool in full: those that least squares, by the split's
            validation nodes too, puts first. None searches all.
        screen: of the normalisations try only the one that least squares on some columns puts first, where training
            nodes are many. For views, whose columns have no order.
    """

    normalisations: tuple[Normalise, ...] = NORMALISATIONS
    penalties: tuple[float, ...] = PENALTIES
    patience: int = 4
    tune_weights: bool = False
    shortlist: int | None = None
    screen: bool = False


# Enough to rank the trials of one pool.
COARSE = Search(normalisations=("centre+rows", "standardise"), penalties=(1.0, 0.1, 0.01, 0.001), patience=2)


@dataclass(frozen=True)
class Choice:
    """What validation chose for one split, with the probe's decision values on the test nodes, shape (n_test, C).

    ``criterion`` is what it was chosen by: the score ``validation`` itself, or the likelihood where nodes are few.
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

    def record(self) -> dict[str, Any]:
        """What was chosen, ready for JSON: enough to make the choice again."""
        names = ("trial", "beta", "normalise", "penalty", "validation", "criterion")
        return {"settings": dict(self.settings)} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Outcome:
    """A split's choice and the score of its test nodes."""

    split: int
    choice: Choice
    test: float


def hide_test(labels: NDArray[np.int64], split: Split) -> NDArray[np.int64]:
    """A copy of ``labels`` with -1 everywhere but on the split's training and validation nodes."""
    known = np.full_like(labels, HIDDEN)
    for part in (split.train, split.val):
        known[part] = labels[part]
    return known


def final_score(choice: Choice, labels: NDArray[np.int64], split: Split, *, metric: Metric) -> float:
    """Score the test nodes of a split by a choice made before. The only reader of test labels."""
    return score(metric, choice.decision, choice.classes, labels[split.test])


def choose(
    trials: Sequence[Trial],
    known: Sequence[NDArray[np.int64]],
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
        raise ValueError("the pool of trials is empty")
    for labels, split in zip(known, splits, strict=True):
        if (labels[split.test] != HIDDEN).any():
            raise ValueError("choose() must not be given test labels: pass hide_test(labels, split)")
    candidates: list[Collection[int]] = [range(len(trials)) for _ in splits]
    if search.shortlist is not None and search.shortlist < len(trials):
        ranked: list[list[tuple[float, int]]] = [[] for _ in splits]
        for index, i, fit in _fits(trials, candidates, known, splits, metric):
            ranked[i].append((-_coarse(fit), index))
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
    labels: NDArray[np.int64],
    splits: Sequence[Split],
    *,
    metric: Metric = "accuracy",
    search: Search | None = None,
) -> list[Outcome]:
    """Choose for every split, and only then score every split's test nodes, once."""
    known = [hide_test(labels, split) for split in splits]
    choices = choose(trials, known, splits, metric=metric, search=search or Search())
    return [
        Outcome(i, choice, final_score(choice, labels, split, metric=metric))
        for i, (choice, split) in enumerate(zip(choices, splits, strict=True))
    ]


@dataclass(frozen=True, eq=False)
class _Best:
    """A probe, its penalty, its validation nodes' score and likelihood, and which of the two it is compared by."""

    criterion: float
    value: float
    likelihood: float
    penalty: float
    probe: LinearProbe


@dataclass(frozen=True, eq=False)
class _Fit:
    """One trial on one split, without the test labels."""

    views: Views
    labels: NDArray[np.int64]
    split: Split
    metric: Metric

    @property
    def by_likelihood(self) -> bool:
        return len(self.split.val) < FEW

    @property
    def many(self) -> bool:
        return len(self.split.train) > MANY

    @property
    def narrow(self) -> "_Fit":
        return replace(self, views=self.views.narrow)

    def path(self, beta: FloatArray, normalise: Normalise, search: Search) -> "_Best":
        """The best penalty by validation, the first of equals."""
        train = self.views.rows(beta, normalise, self.split.train)
        val = self.views.rows(beta, normalise, self.split.val)
        patience = min(search.patience, _PATIENCE_OF_MANY) if self.many else search.patience
        probes = fit_path(
            train,
            self.labels[self.split.train],
            search.penalties,
            tolerance=_TOLERANCE_OF_MANY if self.many else TOLERANCE,
        )
        best: _Best | None = None
        surest, since = -np.inf, 0
        for penalty, probe in zip(search.penalties, probes, strict=False):
            found = self._judged(penalty, probe, probe.decision(val))
            since += 1
            if best is None or found.criterion > best.criterion:
                best, since = found, 0
            if found.likelihood > surest:
                surest, since = found.likelihood, 0
            if since == patience:
                break
        if best is None:
            raise ValueError("the grid of penalties is empty")
        return best

    def _judged(self, penalty: float, probe: LinearProbe, decision: FloatArray) -> "_Best":
        goals = self.labels[self.split.val]
        value, sureness = score(self.metric, decision, probe.classes, goals), likelihood(decision, probe.classes, goals)
        return _Best(sureness if self.by_likelihood else value, value, sureness, penalty, probe)

    def quick(self, beta: FloatArray, normalise: Normalise, penalties: Sequence[float]) -> list[float]:
        """How well least squares, which needs no iterations, does on validation, one number a penalty."""
        train = self.views.rows(beta, normalise, self.split.train)
        val = self.views.rows(beta, normalise, self.split.val)
        judge = closeness if self.by_likelihood else partial(score, self.metric)
        return [
            judge(probe.decision(val), probe.classes, self.labels[self.split.val])
            for probe in least_squares(train, self.labels[self.split.train], penalties)
        ]

    def decision(self, beta: FloatArray, normalise: Normalise, probe: LinearProbe) -> FloatArray:
        return probe.decision(self.views.rows(beta, normalise, self.split.test))


def _fits(
    trials: Sequence[Trial],
    candidates: Sequence[Collection[int]],
    known: Sequence[NDArray[np.int64]],
    splits: Sequence[Split],
    metric: Metric,
) -> Iterator[tuple[int, int, _Fit]]:
    """(trial, split, the two brought together) for the candidates of each split; a trial is opened once for all."""
    for index in sorted(set().union(*candidates)):
        views = Views(trials[index].open())
        for i, (labels, split) in enumerate(zip(known, splits, strict=True)):
            if index in candidates[i]:
                yield index, i, _Fit(views, labels, split, metric)


def _coarse(fit: _Fit) -> float:
    """What least squares reaches with uniform β."""
    beta = uniform(len(fit.views))
    return max(max(fit.quick(beta, normalise, COARSE.penalties)) for normalise in COARSE.normalisations)


def _consider(best: Choice | None, index: int, settings: Mapping[str, Any], fit: _Fit, search: Search) -> Choice:
    """The better of ``best`` and this trial with uniform β."""
    beta = uniform(len(fit.views))
    paths = ((n, fit.path(beta, n, search)) for n in _normalisations(fit, beta, search))
    normalise, found = max(paths, key=lambda path: path[1].criterion)
    if best is not None and found.criterion <= best.criterion:
        return best
    return _choice(index, settings, fit, beta, normalise, found)


def _normalisations(fit: _Fit, beta: FloatArray, search: Search) -> Sequence[Normalise]:
    """Those to try: all, or the first that does best by least squares."""
    if not (search.screen and fit.many and len(search.normalisations) > 1):
        return search.normalisations
    return [max(search.normalisations, key=lambda n: max(fit.narrow.quick(beta, n, COARSE.penalties)))]


def _tune(choice: Choice, fit: _Fit, search: Search) -> Choice:
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
    index: int, settings: Mapping[str, Any], fit: _Fit, beta: FloatArray, normalise: Normalise, found: _Best
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
        decision=fit.decision(beta, normalise, found.probe),
    )
