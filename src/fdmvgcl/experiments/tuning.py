"""``tune``: the pool of a data set, trained once, and the choice of each split by its validation nodes."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from fdmvgcl.evaluation import COARSE, Trial, choose, hide_test
from fdmvgcl.experiments import pool
from fdmvgcl.experiments.benchmark import benchmark, embed
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run


def runs(dataset: str, trials: int, dim: int) -> list[Run]:
    """One run a trial of the pool."""
    favoured = pool.suggested_family(benchmark(dataset).graph)
    return [
        Run(
            {"dataset": dataset, "row": "tuning", "trial": number, "settings": settings},
            partial(_trial, dataset, settings),
        )
        for number, settings in enumerate(pool.draw(trials, favoured, dim=dim))
    ]


def _trial(dataset: str, settings: dict[str, Any]) -> Record:
    """Validation scores of one trial, uniform β; no test label is at hand."""
    bench = benchmark(dataset)
    embedded = embed(bench.graph, settings, seed=0)
    summed = embedded.model.combine(embedded.views)
    known = [hide_test(bench.dataset.labels, split) for split in bench.splits]
    found = choose([Trial({}, lambda: [summed])], known, bench.splits, metric=bench.dataset.metric, search=COARSE)
    return {"validation": [choice.validation for choice in found], **embedded.told()}


def conclude(runs: Sequence[Run], records: RecordFile) -> pool.Pool:
    """The pool and each split's choice, from the records of all runs."""
    found = [record for run in runs if (record := records.find(run.key)) is not None]
    validation = [record["validation"] for record in found]
    means = tuple(sum(scores) / len(scores) for scores in validation)
    return pool.Pool(tuple(record["key"]["settings"] for record in found), pool.choices(validation), means)
