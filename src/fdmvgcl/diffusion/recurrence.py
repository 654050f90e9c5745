"""What a pass over the degrees of a three-term basis is to compute, and two plain ways to: densely, and in PyTorch."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from fdmvgcl.graphs.operators import Operator

Results = tuple[Tensor | None, Tensor | None]


@dataclass(frozen=True)
class Basis:
    """Polynomials with ``P_0 = 1``, ``P_1 = first·z`` and ``P_{j+1} = factor·z P_j - back P_{j-1}``."""

    first: float
    factor: float
    back: float

    def step(self, j: int) -> tuple[float, float]:
        """Factor and back of degree j ≥ 1."""
        return (self.factor, self.back) if j > 1 else (self.first, 0.0)


CHEBYSHEV = Basis(first=-1.0, factor=-2.0, back=1.0)  # T_j(-z): the Laplacian shifted to [-1, 1] is -Ā
POWERS = Basis(first=1.0, factor=1.0, back=0.0)


@dataclass(frozen=True, eq=False)
class Recurrence:
    """Sums and inner products of ``P_j(Ā) x``.

    Args:
        operator: Ā of N nodes; only its entries are used, not its ``similarity``.
        basis: the polynomials P_j.
        x: V blocks of columns, shape (V, N, d).
        coefficients: shape (V, R, J); a block stops at its last coefficient that is not zero.
        want_sums: whether ``sums[v, r] = Σ_j coefficients[v, r, j] P_j(Ā) x[v]`` are asked for.
        probes: shape (V, P, N, d), to get ``dots[v, p, j] = ⟨P_j(Ā) x[v], probes[v, p]⟩``.
    """

    operator: Operator
    basis: Basis
    x: Tensor
    coefficients: Tensor
    want_sums: bool = True
    probes: Tensor | None = None

    @property
    def degrees(self) -> int:
        """The number J of terms."""
        return self.coefficients.shape[2]

    @property
    def sums(self) -> int:
        """The number of sums that each block is asked for: R or none."""
        return self.coefficients.shape[1] if self.want_sums else 0

    @property
    def products(self) -> int:
        """The number P of probes."""
        return 0 if self.probes is None else self.probes.shape[1]


class Strategy(Protocol):
    """A way to run a recurrence: sums (V, R, N, d) in x's dtype and dots (V, P, J) in float64, None if not asked for.

    All ways give the same numbers but for rounding.
    """

    def run(self, task: Recurrence) -> Results: ...


class Dense:
    """Matrices P_j(Ā), made one by one: the definition, for small graphs."""

    def run(self, task: Recurrence) -> Results:
        matrix = task.operator.csr.to_dense()
        polynomials = [torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)]
        for j in range(1, task.degrees):
            factor, back = task.basis.step(j)
            polynomials.append(factor * matrix @ polynomials[-1] - (back * polynomials[-2] if j > 1 else 0))
        terms = torch.stack(polynomials)[:, None] @ task.x
        sums = torch.einsum("vrj,jvnd->vrnd", task.coefficients.to(terms), terms) if task.want_sums else None
        dots = None if task.probes is None else torch.einsum("jvnd,vpnd->vpj", terms.double(), task.probes.double())
        return sums, dots


class Loop:
    """One sparse product of PyTorch a degree, all blocks side by side as columns: for every device."""

    def run(self, task: Recurrence) -> Results:
        matrix, x, probes = task.operator.csr, task.x, task.probes
        blocks, nodes, width = x.shape
        weights = task.coefficients.to(x.dtype)
        now = x.permute(1, 0, 2).reshape(nodes, -1)
        old = torch.zeros_like(now)
        sums = weights[:, :, 0, None, None] * x[:, None] if task.want_sums else None
        dots = None if probes is None else x.new_zeros(blocks, probes.shape[1], task.degrees, dtype=torch.float64)
        for j in range(task.degrees):
            if j:
                factor, back = task.basis.step(j)
                old, now = now, factor * (matrix @ now) - (back * old if j > 1 else 0)
            term = now.view(nodes, blocks, width).permute(1, 0, 2)[:, None]
            if sums is not None and j:
                sums.addcmul_(weights[:, :, j, None, None], term)
            if dots is not None and probes is not None:
                dots[:, :, j] = (term * probes).double().sum(dim=(2, 3))
        return sums, dots
