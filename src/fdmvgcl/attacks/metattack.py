"""Metattack (Zügner & Günnemann 2019), Meta-Self, by a meta-gradient of low rank.

The surrogate's logits are ``H W_1 W_2`` with ``H = Â² X``, so training sees the training rows of H alone. The gradient
by H is a product of rank C on all rows, and something on the training rows; hence that by Â, ``G (ÂX)ᵀ + (Â G) Xᵀ``, is
of rank 2 (C + n) for n training nodes, and every pair's derivative comes from two thin matrices.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fdmvgcl.attacks.budget import check_budget, feature_table
from fdmvgcl.attacks.edge_gradient import EdgeGradient, from_factors
from fdmvgcl.attacks.linear_surrogate import binary
from fdmvgcl.attacks.pairs import num_pairs
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.relaxation import one_a_node
from fdmvgcl.datasets import Split
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator

HIDDEN, STEPS, RATE, MOMENTUM = 16, 100, 0.1, 0.9


def metattack(
    graph: Graph,
    labels: NDArray[np.int64],
    split: Split,
    budget: int,
    *,
    per_gradient: int = 1,
    seed: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
) -> Perturbation:
    """Flips that hurt a model trained on the flipped graph: poisoning. No node loses its last edge.

    Args:
        graph: with features; weights of edges are taken as 1.
        labels: class of each node, shape (N,); of the training nodes only these are read, for all others the
            surrogate's own predictions on the clean graph stand in.
        split: whose training nodes those are.
        budget: flips.
        per_gradient: flips taken from one gradient, of which no two share a node: 1 is the attack as published.
        seed: of the surrogate's initial weights.
        progress: called after each gradient with flips made, the budget and the loss.
    """
    return Perturbation(
        flips_in_order(graph, labels, split, budget, per_gradient=per_gradient, seed=seed, progress=progress)
    )


def flips_in_order(
    graph: Graph,
    labels: NDArray[np.int64],
    split: Split,
    budget: int,
    *,
    per_gradient: int = 1,
    seed: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
) -> NDArray[np.int64]:
    """The flips of :func:`metattack` as they were made, (≤ budget, 2); a smaller budget's are the first of them."""
    check_budget("budget", budget, num_pairs(graph.num_nodes), "the pairs of nodes")
    meta = MetaGradient(graph, labels, split, seed)
    made = np.empty((0, 2), dtype=np.int64)
    while len(made) < budget:
        attacked = Perturbation(made).apply(graph)
        loss, gradient = meta(attacked)
        flips = _best(attacked, gradient, made, min(per_gradient, budget - len(made)))
        if not len(flips):
            break
        made = np.concatenate([made, flips])
        if progress is not None:
            progress(len(made), budget, loss)
    return made


class MetaGradient:
    """The loss of the surrogate *after* training, and its derivative by every pair of a graph."""

    def __init__(
        self, graph: Graph, labels: NDArray[np.int64], split: Split, seed: int, dtype: torch.dtype = torch.float32
    ) -> None:
        self.x = torch.tensor(feature_table(graph), dtype=dtype)
        classes, goals = np.unique(labels[split.train], return_inverse=True)
        generator = torch.Generator().manual_seed(seed)
        shapes = [(self.x.shape[1], HIDDEN), (HIDDEN, len(classes))]
        self.start = [nn.init.xavier_uniform_(torch.empty(shape, dtype=dtype), generator=generator) for shape in shapes]
        self.train = torch.from_numpy(split.train)
        self.goals = nn.functional.one_hot(torch.from_numpy(goals), len(classes)).to(dtype)
        others = np.setdiff1d(np.arange(graph.num_nodes), split.train)
        self.others = torch.from_numpy(others)
        smooth, _ = self._smoothed(self._operator(graph))
        with torch.no_grad():
            self.guesses = (smooth[self.others] @ self.trained(smooth[self.train])).argmax(1)

    def __call__(self, graph: Graph) -> tuple[float, EdgeGradient]:
        operator = self._operator(graph)
        smooth, once = self._smoothed(operator)
        rows = smooth[self.train].requires_grad_()
        product = self.trained(rows)
        logits = smooth[self.others] @ product
        loss = nn.functional.cross_entropy(logits, self.guesses)
        (by_rows,) = torch.autograd.grad(loss, rows)
        wrong = (logits.detach().softmax(1) - nn.functional.one_hot(self.guesses, logits.shape[1])) / len(logits)
        nodes, parts = len(self.x), logits.shape[1] + len(rows)
        left = torch.zeros(nodes, parts, dtype=self.x.dtype)
        left[self.others, : logits.shape[1]] = wrong
        left[self.train, torch.arange(logits.shape[1], parts)] = 1.0
        right = torch.cat([product.detach().T, by_rows])  # ∂L/∂H = left @ right
        degrees = torch.from_numpy(graph.degrees).to(self.x.dtype) + operator.self_loops
        left = torch.cat([left, _product(operator, left)], dim=1)
        right = torch.cat([once @ right.T, self.x @ right.T], dim=1)
        return loss.item(), from_factors(operator, degrees, left, right)

    def trained(self, rows: Tensor) -> Tensor:
        """``W_1 W_2`` after training on rows of H (n, F), shape (F, C), differentiable in the rows."""
        weights, speed = list(self.start), [torch.zeros_like(w) for w in self.start]
        for _ in range(STEPS):
            hidden = rows @ weights[0]
            wrong = ((hidden @ weights[1]).softmax(1) - self.goals) / len(rows)
            slopes = [rows.T @ (wrong @ weights[1].T), hidden.T @ wrong]
            speed = [MOMENTUM * v + slope for v, slope in zip(speed, slopes, strict=True)]
            weights = [w - RATE * v for w, v in zip(weights, speed, strict=True)]
        return weights[0] @ weights[1]

    def _operator(self, graph: Graph) -> Operator:
        entries = binary(graph).tocoo()
        index = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
        return Operator.from_edges(index, None, graph.num_nodes, self_loops=1.0).to(dtype=self.x.dtype)

    def _smoothed(self, operator: Operator) -> tuple[Tensor, Tensor]:
        """``Â² X`` and ``Â X``."""
        once = _product(operator, self.x)
        return _product(operator, once), once


def _product(operator: Operator, x: Tensor) -> Tensor:
    return operator.csr @ x


def _best(graph: Graph, gradient: EdgeGradient, before: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The flips of largest gain, without those made before and without last edges."""
    gain = np.triu(gradient.full(), 1)
    rows, columns = graph.adjacency.nonzero()
    gain[rows, columns] *= -1
    degrees = np.diff(graph.adjacency.indptr)
    last = np.minimum(degrees[rows], degrees[columns]) < 2
    gain[rows[last], columns[last]] = 0
    gain[before[:, 0], before[:, 1]] = 0
    flat = gain.ravel()
    several = min(len(flat), 1 if count == 1 else 50 * count)
    order = np.argpartition(-flat, several - 1)[:several]
    order = order[np.argsort(-flat[order], kind="stable")]
    flips = np.stack(np.divmod(order[flat[order] > 0], graph.num_nodes), axis=1)
    return flips[one_a_node(flips, count)]
