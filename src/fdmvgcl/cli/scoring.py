"""The comparison of an embedding with its controls: made, kept in the folder, shown."""

import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter
from fdmvgcl.evaluation import Labelled, paired_difference, summarise
from fdmvgcl.evaluation.comparison import compare, comparison_record, too_wide
from fdmvgcl.evaluation.metrics import METRICS
from fdmvgcl.evaluation.tasks import Task, further_tasks, node_task
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
    """Compare with the controls, keep the record in the folder and show the tables.

    With ``tune``, all by the choices of each split's validation nodes, and the tasks beside: groups and missing edges.
    """
    with reporter.busy(f"evaluating on {labelled.told}, with controls") as step:
        contenders = compare(views, labelled, prepared, model, tune=tune, step=step)
    tasks: tuple[Task, ...] = (node_task(contenders, labelled),)
    if tune:
        z = model.combine(np.stack(views))
        with reporter.busy("further tasks") as step, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what copies of the model warn of was told when it was trained
            tasks += further_tasks(model, prepared, z, labelled, step)
    record = comparison_record(contenders, labelled, model.settings, tuned=tune)
    folder.write_evaluation(record | {"tasks": [task.record() for task in tasks]})
    name = METRICS[labelled.metric]
    show(contenders, f"linear probe on {labelled.told}, test {name} in %, mean ± spread over splits", name, reporter)
    if too_wide(prepared):
        reporter.say("the control of diffused features is left out: it would take more memory than the model did")
    for task in tasks:
        show_task(task, reporter, left_out=name)


def show_task(task: Task, reporter: Reporter, left_out: str) -> None:
    """A table of all its metrics but this one, beside each control how much the embedding is above it."""
    standings = [each for each in task.standings if each.metric != left_out]
    if task.left_out:
        reporter.say("")
        reporter.say(f"{task.name} was not measured: {task.left_out}")
    if not standings:
        return
    reporter.say("")
    reporter.say(f"{task.name}, {standings[0].told}, in %", "bold")
    header, columns = [""], [[each.name for each in (standings[0].ours, *standings[0].controls)]]
    for standing in standings:
        header += [standing.metric, "above it by"]
        columns.append([f"{100 * each.mean:.1f}" for each in (standing.ours, *standing.controls)])
        differences = (_told_difference(standing.ours.values, each.values) for each in standing.controls)
        columns.append(["", *differences])
    rows = list(zip(*columns, strict=True))
    reporter.table(header, rows, text_columns=(0, *range(2, len(header), 2)))


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
    told = f"{100 * difference.mean:+z.1f}"
    if difference.low is None or difference.high is None:
        return told
    word = {"helped": "better", "hurt": "worse"}.get(difference.verdict, difference.verdict)
    return f"{told}  ({100 * difference.low:+z.1f} to {100 * difference.high:+z.1f}: {word})"
