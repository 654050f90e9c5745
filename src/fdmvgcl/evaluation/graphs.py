"""The protocol for whole graphs: stratified folds, and a support vector machine whose settings are chosen inside them.

Beside it stands the protocol that is usual in print, which reports the setting with the best mean over the reported
folds: its number has read the labels that it is tested on, and is called optimistic here.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from fdmvgcl.errors import ArgumentError, shown

Kernels: TypeAlias = Mapping[str, NDArray[np.float64]]
IndexArray: TypeAlias = NDArray[np.int64]

FOLDS, INNER_FOLDS = 10, 3
FEWEST = 3  # graphs of a class: one for testing, one for choosing, one for training
PENALTIES = (0.1, 1.0, 10.0, 100.0)
# Of the inverse mean square distance, which puts the middle one where most distances are.
WIDTHS = (0.25, 1.0, 4.0)
# A machine that has not settled by then is a strong penalty on classes that overlap, and will not be chosen.
_ITERATIONS = 20_000


@dataclass(frozen=True)
class FoldScores:
    """One repeat of the protocol: accuracies, fold by fold.

    Args:
        test: of the setting that the inner folds of each training fold chose, shape (folds,).
        validation: mean over inner folds of that setting, shape (folds,).
        chosen: names of these settings.
        optimistic: of the one setting with the best mean over the reported folds, shape (folds,).
    """

    test: tuple[float, ...]
    validation: tuple[float, ...]
    chosen: tuple[str, ...]
    optimistic: tuple[float, ...]

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {name: list(value) for name, value in vars(self).items()}


def stratified_folds(
    labels: NDArray[np.int64], seed: int, folds: int = FOLDS, *, classes: Sequence[str] = ()
) -> list[tuple[IndexArray, IndexArray]]:
    """Training and test graphs of each fold, classes in each as in the whole; fewer folds where a class is smaller.

    Args:
        labels: class of each graph, shape (G,).
        seed: another seed is another repeat.
        folds: how many, at most.
        classes: names of the classes, for messages.
    """
    known, counts = np.unique(labels, return_counts=True)
    if len(known) < 2:
        raise ArgumentError("labels", f"must have at least two classes, got {len(known)}")
    rarest = int(counts.argmin())
    if counts[rarest] < FEWEST:
        name = classes[known[rarest]] if len(classes) else str(known[rarest])
        rule = f"must have at least {FEWEST} graphs of each class, or a fold would hold one class alone"
        raise ArgumentError("labels", f"{rule}; got {counts[rarest]} of class {shown(name)}")
    cut = StratifiedKFold(min(folds, int(counts[rarest])), shuffle=True, random_state=seed)
    return [(train, test) for train, test in cut.split(np.zeros(len(labels)), labels)]


def kernels_of(rows: NDArray[np.floating]) -> dict[str, NDArray[np.float64]]:
    """The linear kernel and Gaussian ones of three widths, of rows (G, d) whose columns are standardised first."""
    x = np.asarray(rows, dtype=np.float64)
    x = x - x.mean(axis=0)
    spread = x.std(axis=0)
    x = np.divide(x, spread, out=np.zeros_like(x), where=spread > 1e-9 * np.maximum(1.0, np.abs(rows).max(axis=0)))
    gram = x @ x.T
    lengths = np.diagonal(gram)
    squares = np.maximum(lengths[:, None] + lengths - 2 * gram, 0.0)
    mean = squares.mean() or 1.0
    gaussian = {f"gaussian {width:g}": np.exp(-width * squares / mean) for width in WIDTHS}
    return {"linear": gram / max(1.0, lengths.mean()), **gaussian}


def fold_scores(
    kernels: Kernels,
    labels: NDArray[np.int64],
    seed: int,
    *,
    folds: int = FOLDS,
    inner_folds: int = INNER_FOLDS,
    penalties: Sequence[float] = PENALTIES,
    classes: Sequence[str] = (),
) -> FoldScores:
    """One repeat: on each fold's training graphs the inner folds choose kernel and penalty, the first of equals.

    Args:
        kernels: (G, G) each, by name.
        labels: class of each graph, shape (G,).
        seed: of the folds; the same one gives the same folds for any kernels, so that scores are paired.
        folds, inner_folds: how many, at most.
        penalties: of the machine, from strong regularisation to weak.
        classes: names of the classes, for messages.
    """
    grid = [(name, penalty) for name in kernels for penalty in penalties]
    chosen, validation, tested = [], [], []
    for train, test in stratified_folds(labels, seed, folds, classes=classes):
        inner = stratified_folds(labels[train], seed, inner_folds)
        inside = np.mean([setting_scores(kernels, labels, train[a], train[b], penalties) for a, b in inner], axis=0)
        best = int(inside.argmax())
        chosen.append(best)
        validation.append(float(inside[best]))
        tested.append(setting_scores(kernels, labels, train, test, penalties))
    table = np.array(tested)
    luckiest = int(table.mean(axis=0).argmax())
    return FoldScores(
        tuple(float(row[best]) for row, best in zip(table, chosen, strict=True)),
        tuple(validation),
        tuple(f"{grid[best][0]}, C = {grid[best][1]:g}" for best in chosen),
        tuple(table[:, luckiest].tolist()),
    )


def majority_scores(labels: NDArray[np.int64], seed: int, *, folds: int = FOLDS) -> FoldScores:
    """Always the most frequent class of the training graphs."""
    found = [
        float(np.mean(labels[test] == np.bincount(labels[train]).argmax()))
        for train, test in stratified_folds(labels, seed, folds)
    ]
    return FoldScores(tuple(found), tuple(found), ("majority",) * len(found), tuple(found))


def setting_scores(
    kernels: Kernels, labels: NDArray[np.int64], train: IndexArray, test: IndexArray, penalties: Sequence[float]
) -> list[float]:
    """Accuracy on the test graphs of every kernel and penalty, penalties running fastest."""
    found = []
    for kernel in kernels.values():
        within, across = kernel[np.ix_(train, train)], kernel[np.ix_(test, train)]
        for penalty in penalties:
            machine = SVC(C=penalty, kernel="precomputed", max_iter=_ITERATIONS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machine.fit(within, labels[train])
            found.append(float(np.mean(machine.predict(across) == labels[test])))
    return found
