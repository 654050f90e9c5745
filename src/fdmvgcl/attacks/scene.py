"""Attacks by name on one labelled graph, and how a victim stands under them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.attacks.adaptive import BLOCK as PRBCD_BLOCK
from fdmvgcl.attacks.adaptive import Allowed, greedy, prbcd
from fdmvgcl.attacks.budget import edge_budget
from fdmvgcl.attacks.dice import check_labels, dice
from fdmvgcl.attacks.frozen_probe import FrozenProbe
from fdmvgcl.attacks.metattack import metattack
from fdmvgcl.attacks.nettack import nettack
from fdmvgcl.attacks.pairs import num_pairs
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.random_edges import random_edges
from fdmvgcl.attacks.surrogate import TrainedVictim, train_supervised
from fdmvgcl.attacks.transfer import BLOCK, transfer_prbcd
from fdmvgcl.attacks.victim import WhiteBox
from fdmvgcl.datasets import Split
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph

# Nettack's flips at each target; there are as many targets as the budget pays for.
FLIPS_A_TARGET = 5

# Pairs that are looked at at a time at most.
_ALL_FROZEN, _ALL_OTHERS = 6_000_000, 200_000

# Past this many nodes Metattack takes several flips from one gradient.
_SLOW = 4000


@dataclass(frozen=True, eq=False)
class Scene:
    """A graph and what an attacker knows of it.

    Args:
        graph: clean.
        labels: class of each node, -1 for none, shape (N,).
        split: training nodes are the surrogate's; test nodes are the ones to be misclassified.
        seed: of every draw.
    """

    graph: Graph
    labels: NDArray[np.int64]
    split: Split
    seed: int = 0

    @cached_property
    def surrogate(self) -> TrainedVictim:
        """A graph convolutional network, trained once."""
        return train_supervised(self.graph, self.labels, self.split, seed=self.seed)

    def of(self, graph: Graph) -> "Scene":
        """The same with other edges or features."""
        return replace(self, graph=graph)

    def budget(self, rate: float) -> int:
        """Flips of edges at a rate."""
        return edge_budget(self.graph, rate)

    def flipped(self, kind: str, budget: int) -> Perturbation:
        """What a black-box attack of this name does."""
        check_kind(kind)
        if kind != "random":
            check_labels(self.labels, self.graph)
        return BLACK_BOX[kind](self, budget)

    def adaptive(self, kind: str, victim: WhiteBox, allowed: Allowed) -> Perturbation:
        """What a white-box attack of this name does to a victim."""
        whole = self._block(victim)
        block = {"prbcd": PRBCD_BLOCK if whole is None else min(whole, PRBCD_BLOCK)}.get(kind, whole)
        run = WHITE_BOX[kind]
        return run(victim, self.graph, self.labels, self.split.test, allowed, block=block, seed=self.seed)

    def _block(self, victim: WhiteBox) -> int | None:
        """All pairs at a time where memory allows: a frozen probe has them from thin matrices, others one by one."""
        most = _ALL_FROZEN if isinstance(victim, FrozenProbe) else _ALL_OTHERS
        return None if num_pairs(self.graph.num_nodes) <= most else _ALL_OTHERS


def check_kind(kind: str) -> None:
    """Refuse what is no name of a black-box attack."""
    if kind not in BLACK_BOX:
        raise ArgumentError("kind", f"must be one of {', '.join(BLACK_BOX)}, got {kind!r}")


def several_a_gradient(graph: Graph) -> int:
    """Flips that Metattack takes from one gradient on a graph: one, as published, where that does not take hours."""
    return 1 if graph.num_nodes <= _SLOW else 10


def _random(scene: Scene, budget: int) -> Perturbation:
    return random_edges(scene.graph, budget, seed=scene.seed)


def _dice(scene: Scene, budget: int) -> Perturbation:
    return dice(scene.graph, scene.labels, budget, seed=scene.seed)


def _prbcd(scene: Scene, budget: int) -> Perturbation:
    block = min(BLOCK, max(num_pairs(scene.graph.num_nodes) // 4, 4 * budget))
    return transfer_prbcd(
        scene.surrogate, scene.graph, scene.labels, scene.split.test, budget, block=block, seed=scene.seed
    )


def _metattack(scene: Scene, budget: int) -> Perturbation:
    several = several_a_gradient(scene.graph)
    return metattack(scene.graph, scene.labels, scene.split, budget, per_gradient=several, seed=scene.seed)


def _nettack(scene: Scene, budget: int) -> Perturbation:
    """Test nodes with edges, drawn at random, as long as the budget lasts."""
    targets = np.setdiff1d(scene.split.test, scene.graph.isolated)
    drawn = np.random.default_rng(scene.seed).permutation(targets)[: budget // FLIPS_A_TARGET]
    return nettack(scene.graph, scene.labels, scene.split, drawn.tolist(), FLIPS_A_TARGET)


BLACK_BOX: Mapping[str, Callable[[Scene, int], Perturbation]] = {
    "random": _random,
    "dice": _dice,
    "prbcd": _prbcd,
    "metattack": _metattack,
    "nettack": _nettack,
}
READING_FEATURES = ("prbcd", "metattack", "nettack")
ADAPTIVE: Mapping[str, Callable[..., Perturbation]] = {"prbcd": prbcd, "greedy": greedy}

# Projected gradient descent is PRBCD with all pairs in one block.
WHITE_BOX: Mapping[str, Callable[..., Perturbation]] = {**ADAPTIVE, "pgd": prbcd}

# Accuracies closer than this are not told apart: a node or two of a thousand.
TOLERANCE = 0.005


def weak_attacks(random: float, transfer: float, adaptive: float) -> tuple[str, ...]:
    """Which accuracies tell of a weak attack and not of robustness: adaptive ≤ transfer ≤ random must hold."""
    told = []
    if transfer > random + TOLERANCE:
        told.append("the transfer attack does less than random edges")
    if adaptive > min(transfer, random) + TOLERANCE:
        told.append("the adaptive attack does less than one that does not know the model")
    return tuple(told)
