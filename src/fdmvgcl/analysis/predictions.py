"""Labels of some nodes in, label and probability of the rest out, and how far they can be trusted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from fdmvgcl.datasets import Split
from fdmvgcl.errors import UserError
from fdmvgcl.evaluation import LinearProbe, Normalise, Outcome, Trial, Views, evaluate, fit_path, majority, uniform
from fdmvgcl.evaluation.probe import PENALTIES
from fdmvgcl.evaluation.standing import OURS, Standing, measured

FOLDS = 5
FEWEST = 6

Matrix = Any  # a dense array or a scipy.sparse.csr_array


@dataclass(frozen=True, eq=False)
class Predictions:
    """Classes of all nodes as the probe sees them.

    Args:
        classes: the classes that were seen, shape (C,).
        probabilities: of each node, shape (N, C).
        standing: cross-validated accuracy beside that of the controls.
        confidence: mean probability of the likeliest class on held-out nodes: as large as the accuracy, if
            probabilities can be taken at their word.
        normalise, penalty: what the folds chose for the probe.
    """

    classes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    standing: Standing
    confidence: float
    normalise: Normalise
    penalty: float

    @property
    def labels(self) -> NDArray[np.int64]:
        """The likeliest class of each node, shape (N,)."""
        return np.asarray(self.classes[self.probabilities.argmax(axis=1)])

    @property
    def certainty(self) -> NDArray[np.float64]:
        """Its probability, shape (N,)."""
        return np.asarray(self.probabilities.max(axis=1))


def predict(
    z: Matrix, labels: NDArray[np.int64], controls: Mapping[str, Matrix] | None = None, *, seed: int = 0
) -> Predictions:
    """The linear probe on all labelled nodes, applied to every node.

    Labelled nodes are cut into five folds with like shares of the classes. In turn a fold is scored, the next one
    chooses penalty and normalisation, and the others train: the score is of nodes that no choice has seen. The final
    probe is trained on all labelled nodes with what the folds chose most often, and the middle of their penalties.

    Args:
        z: vectors (N, d).
        labels: class of each node, -1 for unknown, shape (N,).
        controls: other descriptions (N, F) of the nodes by name, cross-validated in the same way.
        seed: of the folds.
    """
    known = np.flatnonzero(labels >= 0)
    if len(np.unique(labels[known])) < 2:
        raise UserError("labels must be of at least two classes")
    if len(known) < FEWEST:
        raise UserError(f"at least {FEWEST} nodes must have a label, got {len(known)}: there are none to choose by")
    splits = _folds(labels, known, seed)

    def probed(rows: Matrix) -> list[Outcome]:
        return evaluate([Trial({}, lambda: [rows])], labels, splits)

    ours = probed(z)
    others = {name: probed(rows) for name, rows in (controls or {}).items()} | {
        "majority class": majority(labels, splits)
    }
    told = f"{len(splits)}-fold cross-validation on {len(known)} labels"
    standing = Standing(
        "accuracy",
        told,
        measured(OURS, [outcome.test for outcome in ours]),
        tuple(measured(name, [outcome.test for outcome in found]) for name, found in others.items()),
    )
    normalise, penalty = _chosen(ours)
    views = Views([z])
    probe = _fit(views, labels, known, normalise, penalty)
    rows = views.rows(uniform(1), normalise, np.arange(len(labels)))
    confidence = np.concatenate([softmax(outcome.choice.decision, axis=1).max(axis=1) for outcome in ours]).mean()
    return Predictions(
        probe.classes, softmax(probe.decision(rows), axis=1), standing, float(confidence), normalise, penalty
    )


def _folds(labels: NDArray[np.int64], known: NDArray[np.int64], seed: int) -> list[Split]:
    """Each fold once for scoring, the next for choosing, the rest for training; classes of one node may be in any."""
    order = np.random.default_rng(seed).permutation(known)
    by_class = order[np.argsort(labels[order], kind="stable")]
    folds = [np.sort(by_class[start::FOLDS]) for start in range(FOLDS)]
    splits = []
    for i in range(FOLDS):
        rest = [folds[j] for j in range(FOLDS) if j not in (i, (i + 1) % FOLDS)]
        splits.append(Split(np.sort(np.concatenate(rest)), folds[(i + 1) % FOLDS], folds[i]))
    return splits


def _chosen(outcomes: list[Outcome]) -> tuple[Normalise, float]:
    """The normalisation that most folds chose, the first of equals, and the middle of the penalties chosen with it."""
    normalise = Counter(outcome.choice.normalise for outcome in outcomes).most_common(1)[0][0]
    penalties = sorted(outcome.choice.penalty for outcome in outcomes if outcome.choice.normalise == normalise)
    return normalise, penalties[len(penalties) // 2]


def _fit(
    views: Views, labels: NDArray[np.int64], known: NDArray[np.int64], normalise: Normalise, penalty: float
) -> LinearProbe:
    path = [each for each in PENALTIES if each >= penalty]
    *_, probe = fit_path(views.rows(uniform(1), normalise, known), labels[known], path)
    return probe
