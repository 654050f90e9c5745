"""Polynomials of a sparse operator applied to many columns: ``Σ_j c_j P_j(Ā) X`` for a three-term basis P_j.

Several ways to the same numbers: compiled panels on the CPU (``panels.py``), a plain loop of sparse products in PyTorch
for every other device and for machines without numba, and dense matrices, which the others are tested against.
"""

import warnings
from functools import cache, partial
from types import ModuleType
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.diffusion.recurrence import Basis, Dense, Loop, Recurrence, Results, Strategy
from fdmvgcl.graphs.operators import Operator

Kernel = Literal["panels", "torch", "dense"]

# A thread's panels should stay in its share of the last cache level; measured in benchmarks/kernels.py.
PANEL_BYTES = 6 << 20
WIDEST, NARROWEST = 128, 16


class KernelWarning(UserWarning):
    """A slower implementation is used than there could be."""


def polynomial(
    operator: Operator,
    basis: Basis,
    x: Tensor,
    coefficients: Tensor,
    *,
    want_sums: bool = True,
    probes: Tensor | None = None,
    kernel: Kernel | None = None,
) -> Results:
    """Sums and inner products of ``P_j(Ā) x``, in one pass over the degrees. Not differentiable.

    Args:
        operator, basis, x, coefficients, want_sums, probes: see :class:`~fdmvgcl.diffusion.recurrence.Recurrence`.
        kernel: ``"panels"``, ``"torch"``, ``"dense"``, or None for the fastest that is to be had.

    Returns:
        ``sums`` of shape (V, R, N, d) in x's dtype and ``dots`` of shape (V, P, J) in float64; None if not asked for.
    """
    task = Recurrence(operator, basis, x, coefficients, want_sums, probes)
    return _strategy(kernel or best_kernel(x.device), task).run(task)


def basis_terms(operator: Operator, basis: Basis, x: Tensor, count: int) -> Tensor:
    """``P_j(Ā) x`` for j < count and x of shape (N, F), shape (count, N, F). Not differentiable."""
    terms = x.new_empty(count, *x.shape)
    terms[0] = x
    panels = _panels_for(x)
    advance = _advance if panels is None else partial(_advance_fused, panels)
    for j in range(1, count):
        advance(operator, *basis.step(j), terms[j - 1], terms[max(0, j - 2)], terms[j])
    return terms


def sparse_product(matrix: Tensor, dense: Tensor) -> Tensor:
    """``matrix @ dense`` for a sparse CSR matrix (M, N) and dense (N, d). Not differentiable."""
    panels = _panels_for(dense)
    if panels is None:
        return matrix @ dense
    csr = (matrix.crow_indices().numpy(), matrix.col_indices().numpy(), matrix.values().numpy())
    right = dense.detach().contiguous().numpy()
    out = np.empty((matrix.shape[0], dense.shape[1]), right.dtype)
    panels.product(csr, right, out)
    return torch.from_numpy(out)


def best_kernel(device: torch.device) -> Kernel:
    """The kernel used where none is named."""
    return "panels" if device.type == "cpu" and _compiled() is not None else "torch"


def panel_width(nodes: int, panels: int, itemsize: int) -> int:
    """Columns of a panel so that ``panels`` of them fit the cache; 0 where not even the narrowest do."""
    width = WIDEST
    while width >= NARROWEST and panels * nodes * width * itemsize > PANEL_BYTES:
        width //= 2
    return width if width >= NARROWEST else 0


def _strategy(kernel: Kernel, task: Recurrence) -> Strategy:
    if kernel == "dense":
        return Dense()
    if kernel == "torch":
        return Loop()
    from fdmvgcl.diffusion.panels import ByRows, WithinCache  # they need numba

    width = panel_width(task.x.shape[1], 2 + task.sums + task.products, task.x.element_size())
    return WithinCache.of(width, task) if width else ByRows(WIDEST)


@cache
def _compiled() -> ModuleType | None:
    try:
        from fdmvgcl.diffusion import panels
    except ImportError:
        warnings.warn(
            "numba is not installed: diffusion runs in PyTorch, several times slower; `pip install 'fdmvgcl[fast]'`",
            KernelWarning,
            stacklevel=2,
        )
        return None
    return panels


def _panels_for(dense: Tensor) -> ModuleType | None:
    """The compiled panels, if they can take columns as they lie here."""
    return None if dense.device.type != "cpu" or dense.shape[1] % NARROWEST else _compiled()


def _advance(operator: Operator, factor: float, back: float, now: Tensor, old: Tensor, out: Tensor) -> None:
    """``out = factor Ā now - back old``."""
    out.copy_(factor * (operator.csr @ now) - (back * old if back else 0))


def _advance_fused(
    panels: ModuleType, operator: Operator, factor: float, back: float, now: Tensor, old: Tensor, out: Tensor
) -> None:
    """The same, each row combined while it is in cache."""
    states = [state.numpy() for state in (now, old, out)]
    panels.advance(operator.arrays(states[0].dtype), factor, back, *states)
