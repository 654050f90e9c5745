"""A linear probe on frozen views: what a user of embeddings has in service, and an adaptive attack goes through."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.attacks.budget import feature_table
from fdmvgcl.attacks.edge_gradient import edge_gradient, states
from fdmvgcl.attacks.encoding import Encoding
from fdmvgcl.attacks.pairs import Pairs
from fdmvgcl.attacks.victim import Gradients, Loss
from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import Choice, Normalise, Search, Trial, Views, choose, hide_test
from fdmvgcl.evaluation.views import reciprocal
from fdmvgcl.fractional.response import chebyshev_coefficients
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.model import FDMVGCL


@dataclass(frozen=True)
class Precision:
    """How exact gradients are; decisions always are. A direction needs less than a number.

    Args:
        tolerance: of the expansion in Chebyshev polynomials.
        rank: of the features as gradients by edges see them; None for all of it.
        dtype: of the arithmetic.
    """

    tolerance: float = 1e-3
    rank: int | None = 300
    dtype: torch.dtype = torch.float32


@dataclass(frozen=True, eq=False)
class FrozenProbe:
    """``((Σ_k β_k Y_k) - μ) / … · coefficients + intercept`` with β, μ and all the rest as the clean graph chose them.

    Args:
        encoding: the views Y_k of a graph.
        choice: what the clean validation nodes chose: β, the normalisation, the probe.
        mean, scale: μ of the clean graph, and 1 / σ for ``standardise``, shape (d,).
        precision: of the gradients.
        clean: the graph that it was fitted on.
    """

    encoding: Encoding
    choice: Choice
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    clean: Graph = field(repr=False)
    precision: Precision = Precision()

    @classmethod
    def of_model(
        cls,
        model: FDMVGCL,
        graph: Graph,
        labels: NDArray[np.int64],
        split: Split,
        *,
        search: Search | None = None,
    ) -> "FrozenProbe":
        """A probe on a fitted model's embedding of a clean graph.

        Args:
            model: fitted; it is not trained again.
            graph: the clean graph.
            labels: class of each node, shape (N,). Of the split's test nodes none is read.
            split: whose training and validation nodes the probe is fitted on.
            search: what is chosen on validation; β too if not given.
        """
        return cls.chosen([Encoding.of_model(model)], graph, labels, split, search=search)

    @classmethod
    def chosen(
        cls,
        encodings: Sequence[Encoding],
        graph: Graph,
        labels: NDArray[np.int64],
        split: Split,
        *,
        search: Search | None = None,
    ) -> "FrozenProbe":
        """The encoding among these, β, normalisation and penalty that the clean validation nodes choose."""
        trials = [Trial({}, partial(_opened, encoding, graph)) for encoding in encodings]
        search = Search(tune_weights=True) if search is None else search
        (choice,) = choose(trials, [hide_test(labels, split)], [split], metric="accuracy", search=search)
        encoding, beta = encodings[choice.trial], np.array(choice.beta)
        views = Views(_opened(encoding, graph))
        mean = views.mean(beta)
        scale = reciprocal(views.deviation(beta), relative_to=np.abs(mean))
        return cls(encoding, choice, mean, scale, graph)

    @property
    def classes(self) -> NDArray[np.int64]:
        return self.choice.classes

    @property
    def normalise(self) -> Normalise:
        return self.choice.normalise

    def decision(self, graph: Graph) -> NDArray[np.float64]:
        """By the exact engine, shape (N, C)."""
        with torch.no_grad():
            return self.head(self.encoding.views(graph).double()).numpy()

    def head(self, views: Tensor) -> Tensor:
        """Decision values (N, C) of views (K, N, d), differentiable, in the views' dtype."""
        beta, mean, scale, coefficients, intercept = (each.to(views) for each in self._parts)
        z = (beta[:, None, None] * views).sum(0)
        if self.normalise == "standardise":
            z = (z - mean) * scale
        elif self.normalise == "centre+rows":
            z = z - mean
            norm = z.norm(dim=1, keepdim=True)
            z = z * torch.where(norm > torch.finfo(torch.float32).eps * mean.norm(), 1 / norm, 0.0)
        return z @ coefficients + intercept

    @cached_property
    def _parts(self) -> tuple[Tensor, ...]:
        probe = self.choice.probe
        assert probe is not None
        arrays = (np.array(self.choice.beta), self.mean, self.scale, probe.coefficients, probe.intercept)
        return tuple(torch.from_numpy(np.asarray(array)) for array in arrays)

    def gradients(self, graph: Graph, loss: Loss, pairs: Pairs, *, features: bool = False) -> Gradients:
        """By the closed form of :mod:`fdmvgcl.attacks.edge_gradient`; any number of pairs, all of them too."""
        dtype, encoding = self.precision.dtype, self.encoding
        table, operator = encoding.prepare(graph)
        operator = operator.to(dtype=dtype)
        narrow = None if features or encoding.spec is None else self._narrow
        x = _projected(table, narrow).to(dtype)
        weight = self._weight(narrow)
        if encoding.spec is None:
            value, inner = self._backward((x[None] if weight is None else x @ weight), loss)
            by_x = inner.sum(0) if weight is None else (inner @ weight.mT).sum(0)
            return Gradients(value, np.zeros(len(pairs)), self._by_features(graph, by_x) if features else None)
        degrees = torch.from_numpy(encoding.degrees(graph)).to(dtype) + operator.self_loops
        root = None if operator.similarity is None else operator.similarity[:, None]
        start = x if root is None else x * root
        coefficients = chebyshev_coefficients(encoding.spec, self.precision.tolerance).to(dtype)
        basis = states(operator, start, coefficients.shape[1])
        mixed = torch.einsum("kj,jnr->knr", coefficients, basis)
        views = mixed if weight is None else mixed @ weight
        value, grad = self._backward(views if root is None else views / root, loss)
        inner = grad if root is None else grad / root
        back = inner if weight is None else inner @ weight.mT
        found, by_x = edge_gradient(operator, degrees, basis, torch.einsum("kj,knr->jnr", coefficients, back))
        if root is not None:
            by_root = (by_x * x).sum(1) - (grad * views).sum((0, 2)) / root[:, 0] ** 2
            found = found.with_roots(by_root)
            by_x = by_x * root
        return Gradients(value, found.at(pairs), self._by_features(graph, by_x) if features else None)

    def _backward(self, diffused: Tensor, loss: Loss) -> tuple[float, Tensor]:
        """The loss and its derivative by the views before they are activated, shape (K, N, d)."""
        start = diffused.detach().requires_grad_()
        value = loss(self.head(self.encoding.finished(start.clone())))
        return value.item(), torch.autograd.grad(value, start)[0]

    def _by_features(self, graph: Graph, by_x: Tensor) -> NDArray[np.float32]:
        return through_scaling(self.encoding.transform, graph, by_x.numpy()).astype(np.float32)

    def _weight(self, narrow: Tensor | None) -> Tensor | None:
        """W as it follows on X, or on X in its few directions."""
        weight = self.encoding.weight
        if weight is None:
            return None if narrow is None else narrow.T[None].to(self.precision.dtype)
        return (weight if narrow is None else narrow.T @ weight).to(self.precision.dtype)

    @cached_property
    def _narrow(self) -> Tensor | None:
        """The main directions of the clean X, orthonormal columns (F, rank); None where there are few columns."""
        table, _ = self.encoding.prepare(self.clean)
        x, rank = table.dense().double(), self.precision.rank
        if rank is None or x.shape[1] <= rank:
            return None
        main: Tensor
        if x.shape[1] <= x.shape[0]:
            main = torch.linalg.eigh(x.T @ x)[1][:, -rank:]
        else:
            main = torch.linalg.qr(x.T @ torch.linalg.eigh(x @ x.T)[1][:, -rank:])[0]
        return main.float()


def _opened(encoding: Encoding, graph: Graph) -> list[NDArray[np.float32]]:
    return list(encoding.views(graph).numpy())


def _projected(table: FeatureMatrix, narrow: Tensor | None) -> Tensor:
    return table.dense() if narrow is None else table.project(narrow[None])[0]


def through_scaling(transform: FeatureTransform, graph: Graph, by_x: NDArray[np.floating]) -> NDArray[np.floating]:
    """The derivative by the graph's own features from that by the scaled ones, (N, F); structural columns stay."""
    table = feature_table(graph)
    by_x = by_x[:, : transform.columns]
    if transform.deviation is not None:
        table = table / transform.deviation
    if transform.scaling in ("rows", "both"):
        total = np.abs(table).sum(axis=1, keepdims=True)
        total[total == 0] = 1.0
        along = (by_x * table).sum(axis=1, keepdims=True) / total
        by_x = (by_x - along * np.where(table < 0, -1.0, 1.0)) / total
    return by_x if transform.deviation is None else by_x / transform.deviation
