"""``tune``: the pool of a data set, trained once, and the choice of each split by its validation nodes.

Where training nodes are fewer than half of the validation nodes, a trial is judged by the mean score over many draws of
training nodes from both: the score of one draw tells two trials apart by luck rather than by merit.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fdmvgcl.errors import UserError
from fdmvgcl.evaluation import COARSE, Trial, choose, hide_test
from fdmvgcl.experiments import pool
from fdmvgcl.experiments.benchmark import benchmark, embed
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.redraw import redrawn
from fdmvgcl.experiments.runs import Run

REDRAWS = 30

# Few training nodes want stronger penalties.
_OF_REDRAWS = replace(COARSE, penalties=(10.0, 1.0, 0.1, 0.01))


def runs(dataset: str, trials: int, dim: int, seeds: int = 1) -> list[Run]:
    """One run for each seed of each of ``trials`` settings."""
    if trials * seeds > pool.LARGEST_POOL:
        raise UserError(f"a pool must have at most {pool.LARGEST_POOL} runs, got {seeds} seeds of {trials} settings")
    settings = pool.draw(trials, pool.suggested_family(benchmark(dataset).graph), dim=dim)
    return [
        Run(
            {"dataset": dataset, "row": "tuning", "trial": number, "settings": each, "seed": seed},
            partial(_trial, dataset, each, seed),
        )
        for number, each in enumerate(settings)
        for seed in range(seeds)
    ]


def _trial(dataset: str, settings: dict[str, Any], seed: int) -> Record:
    """Validation scores of one trial, uniform β; no test label is at hand."""
    bench = benchmark(dataset)
    embedded = embed(bench.graph, settings, seed)
    summed = embedded.model.combine(embedded.views)
    known = [hide_test(bench.dataset.labels, split) for split in bench.splits]
    judge = partial(choose, [Trial({}, lambda: [summed])], metric=bench.dataset.metric)
    found = judge(known, bench.splits, search=COARSE)
    criterion = [choice.criterion for choice in found]
    for i, (labels, split) in enumerate(zip(known, bench.splits, strict=True)):
        if split.few_labels:
            again = redrawn(labels, split, REDRAWS)
            scores = judge([labels] * len(again), again, search=_OF_REDRAWS)
            criterion[i] = float(np.mean([choice.validation for choice in scores]))
    return {"validation": [choice.validation for choice in found], "criterion": criterion, **embedded.told()}


def conclude(runs: Sequence[Run], records: RecordFile) -> pool.Pool:
    """The pool and each split's choice by the mean over seeds, from the records of all runs."""
    settings: dict[int, Any] = {}
    found: dict[int, list[Record]] = {}
    for run in runs:
        if (record := records.find(run.key)) is not None:
            settings[run.key["trial"]] = run.key["settings"]
            found.setdefault(run.key["trial"], []).append(record)
    by_split = [np.mean([record["criterion"] for record in each], axis=0).round(9).tolist() for each in found.values()]
    means = tuple(float(np.mean([record["validation"] for record in each])) for each in found.values())
    return pool.Pool(tuple(settings.values()), pool.choices(by_split), means)
