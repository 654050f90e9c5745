"""``reproduce halves``: the tuned row beside raw features once more, on validation nodes in place of test nodes.

Where test nodes are few a difference on them says little. Here half of a split's validation nodes chooses, as all of
them do for the node table, and the other half scores; then they change places. No test label is read, so that this is a
second witness, of other nodes.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import Outcome, Search, Trial, evaluate, paired_difference, summarise
from fdmvgcl.experiments import pool
from fdmvgcl.experiments.benchmark import Benchmark, Settings, benchmark, embed_with_start
from fdmvgcl.experiments.nodes import raw_features
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.redraw import halved
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, percent, points, write_tables


class ValidationHalves:
    """Raw features once, and for each seed the stored pool, whose trials are all trained."""

    name = "halves"
    summary = "raw features and the tuned row once more, on halves of validation nodes in place of test nodes"
    datasets: tuple[str, ...] = ("wisconsin", "cornell", "texas")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        pools = {name: pool.stored(name) for name in datasets}
        controls = [Run({"dataset": name, "row": "raw"}, partial(_raw, name)) for name in datasets]
        return controls + [
            Run({"dataset": name, "row": "tuned", "seed": seed}, partial(_tuned, name, pools[name].trials, seed))
            for seed in range(seeds)
            for name in datasets
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        rows = []
        for name in records.datasets(first=self.datasets):
            control, tuned = (records.matching(dataset=name, row=row) for row in ("raw", "tuned"))
            if control and tuned:
                ours, theirs = [record["scores"] for record in tuned], [control[0]["scores"]] * len(tuned)
                untrained = [record["untrained"] for record in tuned]
                rows.append(
                    [
                        name,
                        percent(summarise(theirs).mean),
                        percent(summarise(ours).mean),
                        points(paired_difference(ours, theirs)),
                        points(paired_difference(ours, untrained)),
                        str(len(tuned)),
                    ]
                )
        header = ("data set", "raw", "tuned", "tuned above raw by", "training adds", "seeds")
        note = "Half of a split's validation nodes chooses trial, β, normalisation and penalty, the other half scores, "
        note += "and the other way round; mean of both, in %. No test label is read. Intervals over seeds and splits."
        caution = "Settings that end a pool were found by hand on validation nodes, for all three WebKB graphs on "
        caution += "Wisconsin's: there this is no independent witness."
        return write_tables([Table("Halves of validation nodes", header, rows, [note, caution])], folder / self.name)


def _raw(name: str) -> Record:
    bench = benchmark(name)
    trials = [Trial({"features": scaling}, partial(list, [x])) for scaling, x in raw_features(bench).items()]
    return {"scores": _by_split(_evaluate(bench, trials, _halves(bench), Search()))}


def _tuned(name: str, settings: Sequence[Settings], seed: int) -> Record:
    """The whole pool trained with this seed; beside each half's choice the same encoder before training."""
    bench, search = benchmark(name), Search(tune_weights=True, screen=True)
    halves = _halves(bench)
    embedded = [embed_with_start(bench.graph, each, seed) for each in settings]
    trained, started = (
        [Trial(each, partial(list, views)) for each, views in zip(settings, side, strict=True)]
        for side in ([found.views for found, _ in embedded], [start for _, start in embedded])
    )
    outcomes = _evaluate(bench, trained, halves, search)
    chosen = [outcome.choice.trial for outcome in outcomes]
    before: dict[int, Outcome] = {}
    for trial in set(chosen):
        own = [i for i, choice in enumerate(chosen) if choice == trial]
        before.update(zip(own, _evaluate(bench, [started[trial]], [halves[i] for i in own], search), strict=True))
    return {
        "trials": chosen,
        "scores": _by_split(outcomes),
        "untrained": _by_split([before[i] for i in range(len(chosen))]),
    }


def _halves(bench: Benchmark) -> list[Split]:
    """Two for each split, one after the other."""
    return [half for i, split in enumerate(bench.splits) for half in halved(split, seed=i)]


def _evaluate(bench: Benchmark, trials: Sequence[Trial], halves: Sequence[Split], search: Search) -> list[Outcome]:
    return evaluate(trials, bench.dataset.labels, halves, metric=bench.dataset.metric, search=search)


def _by_split(outcomes: Sequence[Outcome]) -> list[float]:
    """The mean of both halves of each split."""
    return np.reshape([outcome.test for outcome in outcomes], (-1, 2)).mean(axis=1).tolist()
