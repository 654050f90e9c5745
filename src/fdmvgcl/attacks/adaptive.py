"""White-box attacks through the victim's own gradients, on structure and features.

All relax flips to numbers in [0, 1] and judge what they find on the discrete graph, by the victim's own decision:
with an operator that has no self-loops the last edge of a node has no derivative until it is gone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.attacks.budget import feature_table
from fdmvgcl.attacks.objectives import OBJECTIVES, Aim
from fdmvgcl.attacks.pairs import Pairs, without_new_isolates
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.relaxation import (
    Flips,
    edge_candidates,
    feature_candidates,
    largest,
    one_a_node,
    relaxed,
    resampled_edges,
    slopes,
)
from fdmvgcl.attacks.victim import WhiteBox
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.graph import Graph

Labels: TypeAlias = NDArray[np.int64]
# Called after each step with its number, how many there are, and the loss before it.
Progress: TypeAlias = Callable[[int, int, float], None]

BLOCK, EPOCHS, FINAL_SAMPLES = 60_000, 80, 20
_SEARCHING = 0.75  # of the epochs: the block is resampled; after, what was found is sharpened
_STEP = 0.1


@dataclass(frozen=True)
class Allowed:
    """What may be changed.

    Args:
        edges: flips of edges.
        features: flips of binary features.
        radius: largest change of any feature, in place of flips; 0 for none.
    """

    edges: int = 0
    features: int = 0
    radius: float = 0.0

    def __post_init__(self) -> None:
        if self.radius and self.features:
            raise ArgumentError("radius", f"must be 0 where features are flipped, got {self.radius}")
        if min(self.edges, self.features, self.radius) < 0:
            raise ArgumentError("budget", f"must not be negative, got {self}")


def prbcd(
    victim: WhiteBox,
    graph: Graph,
    labels: Labels,
    nodes: NDArray[np.int64],
    allowed: Allowed,
    *,
    block: int | None = BLOCK,
    epochs: int = EPOCHS,
    objective: str = "tanh-margin",
    seed: int = 0,
    progress: Progress | None = None,
) -> Perturbation:
    """Projected randomised block coordinate descent (Geisler et al. 2021), on structure and features.

    Args:
        victim: a white box; it stays as it is.
        graph: the clean graph, undirected.
        labels: what the nodes should be, shape (N,).
        nodes: those whose prediction is to be changed, shape (n,).
        allowed: the budgets.
        block: pairs that are looked at at a time, exchanged in the first three quarters of the epochs; None for all
            pairs, which makes it plain projected gradient descent.
        epochs: steps.
        objective: ``"tanh-margin"`` or ``"masked-cross-entropy"``.
        seed: of the blocks and of the last draws.
        progress: called after each step.
    """
    rng = np.random.default_rng(seed)
    judge = _Judge(victim, graph, Aim.of(victim, labels, nodes), objective)
    edges = edge_candidates(graph, allowed.edges, block, rng)
    state = _State(edges, feature_candidates(graph, allowed.features), _no_shift(graph, allowed))
    for epoch in range(epochs if _any(allowed) else 0):
        loss, state = _step(judge, state, allowed, epoch, epochs)
        judge.consider(state.best())
        if block is not None and epoch < _SEARCHING * epochs - 1:
            state = replace(state, edges=resampled_edges(state.edges, graph, rng))
        elif block is not None and epoch < _SEARCHING * epochs:
            state = judge.best_state or state
        judge.remember(state)
        if progress is not None:
            progress(epoch + 1, epochs, loss)
    for _ in range(FINAL_SAMPLES if _any(allowed) else 0):
        judge.consider((judge.best_state or state).drawn(rng))
    return judge.best


def pgd(
    victim: WhiteBox,
    graph: Graph,
    labels: Labels,
    nodes: NDArray[np.int64],
    allowed: Allowed,
    *,
    epochs: int = EPOCHS,
    objective: str = "tanh-margin",
    seed: int = 0,
    progress: Progress | None = None,
) -> Perturbation:
    """Projected gradient descent over all pairs (Xu et al. 2019); see :func:`prbcd`."""
    return prbcd(
        victim,
        graph,
        labels,
        nodes,
        allowed,
        block=None,
        epochs=epochs,
        objective=objective,
        seed=seed,
        progress=progress,
    )


def greedy(
    victim: WhiteBox,
    graph: Graph,
    labels: Labels,
    nodes: NDArray[np.int64],
    allowed: Allowed,
    *,
    steps: int = 40,
    block: int | None = None,
    objective: str = "masked-cross-entropy",
    seed: int = 0,
    progress: Progress | None = None,
) -> Perturbation:
    """Whole flips, the steepest first, a share of the budget a step, and of a node at most one a step.

    The gradient overstates what a second flip at the same node would gain, up to eight times: without that limit flips
    pile up on few nodes. See :func:`prbcd` for the arguments; features with a radius need that.
    """
    if allowed.radius:
        raise ArgumentError("radius", "must be 0 for greedy, which flips")
    rng = np.random.default_rng(seed)
    judge = _Judge(victim, graph, Aim.of(victim, labels, nodes), objective)
    current, made = graph, Perturbation()
    for step in range(steps):
        left = Allowed(
            _share(allowed.edges, len(made.flips), step, steps),
            _share(allowed.features, len(made.feature_flips), step, steps),
        )
        if not _any(left):
            continue
        edges, features = edge_candidates(current, left.edges, block, rng), feature_candidates(current, left.features)
        found = victim.gradients(current, judge.loss, edges.places, features=bool(left.features))
        by_edges, by_features = slopes(found, features)
        made = Perturbation(
            np.concatenate([made.flips, _steepest(edges, by_edges, made.flips)]),
            np.concatenate([made.feature_flips, _steepest(features, by_features, made.feature_flips)]),
        )
        made = replace(made, flips=without_new_isolates(graph, made.flips))
        current = made.apply(graph)
        if progress is not None:
            progress(step + 1, steps, found.loss)
    judge.consider(made)
    return judge.best


# -- parts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _State:
    edges: Flips
    features: Flips
    shift: NDArray[np.float32] | None

    def best(self) -> Perturbation:
        return Perturbation(self.edges.best(), self.features.best(), self.shift)

    def drawn(self, rng: np.random.Generator) -> Perturbation | None:
        edges, features = self.edges.drawn(rng), self.features.drawn(rng)
        return None if edges is None or features is None else Perturbation(edges, features, self.shift)


class _Judge:
    """Keeps the perturbation that leaves the fewest of the nodes right, and of equals the one of larger loss."""

    def __init__(self, victim: WhiteBox, graph: Graph, aim: Aim, objective: str) -> None:
        if objective not in OBJECTIVES:
            raise ArgumentError("objective", f"must be one of {tuple(OBJECTIVES)}, got {objective!r}")
        self.victim, self.graph, self.aim = victim, graph, aim
        self.loss = OBJECTIVES[objective](aim)
        self.best, self.value = Perturbation(), self._value(graph)
        self.best_state: _State | None = None
        self._improved = False

    def _value(self, graph: Graph) -> tuple[float, float]:
        margins = self.aim.margins(torch.from_numpy(self.victim.decision(graph)))
        return float((margins > 0).double().mean()), float(margins.tanh().mean())

    def consider(self, found: Perturbation | None) -> None:
        if found is None:
            return
        found = replace(found, flips=without_new_isolates(self.graph, found.flips))
        value = self._value(found.apply(self.graph))
        self._improved = value > self.value
        if self._improved:
            self.best, self.value = found, value

    def remember(self, state: _State) -> None:
        if self._improved:
            self.best_state = state


def _any(allowed: Allowed) -> bool:
    return bool(allowed.edges or allowed.features or allowed.radius)


def _no_shift(graph: Graph, allowed: Allowed) -> NDArray[np.float32] | None:
    return np.zeros_like(feature_table(graph)) if allowed.radius else None


def _step(judge: _Judge, state: _State, allowed: Allowed, epoch: int, epochs: int) -> tuple[float, _State]:
    """One step up the gradient; the steps grow shorter once the search is over."""
    needs_features = bool(allowed.features or allowed.radius)
    graph = relaxed(judge.graph, state.edges, state.features, state.shift)
    found = judge.victim.gradients(graph, judge.loss, state.edges.places, features=needs_features)
    by_edges, by_features = slopes(found, state.features)
    size = _STEP / np.sqrt(max(0.0, epoch - _SEARCHING * epochs) + 1)
    shift = state.shift
    if shift is not None and found.features is not None:
        reach = allowed.radius * 2.5 / epochs
        shift = np.clip(shift + reach * np.sign(found.features), -allowed.radius, allowed.radius).astype(np.float32)
    return found.loss, _State(state.edges.stepped(by_edges, size), state.features.stepped(by_features, size), shift)


def _share(budget: int, spent: int, step: int, steps: int) -> int:
    """Flips of this step, so that the budget is spent when the last one ends."""
    return -(-(budget - spent) // (steps - step))


def _steepest(flips: Flips, slope: NDArray[np.float64], before: Pairs) -> Pairs:
    gain = slope * flips.direction
    if len(before):
        gain[np.isin(flips.places @ [1 << 32, 1], before @ [1 << 32, 1])] = 0  # no flip is taken back
    order = largest(gain, 50 * flips.budget)
    order = order[gain[order] > 0]
    return flips.places[order[one_a_node(flips.places[order], flips.budget)]]
