"""What is searched for one embedding on one split, with the labels of its training and validation nodes.

Choices go by the validation nodes' score, or by their likelihood where they are few: the accuracy of a hundred nodes
moves by a point at a time and ties often, so that its best penalty is mostly luck. On halves of the validation nodes
of Texas, Cornell, Wisconsin and Chameleon the likelihood of one half chose better for the other than accuracy did;
where there are more of them neither was ahead.

Where training nodes are many a path of penalties takes long and its best is easy to see, so less is searched there: a
path ends after two penalties that gain neither in score nor in likelihood, its probes stop at ten times the tolerance,
and least squares may pick the normalisation. Likelihood tells penalties that are too strong from those that are too
weak: the former may all predict the largest class, one as well as the other, while their likelihood grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Metric, Split
from fdmvgcl.errors import UserError

from .metrics import closeness, likelihood, score
from .probe import PENALTIES, TOLERANCE, LinearProbe, fit_path, least_squares, ridge
from .span import LARGEST_GRAM
from .views import NORMALISATIONS, FloatArray, Normalise, Rows, Views
from .weights import uniform

# Validation nodes; with fewer, choices go by likelihood.
FEW = 500

# Training nodes; with more, a path of penalties has this tolerance, and no more patience than this.
MANY = 1000
_PATIENCE_OF_MANY = 2
_TOLERANCE_OF_MANY = 1e-2


@dataclass(frozen=True)
class Search:
    """What is chosen on validation besides the trial. Of equals the first in the order given is kept.

    Args:
        normalisations: preparations of the embedding to try.
        penalties: penalties to try, strongest first (see :func:`fdmvgcl.evaluation.probe.fit_path`).
        patience: the path of penalties ends after this many without a gain: weaker ones overfit more, and cost most.
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


@dataclass(frozen=True, eq=False)
class Best:
    """A probe, its penalty, its validation nodes' score and likelihood, and which of the two it is compared by."""

    criterion: float
    value: float
    likelihood: float
    penalty: float
    probe: LinearProbe


@dataclass(frozen=True, eq=False)
class Fit:
    """One trial on one split, without the test labels."""

    views: Views
    labels: NDArray[Any]
    split: Split
    metric: Metric

    @property
    def numeric(self) -> bool:
        """Whether labels are numbers, which ridge regression foretells."""
        return self.metric == "r2"

    @property
    def by_likelihood(self) -> bool:
        return len(self.split.val) < FEW

    @property
    def many(self) -> bool:
        return len(self.split.train) > MANY

    @property
    def _tall(self) -> bool:
        """Whether training nodes are many, and more than columns, so that all nodes' axes fit them well."""
        width = self.views.arrays[0].shape[1]
        return self.many and not self.views.sparse and len(self.split.train) > width <= LARGEST_GRAM

    @property
    def narrow(self) -> "Fit":
        return replace(self, views=self.views.narrow)

    def path(self, beta: FloatArray, normalise: Normalise, search: Search) -> Best:
        """The best penalty by validation, the first of equals."""
        train = self.views.rows(beta, normalise, self.split.train)
        val = self.views.rows(beta, normalise, self.split.val)
        patience = min(search.patience, _PATIENCE_OF_MANY) if self.many else search.patience
        known = self.labels[self.split.train]
        if self.numeric:
            probes = ridge(train, known, search.penalties)
        else:
            probes = fit_path(
                train,
                known,
                search.penalties,
                tolerance=_TOLERANCE_OF_MANY if self.many else TOLERANCE,
                axes=self.views.axes(normalise) if self._tall and np.ptp(beta) == 0 else None,
            )
        best: Best | None = None
        surest, since = -np.inf, 0
        for penalty, probe in zip(search.penalties, probes, strict=False):
            found = self._judge(penalty, probe, val)
            since += 1
            if best is None or found.criterion > best.criterion:
                best, since = found, 0
            if self.many and found.likelihood > surest:
                surest, since = found.likelihood, 0
            if since == patience:
                break
        if best is None:
            raise UserError("the grid of penalties is empty")
        return best

    def _judge(self, penalty: float, probe: LinearProbe, val: Rows) -> Best:
        goals, decision = self.labels[self.split.val], probe.decision(val)
        value = score(self.metric, decision, probe.classes, goals)
        sureness = value if self.numeric else likelihood(decision, probe.classes, goals)
        return Best(sureness if self.by_likelihood else value, value, sureness, penalty, probe)

    def quick(self, beta: FloatArray, normalise: Normalise, penalties: Sequence[float]) -> list[float]:
        """How well least squares, which needs no iterations, does on validation, one number a penalty."""
        train = self.views.rows(beta, normalise, self.split.train)
        val = self.views.rows(beta, normalise, self.split.val)
        known = self.labels[self.split.train]
        probes = ridge(train, known, penalties) if self.numeric else least_squares(train, known, penalties)
        judge = closeness if self.by_likelihood and not self.numeric else partial(score, self.metric)
        return [judge(probe.decision(val), probe.classes, self.labels[self.split.val]) for probe in probes]

    def coarse(self) -> float:
        """What least squares reaches with uniform β."""
        beta = uniform(len(self.views))
        return max(max(self.quick(beta, normalise, COARSE.penalties)) for normalise in COARSE.normalisations)

    def normalisations(self, search: Search) -> Sequence[Normalise]:
        """Those to try: all, or the first that does best by least squares."""
        if not (search.screen and self.many and len(search.normalisations) > 1):
            return search.normalisations
        beta, narrow = uniform(len(self.views)), self.narrow
        return [max(search.normalisations, key=lambda n: max(narrow.quick(beta, n, COARSE.penalties)))]
