"""The comparison of an embedding with its controls: made, kept in the folder, shown."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter
from fdmvgcl.evaluation import Labelled, paired_difference, summarise
from fdmvgcl.evaluation.comparison import compare, comparison_record, too_wide
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import Prepared
from fdmvgcl.results.outputs import ResultFolder


class Scored(Protocol):
    """A name and its test scores."""

    @property
    def name(self) -> str: ...

    @property
    def tests(self) -> list[float]: ...


def assess(
    views: Sequence[NDArray[np.float32]],
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
        contenders = compare(views, labelled, prepared, model, tune=tune)
    folder.write_evaluation(comparison_record(contenders, labelled, model.settings, tuned=tune))
    name = "accuracy" if labelled.metric == "accuracy" else "ROC AUC"
    show(contenders, f"linear probe on {labelled.told}, test {name} in %, mean ± spread over splits", name, reporter)
    if too_wide(prepared):
        reporter.say("the control of diffused features is left out: it would take more memory than the model did")


def show(contenders: Sequence[Scored], title: str, name: str, reporter: Reporter) -> None:
    """The table, ours first, and beside each control how much ours is above it."""
    reporter.say("")
    reporter.say(title, "bold")
    ours = contenders[0]
    rows = []
    for each in contenders:
        summary = summarise([each.tests])
        spread = "" if summary.over_splits is None else f"± {100 * summary.over_splits:.1f}"
        told = "" if each is ours else _told_difference(ours.tests, each.tests)
        rows.append((each.name, f"{100 * summary.mean:.1f}", spread, told))
    reporter.table(("", name, "", "embedding is above it by"), rows, text_columns=(0, 2, 3))


def _told_difference(ours: Sequence[float], theirs: Sequence[float]) -> str:
    difference = paired_difference(ours, theirs)
    told = f"{100 * difference.mean:+.1f}"
    if difference.low is None or difference.high is None:
        return told
    word = {"helped": "better", "hurt": "worse"}.get(difference.verdict, difference.verdict)
    return f"{told}  ({100 * difference.low:+.1f} to {100 * difference.high:+.1f}: {word})"
