"""Which attacks are run on which data sets, and how each is carried out and scored."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.attacks import FrozenProbe, Perturbation, WhiteBox, accuracy
from fdmvgcl.attacks.scene import Scene
from fdmvgcl.datasets import STRENGTHS, load_attacked
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.robustness.attacks import ATTACKS, Adaptive, BlackBox
from fdmvgcl.experiments.robustness.methods import METHODS, OURS, trained

BLACK, WHITE, STORED = ("cora", "citeseer", "cornell", "actor"), ("photo", "texas"), ("cora", "citeseer")
BLACK_RATE, WHITE_RATE = 0.2, 0.15
RATES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)

# In the order of what they tell: the first are what the table's minimum mostly comes from.
_ADAPTIVE = ("adaptive prbcd", "adaptive greedy", f"prbcd on {OURS}")
_ON_BLACK = ("random", "prbcd", *_ADAPTIVE, "nettack", "metattack")
_ON_WHITE = ("random", "prbcd", *_ADAPTIVE, "white prbcd, few", "white prbcd", "white pgd")

# Other readings of the paper's words, on two data sets.
_READINGS = ("nettack, targets", "prbcd, own labels", "prbcd, training nodes", "dice")
_READ = ("cora", "citeseer")

# On the larger two, runs that compare all pairs of nodes in every step are left for the end.
LARGE = ("photo", "actor")
_QUICK = ("random", "prbcd", "nettack")


@dataclass(frozen=True)
class Cell:
    """One attack on one data set.

    Args:
        dataset: its name.
        attack: a name of :data:`~fdmvgcl.experiments.robustness.attacks.ATTACKS`, or ``"stored …"`` for a graph that
            Pro-GNN published.
        rate: a share of the edges; for the stored Nettack flips at each target.
        setting: ``"evasion"`` or ``"poisoning"``.
    """

    dataset: str
    attack: str
    rate: float
    setting: str = "evasion"

    def key(self, method: str, seed: int | None = None) -> dict[str, Any]:
        """Of a record; without a seed, what all seeds' have in common."""
        found = {"dataset": self.dataset, "attack": self.attack, "rate": self.rate, "setting": self.setting}
        return found | {"method": method} | ({} if seed is None else {"seed": seed})

    @property
    def is_quick(self) -> bool:
        """Whether no step of it compares all pairs of many nodes."""
        return self.dataset not in LARGE or self.attack in _QUICK

    @property
    def stored(self) -> str | None:
        """Which of Pro-GNN's attacks it is, if one."""
        return self.attack.removeprefix("stored ") if self.attack.startswith("stored ") else None


def rate_of(name: str) -> float:
    """The rate of the paper's table for a data set."""
    return WHITE_RATE if name in WHITE else BLACK_RATE


def cells(name: str) -> list[Cell]:
    """Of a data set, each once."""
    return list(dict.fromkeys([*_table(name), *curve(name), *stored(name)]))


def _table(name: str) -> Iterator[Cell]:
    kinds = _ON_WHITE if name in WHITE else _ON_BLACK
    yield from (Cell(name, kind, rate_of(name)) for kind in (*kinds, *(_READINGS if name in _READ else ())))
    if name not in WHITE:
        yield Cell(name, "metattack", BLACK_RATE, "poisoning")


def curve(name: str) -> list[Cell]:
    """The paper's curves: random edges on Photo, Metattack on Cora; by poisoning they are those of stored graphs."""
    kind = {"photo": "random", "cora": "metattack"}.get(name)
    return [Cell(name, kind, rate) for rate in RATES] if kind else []


def stored(name: str) -> list[Cell]:
    """Pro-GNN's graphs of a data set; by poisoning, where each row is trained anew, Nettack's strongest alone."""
    if name not in STORED:
        return []
    poisoning = {**STRENGTHS, "nettack": STRENGTHS["nettack"][-1:]}
    return [
        Cell(name, f"stored {attack}", strength, setting)
        for setting, chosen in (("evasion", STRENGTHS), ("poisoning", poisoning))
        for attack, strengths in chosen.items()
        for strength in strengths
    ]


# -- carried out ------------------------------------------------------------------------------------------------------


def run(cell: Cell, method: str, seed: int) -> Record:
    """Accuracy of one row under one attack."""
    scene = clean_scene(cell.dataset, seed, is_stored=cell.stored is not None)
    victim = trained(scene, method)
    attacked, told = _attacked(cell, scene, victim, method)
    nodes, clean = _scored(cell, scene), victim
    if cell.setting == "poisoning":
        victim = METHODS[method](attacked)
    return {
        "clean": accuracy(clean, scene.graph, scene.labels, nodes),
        "accuracy": accuracy(victim, attacked.graph, scene.labels, nodes),
        "scored": len(nodes),
        **told,
    }


def _attacked(cell: Cell, scene: Scene, victim: WhiteBox, method: str) -> tuple[Scene, Record]:
    """The scene after the attack, and what is told of the attack."""
    if cell.stored is not None:
        graph = load_attacked(cell.dataset).after(cell.stored, cell.rate).graph()  # type: ignore[arg-type]
        flips = abs(graph.adjacency - scene.graph.adjacency).nnz // 2
        return scene.of(graph), {"flips": flips, "feature_flips": 0}
    made = _flips(cell, scene, victim)
    budget = scene.budget(cell.rate)
    return scene.of(made.apply(scene.graph)), {
        "flips": len(made.flips),
        "feature_flips": len(made.feature_flips),
        "budget": budget,
    }


def _flips(cell: Cell, scene: Scene, victim: WhiteBox) -> Perturbation:
    attack = ATTACKS[cell.attack]
    if isinstance(attack, BlackBox):
        return _shared(cell.attack, scene, cell.rate)
    unmoved = isinstance(victim, FrozenProbe) and victim.encoding.spec is None
    return Perturbation() if unmoved and not attack.features else attack.make(scene, victim, cell.rate)


@lru_cache(maxsize=2)
def _shared(name: str, scene: Scene, rate: float) -> Perturbation:
    """The same for all rows: made once for the runs that follow each other."""
    attack = ATTACKS[name]
    assert not isinstance(attack, Adaptive)
    return attack.make(scene, rate)


def _scored(cell: Cell, scene: Scene) -> NDArray[np.int64]:
    if cell.stored == "nettack":
        return load_attacked(cell.dataset).targets  # type: ignore[arg-type]
    attack = ATTACKS.get(cell.attack)
    chosen = attack.scored if isinstance(attack, BlackBox) else None
    return scene.split.test if chosen is None else chosen(scene)


@lru_cache(maxsize=2)
def clean_scene(name: str, seed: int, *, is_stored: bool = False) -> Scene:
    """Of several splits the seed takes one."""
    dataset = load_attacked(name).clean if is_stored else benchmark(name).dataset  # type: ignore[arg-type]
    return Scene(dataset.graph(), dataset.labels, dataset.splits[seed % len(dataset.splits)], seed)
