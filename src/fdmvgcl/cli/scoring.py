"""An embedding's linear probe beside the controls that tell whether learning helped."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone

from fdmvgcl import __version__
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.sources import Labelled
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.evaluation import (
    Outcome,
    Search,
    Trial,
    diffused,
    evaluate,
    majority,
    paired_difference,
    raw,
    summarise,
)
from fdmvgcl.evaluation.controls import TIMES
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import Prepared
from fdmvgcl.results.outputs import ResultFolder

# Entries of diffused features past which the control would take more memory and time than the model did.
_WIDEST = 200_000_000

Views = Sequence[NDArray[np.float32]]


@dataclass(frozen=True)
class Score:
    """Test scores of one way to describe the nodes, split by split."""

    name: str
    outcomes: list[Outcome]

    @property
    def tests(self) -> list[float]:
        return [outcome.test for outcome in self.outcomes]


def assess(
    views: Views,
    labelled: Labelled,
    prepared: Prepared,
    model: FDMVGCL,
    folder: ResultFolder,
    reporter: Reporter,
    *,
    tune: bool,
) -> None:
    """Compare with the controls, keep the record in the folder and show the table."""
    with reporter.busy(f"evaluating on {labelled.told}, with controls"):
        scores = compare(views, labelled, prepared, model, tune=tune)
    folder.write_evaluation(_record(scores, labelled, model, tuned=tune))
    _show(scores, labelled, reporter)
    if _too_wide(prepared):
        reporter.say("the control of diffused features is left out: it would take more memory than the model did")


def compare(views: Views, labelled: Labelled, prepared: Prepared, model: FDMVGCL, *, tune: bool) -> list[Score]:
    """The embedding first, then its controls: untrained encoder, diffused features, raw features, majority class.

    With ``tune`` everything is chosen by each split's validation nodes: β, of the untrained encoder too, and the time
    of the diffused features, which otherwise is the model's.

    Args:
        views: of the embedding, each (N, d).
        labelled: labels and splits.
        prepared: what was embedded.
        model: what embedded it.
        tune: see above.
    """
    labels, splits, metric = labelled.labels, labelled.splits, labelled.metric
    search = Search(tune_weights=tune)

    def probe(open_views: Callable[[], Views]) -> list[Outcome]:
        return evaluate([Trial({}, open_views)], labels, splits, metric=metric, search=search)

    def untrained() -> Views:
        fresh = clone(model).set_params(epochs=0)
        found = fresh.fit_transform_views(prepared)
        return list(found) if tune else [fresh.combine(found)]

    scores = [Score("embedding", probe(lambda: views)), Score("untrained encoder", probe(untrained))]
    diffusions = _diffusions(prepared)
    if diffusions:
        times = TIMES if tune else (model.time,)
        outcomes = diffused(diffusions, labels, splits, metric=metric, times=times)
        scores.append(Score("diffused features" if tune else f"diffused features, T = {model.time:g}", outcomes))
    if prepared.graph.features is not None:
        scores.append(Score("raw features", raw({"none": prepared.graph.features}, labels, splits, metric=metric)))
    return [*scores, Score("majority class", majority(labels, splits, metric=metric))]


def _too_wide(prepared: Prepared) -> bool:
    return prepared.graph.num_nodes * prepared.chosen.features.columns > _WIDEST


def _diffusions(prepared: Prepared) -> dict[str, Callable[[float, float], NDArray[np.float32]]]:
    """Diffusion of the features as the model takes them, by the model's operator; empty if they are too many."""
    if _too_wide(prepared):
        return {}
    operator, x = prepared.operator.to("cpu"), prepared.features.dense().cpu()

    def run(alpha: float, time: float) -> NDArray[np.float32]:
        with torch.no_grad():
            return diffuse(operator, x, alpha, time).numpy()

    return {prepared.chosen.features.scaling: run}


def _show(scores: Sequence[Score], labelled: Labelled, reporter: Reporter) -> None:
    """The table, ours first, and beside each control how much ours is above it."""
    name = "accuracy" if labelled.metric == "accuracy" else "ROC AUC"
    reporter.say("")
    reporter.say(f"linear probe on {labelled.told}, test {name} in %, mean ± spread over splits", "bold")
    ours = scores[0]
    rows = []
    for score in scores:
        summary = summarise([score.tests])
        spread = "" if summary.over_splits is None else f"± {100 * summary.over_splits:.1f}"
        told = "" if score is ours else _told_difference(ours.tests, score.tests)
        rows.append((score.name, f"{100 * summary.mean:.1f}", spread, told))
    reporter.table(("", name, "", "embedding is above it by"), rows, text_columns=(0, 2, 3))
    if labelled.few_labels:
        reporter.say("few training nodes: every probe is told the class shares of the validation nodes")


def _told_difference(ours: Sequence[float], theirs: Sequence[float]) -> str:
    difference = paired_difference(ours, theirs)
    told = f"{100 * difference.mean:+.1f}"
    if difference.low is None or difference.high is None:
        return told
    word = {"helped": "better", "hurt": "worse"}.get(difference.verdict, difference.verdict)
    return f"{told}  ({100 * difference.low:+.1f} to {100 * difference.high:+.1f}: {word})"


def _record(scores: Sequence[Score], labelled: Labelled, model: FDMVGCL, *, tuned: bool) -> dict[str, Any]:
    """All of it, as JSON can hold it."""
    return {
        "version": __version__,
        "settings": model.settings,
        "splits": labelled.told,
        "metric": labelled.metric,
        "classes": list(labelled.classes),
        "weights": "tuned on validation, split by split" if tuned else "uniform",
        "class_shares": "of validation nodes" if labelled.few_labels else "of training nodes",
        "scores": [_scored(score, scores[0]) for score in scores],
    }


def _scored(score: Score, ours: Score) -> dict[str, Any]:
    difference = None if score is ours else paired_difference(ours.tests, score.tests)
    return {
        "name": score.name,
        **asdict(summarise([score.tests])),
        "difference": None if difference is None else asdict(difference) | {"verdict": difference.verdict},
        "by_split": [{"split": o.split, "test": o.test, **o.choice.record()} for o in score.outcomes],
    }
