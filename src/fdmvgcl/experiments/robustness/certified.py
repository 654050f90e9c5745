"""Certified accuracy against budget and order, beside what an attack on the same probe finds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.attacks import DifferentiableVictim, Encoding, FrozenProbe, at_node, certify, predictions
from fdmvgcl.attacks.certificate import before_diffusion
from fdmvgcl.attacks.scene import Scene
from fdmvgcl.diffusion.linear import apply_filter
from fdmvgcl.evaluation import Search, summarise
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.robustness.cells import clean_scene
from fdmvgcl.experiments.tables import MISSING, Table, percent
from fdmvgcl.graphs.operators import Operator

DATASETS = ("cora", "citeseer", "photo")
ALPHAS, TIME = (0.01, 0.2, 0.5, 1.0), 3.0
MOST, ATTACKED_WITH, ATTACKED_NODES = 5, 3, 50


@dataclass(frozen=True)
class Certified:
    """One probe on features diffused by random walks of one order.

    Args:
        dataset: its name.
        alpha: the order.
    """

    dataset: str
    alpha: float

    def key(self, seed: int | None = None) -> dict[str, Any]:
        """Of a record; without a seed, what all seeds' have in common."""
        found = {"dataset": self.dataset, "attack": "certificate", "alpha": self.alpha, "method": "random walk"}
        return found if seed is None else found | {"seed": seed}


def wanted(name: str) -> list[Certified]:
    """Of a data set, one an order."""
    return [Certified(name, alpha) for alpha in ALPHAS] if name in DATASETS else []


def run(each: Certified, seed: int) -> Record:
    """Shares of test nodes that are right and certified, and of some of them those that an attack leaves right."""
    scene = clean_scene(each.dataset, seed)
    victim = walker(scene, each.alpha)
    found = certify(scene.graph, victim, most=MOST)
    nodes = scene.split.test
    right = predictions(victim, scene.graph)[nodes] == scene.labels[nodes]
    some = np.sort(np.random.default_rng(seed).permutation(nodes)[:ATTACKED_NODES])
    return {
        "certified": [float((right & (found.flips[nodes] >= budget)).mean()) for budget in range(MOST + 1)],
        "attacked": _left(scene, folded(scene, victim), some),
        "attacked_nodes": len(some),
    }


def walker(scene: Scene, alpha: float) -> FrozenProbe:
    """A linear probe on features diffused by the random walk, as it can be certified."""
    encoding = Encoding.diffused(scene.graph, alpha, TIME, normalisation="rw")
    search = Search(normalisations=("none", "standardise"))
    return FrozenProbe.chosen([encoding], scene.graph, scene.labels, scene.split, search=search)


def folded(scene: Scene, victim: FrozenProbe) -> DifferentiableVictim:
    """The same decisions by diffusing them, a column a class, in place of features: quick to try many flips on."""
    scores, offset = (torch.from_numpy(each).float() for each in before_diffusion(victim, scene.graph))
    spec = victim.encoding.spec
    assert spec is not None

    def decide(index: Tensor, weight: Tensor, _: Tensor) -> Tensor:
        operator = Operator.from_edges(index, weight, len(scores), normalisation="rw")
        return apply_filter(operator, scores, spec)[0] + offset

    return DifferentiableVictim(decide, victim.classes)


def _left(scene: Scene, victim: DifferentiableVictim, nodes: np.ndarray) -> list[float]:
    """Accuracy of these nodes with 0, 1, … flips at each, every node attacked by itself on the clean graph."""
    clean = predictions(victim, scene.graph) == scene.labels
    left = [clean[nodes].astype(float)]
    left += [left[0].copy() for _ in range(ATTACKED_WITH)]
    for place, node in enumerate(nodes.tolist()):
        if not clean[node]:
            continue
        for budget, made in enumerate(at_node(victim, scene.graph, scene.labels, node, ATTACKED_WITH), 1):
            held = predictions(victim, made.apply(scene.graph))[node] == scene.labels[node]
            left[budget][place] = min(left[budget - 1][place], float(held))
    return [float(each.mean()) for each in left]


def table(records: RecordFile, name: str) -> Table:
    """A row an order, a column a budget."""
    rows = []
    for each in wanted(name):
        found = records.matching(**each.key())
        if found:
            certified = [_mean([record["certified"][budget] for record in found]) for budget in range(MOST + 1)]
            attacked = [
                _mean([record["attacked"][budget] for record in found]) for budget in range(1, ATTACKED_WITH + 1)
            ]
            rows.append([f"{each.alpha:g}", *certified, *attacked])
    header = (
        "α",
        "clean",
        *(f"certified, {budget}" for budget in range(1, MOST + 1)),
        *(f"attacked, {budget}" for budget in range(1, ATTACKED_WITH + 1)),
    )
    notes = [
        f"Test accuracy in % that no flips can lower, where no node is touched by more than so many: features diffused "
        f"by random walks, T = {TIME:g}, and a linear probe. Beside it what is left of {ATTACKED_NODES} test nodes, "
        "drawn at random, each attacked by itself with so many flips at it, by gradient and trial. The truth lies "
        "between the two. Nothing is certified for FD-MVGCL's own views: their activation and unit rows are not linear."
    ]
    return Table(f"{name}: certified accuracy against flips at a node", header, rows, notes)


def _mean(found: list[float]) -> str:
    if not found:
        return MISSING
    summary = summarise([[score] for score in found])
    return percent(summary.mean) + ("" if summary.over_seeds is None else f" ± {100 * summary.over_seeds:.1f}")
