"""Nettack (Zügner et al. 2018), direct attacks on the structure, all flips of a target scored at once in closed form.

With ``d = degree + 1``, ``Z = X W`` and ``S = (A + I) D^(-1/2) Z`` the surrogate's logits are ``logits_u = d_u^(-1/2)
Σ_w (A + I)_uw S_w / d_w``. A flip (u, v) changes d_u and d_v, and S on the two neighbourhoods; the one term that pairs
neighbours of both is ``Σ_{w ∈ N(u)} A_wv / d_w``, a sparse row product for all v together.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.attacks.budget import check_budget, feature_table
from fdmvgcl.attacks.linear_surrogate import binary, fit_linear
from fdmvgcl.attacks.pairs import check_undirected, pairs_of
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.datasets import Split
from fdmvgcl.errors import ArgumentError, shown
from fdmvgcl.graphs.graph import Graph

Floats = NDArray[np.float64]

# The degrees must look as if drawn from the same power law: the test's smallest degree and largest statistic.
SMALLEST_DEGREE, LARGEST_STATISTIC = 2, 0.004


def nettack(
    graph: Graph,
    labels: NDArray[np.int64],
    split: Split,
    targets: Sequence[int],
    flips: int,
    *,
    degree_test: bool = True,
) -> Perturbation:
    """``flips`` edges at each target, the targets one after the other in the same graph. Nothing is drawn.

    Args:
        graph: with features; weights of edges are taken as 1.
        labels: class of each node, shape (N,).
        split: whose training nodes the surrogate is trained on.
        targets: numbers of the nodes to be misclassified.
        flips: at each of them.
        degree_test: keep to flips after which the degrees still look like the clean ones (likelihood ratio of power
            laws below 0.004).
    """
    check_undirected(graph)
    check_budget("flips", flips, graph.num_nodes - 1, "the other nodes")
    isolated = np.intersect1d(targets, graph.isolated)
    if len(isolated):
        raise ArgumentError("targets", f"must have an edge, got {shown(graph.ids[isolated[0]])}, which is isolated")
    weight, classes = fit_linear(graph, labels, split)
    surrogate = LinearSurrogate(graph, feature_table(graph) @ weight)
    clean_degrees = surrogate.degrees.copy()
    made: list[tuple[int, int]] = []
    for target in map(int, targets):
        column = int(np.searchsorted(classes, labels[target]))
        if column == len(classes) or classes[column] != labels[target]:
            continue  # a class that the surrogate does not know is missed already
        done = {v if u == target else u for u, v in made if target in (u, v)}
        for _ in range(flips):
            allowed = surrogate.allowed(target, done)
            if degree_test:
                allowed &= alike(clean_degrees, surrogate.degrees, target, surrogate.signs(target))
            if not allowed.any():
                break
            gains = margins(surrogate.logits_after(target), column)
            chosen = int(np.argmax(np.where(allowed, gains, -np.inf)))
            surrogate.flip(target, chosen)
            done.add(chosen)
            made.append((target, chosen))
    return Perturbation(pairs_of(made))


def margins(logits: Floats, column: int) -> Floats:
    """Largest other logit minus that of a column, for logits (M, C)."""
    return np.asarray(np.delete(logits, column, axis=1).max(axis=1, initial=-np.inf) - logits[:, column])


class LinearSurrogate:
    """``Â² Z`` of a graph whose edges change one by one.

    Args:
        graph: where it begins.
        z: shape (N, C).
    """

    def __init__(self, graph: Graph, z: Floats) -> None:
        matrix = binary(graph)
        self.neighbours = [set(row.tolist()) for row in np.split(matrix.indices, matrix.indptr[1:-1])]
        self.degrees = np.diff(matrix.indptr).astype(np.float64)
        self.z = z
        scaled = z / np.sqrt(self.degrees + 1)[:, None]
        self.sums: Floats = matrix @ scaled + scaled

    def signs(self, target: int) -> Floats:
        """1 where a flip adds an edge to the target, -1 where it takes one away, shape (N,)."""
        found = np.ones(len(self.z))
        found[list(self.neighbours[target])] = -1
        return found

    def allowed(self, target: int, done: set[int]) -> NDArray[np.bool_]:
        """Other nodes that were not flipped before, and no last edge of either end."""
        found = np.ones(len(self.z), dtype=bool)
        found[[target, *done]] = False
        near = list(self.neighbours[target])
        found[near] &= self.degrees[near] > 1
        if self.degrees[target] < 2:
            found[near] = False
        return found

    def logits(self, node: int) -> Floats:
        """Shape (C,)."""
        d = self.degrees + 1
        near = [node, *self.neighbours[node]]
        return np.asarray((self.sums[near] / d[near, None]).sum(axis=0) / np.sqrt(d[node]))

    def logits_after(self, u: int) -> Floats:
        """Those of u after a flip of (u, v), for every v at once, shape (N, C); row u means nothing."""
        z, sums, d = self.z, self.sums, self.degrees + 1
        near = list(self.neighbours[u])
        present = np.zeros((len(z), 1))
        present[near] = 1
        sign = 1 - 2 * present[:, 0]
        d_u, d_v = (d[u] + sign)[:, None], (d + sign)[:, None]
        shift_u, shift_v = d_u**-0.5 - d[u] ** -0.5, d_v**-0.5 - d[:, None] ** -0.5
        common = np.zeros(len(z))
        for w in near:
            common[list(self.neighbours[w])] += 1 / d[w]
        own = sums[u] + shift_u * z[u] + ((1 - present) * d_v**-0.5 - present * d[:, None] ** -0.5) * z
        other = (1 - present) * (sums + shift_v * z + d_u**-0.5 * z[u]) / d_v
        stay = (sums[near] / d[near, None]).sum(axis=0) - present * sums / d[:, None]
        stay = stay + shift_u * z[u] * ((1 / d[near]).sum() - present / d[:, None])
        stay = stay + common[:, None] * shift_v * z
        return np.asarray((own / d_u + other + stay) * d_u**-0.5)

    def flip(self, u: int, v: int) -> None:
        """Flip (u, v) and all that depends on it."""
        sign = -1 if v in self.neighbours[u] else 1
        touched = {u, v} | self.neighbours[u] | self.neighbours[v]
        for a, b in ((u, v), (v, u)):
            (self.neighbours[a].add if sign > 0 else self.neighbours[a].discard)(b)
            self.degrees[a] += sign
        root = np.sqrt(self.degrees + 1)
        for w in touched:
            near = [w, *self.neighbours[w]]
            self.sums[w] = (self.z[near] / root[near, None]).sum(axis=0)


# -- the test of degrees ----------------------------------------------------------------------------------------------


def alike(clean: Floats, degrees: Floats, u: int, signs: Floats) -> NDArray[np.bool_]:
    """Whether the degrees after a flip (u, v) pass the test against the clean ones, for every v, shape (N,)."""
    start_count, start_sum = _tail(clean)
    count, total = _tail(degrees)
    for before, after in ((degrees, degrees + signs), (np.full(1, degrees[u]), degrees[u] + signs)):
        count = count + (after >= SMALLEST_DEGREE).astype(float) - (before >= SMALLEST_DEGREE)
        total = total + _logs(after) - _logs(before)
    together = _likelihood(start_count + count, start_sum + total)
    statistic = -2 * together + 2 * (_likelihood(start_count, start_sum) + _likelihood(count, total))
    return np.asarray(statistic < LARGEST_STATISTIC)


def _tail(degrees: Floats) -> tuple[Floats, Floats]:
    return np.asarray(float((degrees >= SMALLEST_DEGREE).sum())), np.asarray(_logs(degrees).sum())


def _logs(degrees: Floats) -> Floats:
    return np.where(degrees >= SMALLEST_DEGREE, np.log(np.maximum(degrees, 1)), 0.0)


def _likelihood(count: Floats, total: Floats) -> Floats:
    """Of ``count`` degrees with this sum of logarithms, under the power law that fits them best."""
    count = np.maximum(count, 1e-12)
    exponent = 1 + count / np.maximum(total - count * np.log(SMALLEST_DEGREE - 0.5), 1e-12)
    return np.asarray(count * np.log(exponent) + count * exponent * np.log(SMALLEST_DEGREE) - (exponent + 1) * total)
