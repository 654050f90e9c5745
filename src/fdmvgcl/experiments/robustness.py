"""``reproduce robustness``: accuracy under attack, evasion and poisoning apart, each attack and each method a cell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from fdmvgcl.attacks import (
    Allowed,
    Encoding,
    FrozenProbe,
    Perturbation,
    SupervisedDiffusion,
    WhiteBox,
    accuracy,
    feature_budget,
    train_supervised,
)
from fdmvgcl.attacks.scene import ADAPTIVE, BLACK_BOX, Scene, weak_attacks
from fdmvgcl.evaluation import summarise
from fdmvgcl.evaluation.controls import ALPHAS, TIMES
from fdmvgcl.experiments import published
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, percent, write_tables
from fdmvgcl.learning.model import FDMVGCL

BLACK, WHITE = ("cora", "citeseer", "cornell", "actor"), ("photo", "texas")
BLACK_RATE, WHITE_RATE = 0.2, 0.15
CURVES = {"photo": ("random", "evasion"), "cora": ("metattack", "poisoning")}
RATES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)

_BLACK_KINDS = tuple(kind for kind in BLACK_BOX if kind != "dice")
_ADAPTIVE_KINDS = tuple(f"adaptive {kind}" for kind in ADAPTIVE)
_WHITE_KINDS = ("white pgd", "white prbcd")
_NOTES = [
    "Evasion: trained on the clean graph, then attacked; poisoning: trained on the attacked graph. Random edges are "
    "added. PRBCD is by a graph convolutional network of the attacker's own, against the test nodes' true labels; "
    "Nettack has five flips at each of as many test nodes as its budget pays for, and all test nodes are scored; "
    "Metattack sees the training labels alone, and on graphs of more than 4000 nodes takes ten flips from a gradient. "
    "Adaptive attacks go through the row's own gradients; white ones flip features, too, at the same rate of the ones. "
    "Greedy and PGD look at all pairs of nodes, or, where these are too many, at 200 000 random ones at a time.",
]

Cell = tuple[str, str, float, str]  # data set, attack, rate, setting


class Robustness:
    """``reproduce robustness``."""

    name = "robustness"
    summary = "accuracy under random, transfer and adaptive attacks, and under poisoning"
    datasets: tuple[str, ...] = BLACK + WHITE

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Seed by seed; the methods of a cell one after the other, as they share its perturbation."""
        return [
            Run(_key(cell, method, seed), partial(_run, cell, method, seed))
            for seed in range(seeds)
            for name in datasets
            for cell in dict.fromkeys(_cells(name))
            for method in METHODS
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        tables = [_table(records, name) for name in records.datasets(first=self.datasets)]
        return write_tables(tables, folder / self.name)


def _cells(name: str) -> Iterator[Cell]:
    if name not in WHITE:
        yield from ((name, kind, BLACK_RATE, "evasion") for kind in (*_BLACK_KINDS, *_ADAPTIVE_KINDS))
        yield name, "metattack", BLACK_RATE, "poisoning"
    else:
        yield from (
            (name, kind, WHITE_RATE, "evasion") for kind in ("random", "prbcd", *_ADAPTIVE_KINDS, *_WHITE_KINDS)
        )
    if name in CURVES:
        kind, setting = CURVES[name]
        yield from ((name, kind, rate, setting) for rate in RATES)


def _key(cell: Cell, method: str, seed: int) -> dict[str, object]:
    name, kind, rate, setting = cell
    return {"dataset": name, "attack": kind, "rate": rate, "setting": setting, "method": method, "seed": seed}


def _run(cell: Cell, method: str, seed: int) -> Record:
    name, kind, rate, setting = cell
    scene = _scene(name, seed)
    nodes = scene.split.test
    clean = _victim(name, method, seed)
    if kind in BLACK_BOX:
        made = _perturbation(name, kind, rate, seed)
    else:
        budget = scene.budget(rate)
        ones = feature_budget(scene.graph, rate) if kind in _WHITE_KINDS else 0
        made = scene.adaptive(kind.split()[1], clean, Allowed(budget, ones))
    attacked = made.apply(scene.graph)
    victim = clean
    if setting == "poisoning":
        victim = METHODS[method](Scene(attacked, scene.labels, scene.split, seed))
    return {
        "clean": accuracy(clean, scene.graph, scene.labels, nodes),
        "accuracy": accuracy(victim, attacked, scene.labels, nodes),
        "flips": len(made.flips),
        "feature_flips": len(made.feature_flips),
        "budget": scene.budget(rate),
    }


@lru_cache(maxsize=2)
def _scene(name: str, seed: int) -> Scene:
    """Of several splits the seed takes one."""
    bench = benchmark(name)
    return Scene(bench.graph, bench.dataset.labels, bench.splits[seed % len(bench.splits)], seed)


@lru_cache(maxsize=2)
def _perturbation(name: str, kind: str, rate: float, seed: int) -> Perturbation:
    scene = _scene(name, seed)
    return scene.flipped(kind, scene.budget(rate))


@lru_cache(maxsize=8)
def _victim(name: str, method: str, seed: int) -> WhiteBox:
    return METHODS[method](_scene(name, seed))


# -- methods ----------------------------------------------------------------------------------------------------------


def _default(scene: Scene) -> WhiteBox:
    model = FDMVGCL(seed=scene.seed).fit(scene.graph)
    return FrozenProbe.of_model(model, scene.graph, scene.labels, scene.split)


def _diffused(scene: Scene) -> WhiteBox:
    grid = [Encoding.diffused(scene.graph, alpha, time) for alpha in ALPHAS for time in TIMES]
    return FrozenProbe.chosen(grid, scene.graph, scene.labels, scene.split)


def _raw(scene: Scene) -> WhiteBox:
    both = [Encoding.raw(scene.graph, "none"), Encoding.raw(scene.graph, "rows")]
    return FrozenProbe.chosen(both, scene.graph, scene.labels, scene.split)


def _gcn(scene: Scene) -> WhiteBox:
    return train_supervised(scene.graph, scene.labels, scene.split, seed=scene.seed)


def _supervised_diffusion(scene: Scene) -> WhiteBox:
    return train_supervised(scene.graph, scene.labels, scene.split, make=SupervisedDiffusion, seed=scene.seed)


METHODS: Mapping[str, Callable[[Scene], WhiteBox]] = {
    "FD-MVGCL": _default,
    "diffused": _diffused,
    "raw": _raw,
    "GCN": _gcn,
    "supervised diffusion": _supervised_diffusion,
}


# -- tables -----------------------------------------------------------------------------------------------------------


def _table(records: RecordFile, name: str) -> Table:
    rows = []
    for cell in dict.fromkeys(_cells(name)):
        _, kind, rate, setting = cell
        cells = [_told(records, cell, method) for method in METHODS]
        if any(cell != "–" for cell in cells):
            asked = rate == (WHITE_RATE if name in WHITE else BLACK_RATE)
            paper = published.robustness(name).get(kind) if asked else None
            rows.append([kind, f"{rate:.0%}", setting, "–" if paper is None else f"{paper:.1f}", *cells])
    clean = [_mean([r["clean"] for r in records.matching(dataset=name, method=m)]) for m in METHODS]
    printed = published.robustness(name).get("clean")
    rows.insert(0, ["none", "0%", "", "–" if printed is None else f"{printed:.1f}", *clean])
    header = ("attack", "rate", "setting", "paper", *METHODS)
    return Table(f"{name}: test accuracy in % under attack", header, rows, [*_NOTES, *_weaknesses(records, name)])


def _told(records: RecordFile, cell: Cell, method: str) -> str:
    return _mean(_scores(records, cell, method))


def _scores(records: RecordFile, cell: Cell, method: str) -> list[float]:
    key = _key(cell, method, 0)
    del key["seed"]
    return [record["accuracy"] for record in records.matching(**key)]


def _mean(scores: Sequence[float]) -> str:
    if not scores:
        return "–"
    found = summarise([[score] for score in scores])
    return percent(found.mean) + ("" if found.over_seeds is None else f" ± {100 * found.over_seeds:.1f}")


def _weaknesses(records: RecordFile, name: str) -> list[str]:
    """Where an attack that knows more does less, for each method that has all three kinds on record."""
    rate, told = WHITE_RATE if name in WHITE else BLACK_RATE, []
    for method in METHODS:
        found = {kind: _scores(records, (name, kind, rate, "evasion"), method) for kind in ("random", "prbcd")}
        adaptive = [s for kind in _ADAPTIVE_KINDS if (s := _scores(records, (name, kind, rate, "evasion"), method))]
        if adaptive and all(found.values()):
            means = [float(np.mean(found[kind])) for kind in ("random", "prbcd")]
            least = min([*means, *(float(np.mean(s)) for s in adaptive)])
            weak = weak_attacks(means[0], means[1], min(float(np.mean(s)) for s in adaptive))
            told.append(f"{method}: {percent(least)} at the least" + "".join(f"; weak: {each}" for each in weak) + ".")
    return told
