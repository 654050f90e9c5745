"""Derivatives of a loss through a Chebyshev filter by the weight of *every* pair of nodes, edge or not.

With ``Y_k = Σ_j c_kj T_j(-Ā) X W_k``, states ``B_j = T_j(-Ā) X`` and ``Γ_j = Σ_k c_kj (∂L/∂Y_k) W_kᵀ``, reverse
differentiation of the three-term recurrence is the recurrence ``Λ_j = Γ_j - 2 Ā Λ_{j+1} - Λ_{j+2}`` downward, and
``∂L/∂Ā = -(Λ_1 B_0ᵀ + 2 Σ_{j≥1} Λ_{j+1} B_jᵀ)``: a product of two thin matrices, so that no pair needs a place in
memory until it is asked for. A pair's weight enters Ā directly and by both degrees.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.attacks.pairs import Pairs
from fdmvgcl.diffusion.kernels import sparse_product
from fdmvgcl.graphs.operators import Operator

# Pairs looked up at a time: the rows gathered for them stay in cache.
_CHUNK = 512

# A pair looked up takes as long as so many entries of the full product.
_DEARER = 200


@dataclass(frozen=True, eq=False)
class EdgeGradient:
    """``∂L/∂w_uv = (left right^T + right left^T)_uv / √(d_u d_v) + by_degree_u + by_degree_v``.

    Args:
        left, right: shape (N, r).
        inverse_root: ``1/√d``, 0 for a node without edges, which has no derivative, shape (N,).
        by_degree: derivative by each node's degree, shape (N,).
    """

    left: Tensor
    right: Tensor
    inverse_root: Tensor
    by_degree: Tensor

    def at(self, pairs: Pairs) -> NDArray[np.float64]:
        """For each pair, shape (M,)."""
        if _DEARER * len(pairs) > len(self.left) ** 2:
            return self.full()[pairs[:, 0], pairs[:, 1]].astype(np.float64)
        u, v = torch.from_numpy(pairs.T.copy())
        direct = _twice_symmetric(self.left, self.right, u, v) * self.inverse_root[u] * self.inverse_root[v]
        return (direct + self._degrees(u, v)).double().numpy()

    def full(self) -> NDArray[np.floating]:
        """For all pairs, shape (N, N), symmetric; the diagonal means nothing."""
        left = self.left * self.inverse_root[:, None]
        right = self.right * self.inverse_root[:, None]
        product = left @ right.T
        known = (self.inverse_root > 0).to(product)
        offset = self.by_degree[:, None] * known + self.by_degree * known[:, None]
        return (product + product.T).add_(offset).numpy()

    def with_roots(self, by_root: Tensor) -> "EdgeGradient":
        """With a loss that √d enters besides, as in the random-walk operator's change of coordinates."""
        return replace(self, by_degree=self.by_degree + by_root * self.inverse_root / 2)

    def _degrees(self, u: Tensor, v: Tensor) -> Tensor:
        both = (self.inverse_root[u] > 0) & (self.inverse_root[v] > 0)
        return (self.by_degree[u] + self.by_degree[v]) * both


def states(operator: Operator, x: Tensor, count: int) -> Tensor:
    """``B_j = T_j(-S) x`` for j < count, shape (count, N, r); S are the operator's symmetric entries."""
    found = [x]
    for j in range(1, count):
        product = sparse_product(operator.csr, found[-1])
        found.append(-product if j == 1 else -2 * product - found[-2])
    return torch.stack(found)


def adjoints(operator: Operator, gammas: Tensor) -> tuple[Tensor, Tensor]:
    """``Λ_1 … Λ_J`` of ``Γ_0 … Γ_J``, shape (J, N, r), and ``Σ_j T_j(-S) Γ_j``, the derivative by x, shape (N, r)."""
    degree = len(gammas) - 1
    found = torch.zeros_like(gammas)
    after = torch.zeros_like(gammas[0])
    for j in range(degree, 0, -1):
        found[j] = gammas[j]
        if j < degree:
            found[j] -= 2 * sparse_product(operator.csr, found[j + 1]) + after
            after = found[j + 1]
    if not degree:
        return found[1:], gammas[0]
    second = found[2] if degree > 1 else torch.zeros_like(found[1])
    return found[1:], gammas[0] - sparse_product(operator.csr, found[1]) - second


def edge_gradient(operator: Operator, degrees: Tensor, basis: Tensor, gammas: Tensor) -> tuple[EdgeGradient, Tensor]:
    """The gradient by edges, and by x, shape (N, r).

    Args:
        operator: S of an undirected graph.
        degrees: d, self-loops counted, shape (N,).
        basis: ``B_j``, shape (J + 1, N, r).
        gammas: ``Γ_j``, shape (J + 1, N, r).
    """
    lambdas, by_x = adjoints(operator, gammas)
    factors = torch.full((len(lambdas), 1, 1), -2.0, dtype=basis.dtype)
    factors[:1] = -1.0
    left, right = (_side_by_side(each) for each in (factors * lambdas, basis[: len(lambdas)]))
    return from_factors(operator, degrees, left, right), by_x


def from_factors(operator: Operator, degrees: Tensor, left: Tensor, right: Tensor) -> EdgeGradient:
    """Of a loss whose derivative by S is ``left rightᵀ``, both of shape (N, r)."""
    inverse = torch.where(degrees > 0, 1 / degrees.clamp(min=torch.finfo(degrees.dtype).tiny), 0.0)
    entries = _twice_symmetric(left, right, operator.entry_rows, operator.columns) * operator.values
    totals = torch.zeros_like(degrees).index_add(0, operator.entry_rows, entries)
    return EdgeGradient(left, right, inverse.sqrt(), -totals * inverse / 2)


def _side_by_side(blocks: Tensor) -> Tensor:
    """(J, N, r) as (N, J r)."""
    return blocks.permute(1, 0, 2).flatten(1).contiguous()


def _twice_symmetric(left: Tensor, right: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """``⟨left_u, right_v⟩ + ⟨left_v, right_u⟩`` for each (u, v), a few at a time."""
    parts = zip(torch.split(u, _CHUNK), torch.split(v, _CHUNK), strict=True)
    found = [(left[a] * right[b]).sum(1) + (left[b] * right[a]).sum(1) for a, b in parts]
    return torch.cat(found) if found else left.new_zeros(0)
