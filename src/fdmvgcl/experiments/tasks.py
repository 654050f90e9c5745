"""``reproduce tasks``: groups of nodes, hidden edges, and nodes' labels where there are no features; all by default."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from fdmvgcl.evaluation import compare_clusterings
from fdmvgcl.evaluation.clusterings import RUNS
from fdmvgcl.evaluation.links import neighbour_indices, told_apart
from fdmvgcl.experiments.benchmark import Benchmark, benchmark
from fdmvgcl.experiments.entrants import ENTRANTS, embedder, entrant
from fdmvgcl.experiments.nodes import raw_features
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.task_table import BARE, GROUPS, LINKS, render
from fdmvgcl.experiments.trials import key_of
from fdmvgcl.graphs.held_out import cosines, hide_edges
from fdmvgcl.methods import CLASSIFIERS

SEEDS = 3


@dataclass(frozen=True)
class Tasks:
    """What else vectors are put to, by the methods' defaults.

    Args:
        methods: whose rows are made.
    """

    methods: tuple[str, ...] = ENTRANTS
    name = "tasks"
    summary = "clustering, link prediction, and node classification without features, each method by default"
    datasets: ClassVar[tuple[str, ...]] = ("cora", "citeseer", "photo", "acm", "chameleon", "actor")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Seed by seed; of edges another tenth is hidden with each."""
        made = []
        for seed in range(min(seeds, SEEDS)):
            for name in datasets:
                made += [
                    Run({"dataset": name, "row": f"{row}, controls", "seed": seed}, partial(control, name, seed))
                    for row, control in CONTROLS.items()
                ]
                made += [
                    Run(key_of(name, method, row=row, seed=seed), partial(task, method, name, seed))
                    for method in self.methods
                    for row, task in TASKS.items()
                    if row == BARE or method not in CLASSIFIERS
                ]
        return made

    def of(self, methods: tuple[str, ...]) -> "Tasks":
        return replace(self, methods=methods)

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        return render(records, folder, records.datasets(first=self.datasets))


def _groups(method: str, name: str, seed: int) -> Record:
    bench = benchmark(name)
    made = embedder(method).vectors(bench, {}, seed, False)
    return {**made.told, **_grouped(bench, made.summed, seed)}


def _grouped(bench: Benchmark, rows: object, seed: int) -> Record:
    found = compare_clusterings({"": lambda: rows}, bench.dataset.labels, seed=RUNS * seed)
    return {standing.metric: list(standing.ours.values) for standing in found}


def _raw_groups(name: str, seed: int) -> Record:
    bench = benchmark(name)
    return {"raw features": _grouped(bench, raw_features(bench)["none"], seed)}


def _links(method: str, name: str, seed: int) -> Record:
    bench = benchmark(name)
    rest, hidden, others = hide_edges(bench.graph, seed)
    made = embedder(method).vectors(replace(bench, graph=rest), {}, seed, False)
    found = [cosines(made.summed, pairs) for pairs in (hidden, others)]
    return {**made.told, **_foretold([*found[0], *found[1]], len(hidden))}


def _indices(name: str, seed: int) -> Record:
    rest, hidden, others = hide_edges(benchmark(name).graph, seed)
    near, far = (neighbour_indices(rest, pairs) for pairs in (hidden, others))
    return {index: _foretold([*near[index], *far[index]], len(hidden)) for index in near}


def _foretold(scores: Sequence[float], hidden: int) -> Record:
    area, precision = told_apart(scores, hidden)
    return {"AUC": [area], "average precision": [precision]}


def _bare(method: str, name: str, seed: int) -> Record:
    bench = benchmark(name)
    return entrant(method).default(replace(bench, graph=bench.graph.without_features()), seed)


TASKS: Mapping[str, Callable[[str, str, int], Record]] = {GROUPS: _groups, LINKS: _links, BARE: _bare}
CONTROLS: Mapping[str, Callable[[str, int], Record]] = {GROUPS: _raw_groups, LINKS: _indices}
