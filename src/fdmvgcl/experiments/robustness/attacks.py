"""Attacks of the robustness tables by name, each reading of the paper's words by one of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.attacks import Allowed, Perturbation, WhiteBox, feature_budget, nettack, predictions, transfer_prbcd
from fdmvgcl.attacks.metattack import flips_in_order
from fdmvgcl.attacks.pairs import num_pairs
from fdmvgcl.attacks.scene import FLIPS_A_TARGET, Scene
from fdmvgcl.attacks.transfer import BLOCK
from fdmvgcl.experiments.robustness.methods import METHODS, OURS, trained

# Targets of Nettack as Pro-GNN takes them: test nodes of more edges than this.
_EDGES_OF_A_TARGET = 10


@dataclass(frozen=True)
class BlackBox:
    """An attack that is the same for every row.

    Args:
        make: from a clean scene and a rate.
        told: the reading, for the table's notes.
        scored: which nodes' accuracy counts; None for all test nodes.
        paper: the attack in the paper's table that this is a reading of.
    """

    make: Callable[[Scene, float], Perturbation]
    told: str
    scored: Callable[[Scene], NDArray[np.int64]] | None = None
    paper: str | None = None


@dataclass(frozen=True)
class Adaptive:
    """An attack through each row's own gradients.

    Args:
        kind: a name of :data:`fdmvgcl.attacks.scene.WHITE_BOX`.
        features: how many features it flips besides, from the scene and the rate; None for none.
        told, paper: as for :class:`BlackBox`.
    """

    kind: str
    features: Callable[[Scene, float], int] | None
    told: str
    paper: str | None = None

    def make(self, scene: Scene, victim: WhiteBox, rate: float) -> Perturbation:
        found: Perturbation = _through_gradients(self, scene, victim, rate)  # type: ignore[arg-type]
        return found


@lru_cache(maxsize=len(METHODS))
def _through_gradients(attack: Adaptive, scene: Scene, victim: WhiteBox, rate: float) -> Perturbation:
    """Kept, as the flips made through one row's gradients are tried on the others, too."""
    features = attack.features(scene, rate) if attack.features else 0
    return scene.adaptive(attack.kind, victim, Allowed(scene.budget(rate), features))


def _share_of_ones(scene: Scene, rate: float) -> int:
    return feature_budget(scene.graph, rate)


def _named(kind: str) -> Callable[[Scene, float], Perturbation]:
    return lambda scene, rate: scene.flipped(kind, scene.budget(rate))


def _prbcd_own_labels(scene: Scene, rate: float) -> Perturbation:
    nodes = np.setdiff1d(np.arange(scene.graph.num_nodes), scene.split.train)
    return _prbcd(scene, rate, predictions(scene.surrogate, scene.graph), nodes)


def _prbcd_training(scene: Scene, rate: float) -> Perturbation:
    return _prbcd(scene, rate, scene.labels, scene.split.train)


def _prbcd(scene: Scene, rate: float, labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> Perturbation:
    budget = scene.budget(rate)
    block = min(BLOCK, max(num_pairs(scene.graph.num_nodes) // 4, 4 * budget))
    return transfer_prbcd(scene.surrogate, scene.graph, labels, nodes, budget, block=block, seed=scene.seed)


def _from_ours(scene: Scene, rate: float) -> Perturbation:
    return _PRBCD.make(scene, trained(scene, OURS), rate)


# Curves go up to this rate: flips of a lower one are the first of these.
_MOST = 0.25

# Metattack takes this share of the edges from one gradient: 250 gradients for all rates. One flip a gradient, as it was
# published, takes hours where edges are many.
_A_GRADIENT = 0.001


def _metattack(scene: Scene, rate: float) -> Perturbation:
    return Perturbation(_meta_flips(scene, scene.budget(max(rate, _MOST)))[: scene.budget(rate)])


@lru_cache(maxsize=1)
def _meta_flips(scene: Scene, budget: int) -> NDArray[np.int64]:
    several = max(1, scene.budget(_A_GRADIENT))
    return flips_in_order(scene.graph, scene.labels, scene.split, budget, per_gradient=several, seed=scene.seed)


def busy_targets(scene: Scene) -> NDArray[np.int64]:
    """Test nodes of more than ten edges."""
    test = scene.split.test
    degrees = np.diff(scene.graph.adjacency.indptr)
    found: NDArray[np.int64] = test[degrees[test] > _EDGES_OF_A_TARGET]
    return found


def _nettack_targets(scene: Scene, rate: float) -> Perturbation:
    targets = busy_targets(scene).tolist()
    return nettack(scene.graph, scene.labels, scene.split, targets, FLIPS_A_TARGET)


_PRBCD = Adaptive("prbcd", None, "through the row's own gradients, test nodes, true labels")

ATTACKS: Mapping[str, BlackBox | Adaptive] = {
    "random": BlackBox(_named("random"), "random edges are added", paper="random"),
    "dice": BlackBox(
        _named("dice"), "edges within classes removed, between classes added: the paper's words on Nettack", None,
        "nettack",
    ),
    "prbcd": BlackBox(
        _named("prbcd"), "a GCN of the attacker's own, against the test nodes' true labels", None, "prbcd"
    ),
    "prbcd, own labels": BlackBox(
        _prbcd_own_labels, "the same against all nodes that are not for training, by what that GCN predicts", None,
        "prbcd",
    ),
    "prbcd, training nodes": BlackBox(
        _prbcd_training, "the same against the training nodes, as it comes out where no other target is named", None,
        "prbcd",
    ),
    "metattack": BlackBox(
        _metattack, "a linear GCN's training spoilt; it sees the training labels alone, and each gradient gives a "
        "thousandth of the edges", None, "metattack"
    ),
    "nettack": BlackBox(
        _named("nettack"), "five flips at each of as many test nodes as the rate of edges pays for", None, "nettack"
    ),
    "nettack, targets": BlackBox(
        _nettack_targets, "five flips at each test node of more than ten edges, and these alone are scored",
        busy_targets, "nettack",
    ),
    f"prbcd on {OURS}": BlackBox(_from_ours, f"made with the gradients of {OURS} for all rows"),
    "adaptive prbcd": _PRBCD,
    "adaptive greedy": Adaptive("greedy", None, "the same, whole flips one after the other"),
    "white pgd": Adaptive(
        "pgd", _share_of_ones, "features flipped, too, at the same rate of the ones", "white pgd"
    ),
    "white prbcd": Adaptive(
        "prbcd", _share_of_ones, "features flipped, too, at the same rate of the ones", "white prbcd"
    ),
    "white prbcd, few": Adaptive("prbcd", Scene.budget, "as many features flipped as edges", "white prbcd"),
}  # fmt: skip
