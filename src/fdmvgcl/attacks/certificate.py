"""What no flip of edges can change: a sound, deterministic bound for diffusion by random walks and a linear head.

With ``P = D^(-1) A``, whose rows sum to one, diffusion is a walk of random length: ``E_α(-T^α (I - P)) = Σ_n p_n Pⁿ``,
p the fractional Poisson law, not negative and of sum one. A node's margin is ``Σ_n p_n (Pⁿ r)_i`` with r the nodes' own
margins. In Horner's order, ``V ← p_n r + P V`` from the last n to 0, each row of P mixes the neighbours' values with
weights that are not negative, so the least V comes of the least values: if in every step every row is let choose its
worst neighbourhood anew, the result bounds the margin on every graph that those choices include. p_0 is the share that
no edge can touch.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.attacks.frozen_probe import FrozenProbe
from fdmvgcl.attacks.pairs import check_undirected
from fdmvgcl.errors import ArgumentError
from fdmvgcl.fractional.response import EXACT, poisson_coefficients
from fdmvgcl.graphs.graph import Graph

Floats = NDArray[np.float64]

_TOLERANCE = 1e-9  # mass of the walk's lengths that is cut off; it is added back at its worst
_SLACK = 1e-6  # of the largest margin: rounding must certify nothing


@dataclass(frozen=True, eq=False)
class Certificate:
    """For each node the number of flips that provably cannot change its prediction.

    Args:
        predicted: column of each node's prediction on the clean graph, shape (N,).
        flips: shape (N,). The prediction holds on every graph that differs by flips of undirected edges of which no
            node is touched by more than so many: so many at the node itself, so many anywhere, or so many at each node.
    """

    predicted: NDArray[np.int64]
    flips: NDArray[np.int64]


def certify(graph: Graph, victim: FrozenProbe, *, most: int = 5) -> Certificate:
    """A certificate against edge flips for each node of a graph.

    Args:
        graph: undirected, without weights.
        victim: a probe on features that are diffused by the random walk, ``Encoding.diffused(…,
            normalisation="rw")``, whose normalisation of rows is ``"none"`` or ``"standardise"``.
        most: budgets from 1 to this are tried.
    """
    check_undirected(graph)
    if graph.weighted:
        raise ArgumentError("graph", "must have edges of weight 1 to be certified; it has others")
    margins, offset = before_diffusion(victim, graph)
    spec = victim.encoding.spec
    assert spec is not None
    law = np.clip(poisson_coefficients(spec, _TOLERANCE)[0].numpy(), 0, None)
    clean = sum_over_walks(graph, margins, law, 0) + offset
    predicted = clean.argmax(axis=1)
    flips = np.zeros(graph.num_nodes, dtype=np.int64)
    for budget in range(1, most + 1):
        held = _held(graph, margins, offset, law, predicted, budget) & (flips == budget - 1)
        flips[held] = budget
        if not held.any():
            break
    return Certificate(predicted, flips)


def sum_over_walks(graph: Graph, values: Floats, law: Floats, budget: int) -> Floats:
    """The least ``Σ_n p_n (Pⁿ values)`` over graphs with at most ``budget`` flips at any node, or less, (N, M)."""
    worst = np.stack([_least(graph, column, law, budget) for column in values.T], axis=1)
    cut = max(0.0, 1.0 - float(law.sum())) + _TOLERANCE
    return np.asarray(worst + cut * values.min(axis=0) if budget else worst)


def _held(
    graph: Graph, scores: Floats, offset: Floats, law: Floats, predicted: NDArray[np.int64], budget: int
) -> NDArray[np.bool_]:
    """Whether each node's predicted class stays above every other."""
    held = np.ones(graph.num_nodes, dtype=bool)
    for own in np.unique(predicted):
        nodes = predicted == own
        margins = np.delete(scores[:, [own]] - scores, own, axis=1)
        start = np.delete(offset[own] - offset, own)
        slack = _SLACK * (1 + np.abs(margins).max(initial=0.0))
        worst = sum_over_walks(graph, margins, law, budget) + start
        held[nodes] &= (worst[nodes] > slack).all(axis=1)
    return held


def _least(graph: Graph, own: Floats, law: Floats, budget: int) -> Floats:
    found = law[-1] * own
    for share in law[-2::-1]:
        found = share * own + _worst_mean(graph, found, budget)
    return np.asarray(found)


def _worst_mean(graph: Graph, values: Floats, budget: int) -> Floats:
    """For each node the least mean of its neighbours' values after at most ``budget`` flips at it, shape (N,).

    It takes away the largest and adds the smallest of all, be they neighbours already. A node left without neighbours
    keeps its own value.
    """
    indptr = graph.adjacency.indptr
    degrees = np.diff(indptr)
    rows = np.repeat(np.arange(len(values)), degrees)
    near = values[graph.adjacency.indices]
    total = np.zeros(len(values))
    np.add.at(total, rows, near)
    largest = np.concatenate([near[np.lexsort((-near, rows))], np.zeros(budget + 1)])
    smallest = np.concatenate([[0.0], np.cumsum(np.sort(values)[:budget])])
    best = np.full(len(values), np.inf)
    taken = np.zeros(len(values))
    for removed in range(budget + 1):
        possible = degrees >= removed
        for added in range(min(budget - removed, len(smallest) - 1) + 1):
            count = degrees - removed + added
            mean = np.divide(total - taken + smallest[added], count, out=values.copy(), where=count > 0)
            best = np.where(possible, np.minimum(best, mean), best)
        taken = taken + largest[np.minimum(indptr[:-1] + removed, len(largest) - 1)]
    return best


def before_diffusion(victim: FrozenProbe, graph: Graph) -> tuple[Floats, Floats]:
    """Decision values before diffusion, (N, C), and what is added after it, (C,)."""
    encoding, probe = victim.encoding, victim.choice.probe
    assert probe is not None
    if encoding.spec is None or encoding.weight is not None or encoding.activation != "identity":
        rule = "must be a probe on diffused features: activations and rows of unit length are not linear"
        raise ArgumentError("victim", f"{rule}, so that no bound is known for them")
    if encoding.spec.skip or encoding.spec.scheme != EXACT:
        raise ArgumentError("victim", "must diffuse exactly and without a skip-connection to be certified")
    if victim.normalise == "centre+rows":
        raise ArgumentError("victim", "must not scale rows to unit length to be certified, got 'centre+rows'")
    table, operator = encoding.prepare(graph)
    if operator.normalisation != "rw" or operator.self_loops:
        raise ArgumentError("victim", "must diffuse by the random walk (normalisation 'rw', no self-loops)")
    scaled = victim.normalise == "standardise"
    weights = probe.coefficients * (victim.scale[:, None] if scaled else 1.0)
    shift = -(victim.mean @ weights) if scaled else 0.0
    return table.dense().to(torch.float64).numpy() @ weights, probe.intercept + shift
