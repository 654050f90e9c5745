"""Polynomials of a sparse operator applied to many columns: ``Σ_j c_j P_j(Ā) X`` for a three-term basis P_j.

Two implementations of one function, equal in their numbers: compiled panels on the CPU (``_panels.py``), and a plain
loop of sparse products in PyTorch for every other device and for machines without numba.
"""

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.graphs.operators import Operator

Kernel = Literal["panels", "torch"]
Csr = tuple[np.ndarray, np.ndarray, np.ndarray]

# A thread's panels should stay in its share of the last cache level; measured in benchmarks/kernels.py.
PANEL_BYTES = 6 << 20
WIDEST, NARROWEST = 128, 16


@dataclass(frozen=True)
class Basis:
    """Polynomials with ``P_0 = 1``, ``P_1 = first·z`` and ``P_{j+1} = factor·z P_j - back P_{j-1}``."""

    first: float
    factor: float
    back: float


CHEBYSHEV = Basis(first=-1.0, factor=-2.0, back=1.0)  # T_j(-z): the Laplacian shifted to [-1, 1] is -Ā
POWERS = Basis(first=1.0, factor=1.0, back=0.0)


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
) -> tuple[Tensor | None, Tensor | None]:
    """Sums and inner products of ``P_j(Ā) x``, in one pass over the degrees. Not differentiable.

    Args:
        operator: Ā of N nodes; only its entries are used, not its ``similarity``.
        x: V blocks of columns, shape (V, N, d).
        coefficients: shape (V, R, J); a block stops at its last coefficient that is not zero.
        want_sums: whether to return ``sums[v, r] = Σ_j coefficients[v, r, j] P_j(Ā) x[v]``.
        probes: shape (V, P, N, d), to get ``dots[v, p, j] = ⟨P_j(Ā) x[v], probes[v, p]⟩``.
        kernel: ``"panels"``, ``"torch"``, or None for the faster one that is to be had.

    Returns:
        ``sums`` of shape (V, R, N, d) in x's dtype and ``dots`` of shape (V, P, J) in float64; None if not asked for.
    """
    used = kernel or best_kernel(x.device)
    run = _polynomial_panels if used == "panels" else _polynomial_torch
    return run(operator, basis, x, coefficients, want_sums, probes)


def best_kernel(device: torch.device) -> Kernel:
    """The kernel used where none is named."""
    return "panels" if device.type == "cpu" and _compiled() is not None else "torch"


@cache
def _compiled() -> ModuleType | None:
    try:
        from fdmvgcl.diffusion import _panels
    except ImportError:
        warnings.warn(
            "numba is not installed: diffusion runs in PyTorch, several times slower; `pip install 'fdmvgcl[fast]'`",
            KernelWarning,
            stacklevel=2,
        )
        return None
    return _panels


def _terms(coefficients: Tensor) -> list[int]:
    """Number of leading coefficients up to the last that is not zero, for each block."""
    used = (coefficients != 0).any(dim=1)
    positions = torch.arange(1, used.shape[1] + 1, device=used.device)
    return [max(1, n) for n in (used * positions).amax(dim=1).tolist()]


def sparse_product(matrix: Tensor, dense: Tensor) -> Tensor:
    """``matrix @ dense`` for a sparse CSR matrix (M, N) and dense (N, d). Not differentiable."""
    compiled = _compiled() if dense.device.type == "cpu" else None
    if compiled is None or dense.shape[1] % NARROWEST:
        return matrix @ dense
    csr = (matrix.crow_indices().numpy(), matrix.col_indices().numpy(), matrix.values().numpy())
    right = dense.detach().contiguous().numpy()
    out = np.zeros((matrix.shape[0], dense.shape[1]), right.dtype)
    one, zero, no_weights, no_panels = right.dtype.type(1), right.dtype.type(0), out[0, :0], out[None, :0, :0]

    def sweep(low: int, high: int) -> None:
        compiled.sweep(*csr, low, high, right, out, one, zero, no_weights, no_panels[:0], no_panels[:0], np.empty(0))

    _each_chunk(csr[0], sweep)
    return torch.from_numpy(out)


# -- PyTorch ----------------------------------------------------------------------------------------------------------


def _polynomial_torch(
    operator: Operator, basis: Basis, x: Tensor, coefficients: Tensor, want_sums: bool, probes: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    matrix = operator.csr
    blocks, (nodes, width) = x.shape[0], x.shape[1:]
    weights = coefficients.to(x.dtype)
    now = x.permute(1, 0, 2).reshape(nodes, -1)
    old = torch.zeros_like(now)
    sums = weights[:, :, 0, None, None] * x[:, None] if want_sums else None
    dots = None if probes is None else x.new_zeros(blocks, probes.shape[1], weights.shape[2], dtype=torch.float64)
    for j in range(weights.shape[2]):
        if j:
            old, now = (
                now,
                (basis.factor if j > 1 else basis.first) * (matrix @ now) - (basis.back * old if j > 1 else 0),
            )
        term = now.view(nodes, blocks, width).permute(1, 0, 2)[:, None]
        if sums is not None and j:
            sums.addcmul_(weights[:, :, j, None, None], term)
        if dots is not None and probes is not None:
            dots[:, :, j] = (term * probes).double().sum(dim=(2, 3))
    return sums, dots


# -- Panels -----------------------------------------------------------------------------------------------------------

_local = threading.local()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="fdmvgcl")


def _polynomial_panels(
    operator: Operator, basis: Basis, x: Tensor, coefficients: Tensor, want_sums: bool, probes: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    data = x.detach().numpy()
    blocks, nodes, columns = data.shape
    weights = coefficients.detach().numpy().astype(data.dtype)[:, : None if want_sums else 0]
    aims = np.empty((blocks, 0, nodes, columns), data.dtype) if probes is None else probes.detach().numpy()
    sums = np.empty((blocks, weights.shape[1], nodes, columns), data.dtype)
    dots = np.zeros((blocks, coefficients.shape[2], aims.shape[1]))
    terms = _terms(coefficients)
    workers = torch.get_num_threads()
    width = panel_width(nodes, 2 + sums.shape[1] + aims.shape[1], data.itemsize)
    recur = _within_cache if width else _by_rows
    width = width or WIDEST
    while recur is _within_cache and width > NARROWEST and blocks * -(-columns // width) < workers:
        width //= 2  # no thread without a panel
    csr = operator.arrays(data.dtype)

    def run(v: int, start: int) -> np.ndarray:
        part = np.s_[start : min(start + width, columns)]
        now, old, totals, aim = _load_panels(data[v, :, part], sums.shape[1], aims[v, :, :, part])
        for weight, total in zip(weights[v, :, 0], totals, strict=True):
            np.multiply(now, weight, out=total)
        found = np.zeros((terms[v], aims.shape[1]))
        found[0] = [np.einsum("nb,nb->n", now, each).sum(dtype=np.float64) for each in aim]
        steps = np.array([(basis.first, 0.0)] + [(basis.factor, basis.back)] * (terms[v] - 2), data.dtype)
        recur(csr, now, old, steps[: terms[v] - 1], weights[v], totals, aim, found)
        sums[v, :, :, part] = totals[:, :, : part.stop - part.start]
        return found

    jobs = [(v, start) for v in range(blocks) for start in range(0, columns, width)]
    each: Callable = _pool(workers).map if recur is _within_cache and workers > 1 else map
    for (v, _), found in zip(jobs, each(run, *zip(*jobs, strict=True)), strict=True):
        dots[v, : terms[v]] += found
    found_dots = torch.from_numpy(dots).transpose(1, 2)
    return (torch.from_numpy(sums) if want_sums else None), (None if probes is None else found_dots)


def panel_width(nodes: int, panels: int, itemsize: int) -> int:
    """Columns of a panel so that ``panels`` of them fit the cache; 0 where not even the narrowest do."""
    width = WIDEST
    while width >= NARROWEST and panels * nodes * width * itemsize > PANEL_BYTES:
        width //= 2
    return width if width >= NARROWEST else 0


def _load_panels(x: np.ndarray, sums: int, probes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """x (N, b), a zero state, room for sums (sums, N, B), and the probes (P, N, B), padded to whole vector chunks."""
    nodes, columns = x.shape
    padded = -(-columns // NARROWEST) * NARROWEST
    shape = (2 + sums + len(probes), nodes, padded)
    room = getattr(_local, "room", None)
    if room is None or room.shape != shape or room.dtype != x.dtype:
        room = np.empty(shape, x.dtype)
        if room.nbytes <= 2 * PANEL_BYTES:
            _local.room = room  # kept for the next panel of this thread: fresh pages cost as much as a degree
    room[0, :, :columns] = x
    room[2 + sums :, :, :columns] = probes
    room[0, :, columns:] = 0
    room[2 + sums :, :, columns:] = 0
    room[1] = 0
    return room[0], room[1], room[2 : 2 + sums], room[2 + sums :]


def _within_cache(csr: Csr, now: np.ndarray, old: np.ndarray, *rest: np.ndarray) -> None:
    """All degrees on one panel in one call, its states staying in cache; other threads run other panels."""
    compiled = _compiled()
    assert compiled is not None
    compiled.run_panel(*csr, now, old, *rest)


def _by_rows(
    csr: Csr,
    now: np.ndarray,
    old: np.ndarray,
    steps: np.ndarray,
    weights: np.ndarray,
    totals: np.ndarray,
    probes: np.ndarray,
    dots: np.ndarray,
) -> None:
    """One degree after the other, the threads sharing the rows: for panels that no cache holds."""
    compiled = _compiled()
    assert compiled is not None

    def sweep(low: int, high: int, j: int, now: np.ndarray, old: np.ndarray) -> np.ndarray:
        found = np.zeros(dots.shape[1])
        compiled.sweep(*csr, low, high, now, old, *steps[j - 1], weights[:, j], totals, probes, found)
        return found

    for j in range(1, len(steps) + 1):
        dots[j] = sum(_each_chunk(csr[0], sweep, j, now, old))
        now, old = old, now


def _each_chunk(rows: np.ndarray, call: Callable[..., Any], *rest: Any) -> list[Any]:
    """``call(low, high, *rest)`` on ranges of rows that hold equal numbers of entries, spread over the threads."""
    workers = torch.get_num_threads()
    shares = np.searchsorted(rows, np.linspace(0, rows[-1], 8 * workers + 1)[1:-1])
    chunks = pairwise([0, *shares.tolist(), len(rows) - 1])
    futures = [_pool(workers).submit(call, low, high, *rest) for low, high in chunks]
    return [future.result() for future in futures]
