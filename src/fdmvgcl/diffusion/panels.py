"""Recurrences in compiled panels: a few columns of all nodes, carried through all degrees."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.diffusion import _panels
from fdmvgcl.diffusion.kernels import NARROWEST, PANEL_BYTES
from fdmvgcl.diffusion.recurrence import Basis, Recurrence, Results

Array = NDArray[Any]
Csr = tuple[Array, Array, Array]

compiled: Any = _panels  # numba's own types do not know what a function takes


@dataclass(frozen=True, eq=False)
class Room:
    """A panel's states (N, B), its sums (R, N, B) and its probes (P, N, B), B padded to whole vector chunks."""

    now: Array
    old: Array
    sums: Array
    probes: Array

    @classmethod
    def of(cls, x: Array, sums: int, probes: Array) -> "Room":
        """With x (N, b) and probes (P, N, b) in it, and a zero state before."""
        nodes, columns = x.shape
        padded = -(-columns // NARROWEST) * NARROWEST
        room = _room((2 + sums + len(probes), nodes, padded), x.dtype)
        room[0, :, :columns] = x
        room[2 + sums :, :, :columns] = probes
        room[0, :, columns:] = 0
        room[2 + sums :, :, columns:] = 0
        room[1] = 0
        return cls(room[0], room[1], room[2 : 2 + sums], room[2 + sums :])


@dataclass(frozen=True)
class Panels(ABC):
    """Each block's columns in panels of ``width``; what differs is who shares the work of a panel."""

    width: int

    @abstractmethod
    def recur(self, csr: Csr, room: Room, steps: Array, weights: Array, dots: Array) -> None:
        """All degrees from 1 on: ``steps`` has each one's factor and back, ``dots`` shape (J, P)."""

    def each(self, run: Callable[..., Array], jobs: list[tuple[int, slice]]) -> Iterable[Array]:
        """The jobs' inner products, in their order."""
        return (run(*job) for job in jobs)

    def run(self, task: Recurrence) -> Results:
        data = task.x.detach().numpy()
        blocks, nodes, columns = data.shape
        weights = task.coefficients.detach().numpy().astype(data.dtype)[:, : task.sums]
        empty = np.empty((blocks, 0, nodes, columns), data.dtype)
        probes = empty if task.probes is None else task.probes.detach().numpy()
        sums = np.empty((blocks, task.sums, nodes, columns), data.dtype)
        dots = np.zeros((blocks, task.products, task.degrees))
        terms, csr = _terms(task.coefficients), task.operator.arrays(data.dtype)

        def run(v: int, part: slice) -> Array:
            room = Room.of(data[v, :, part], task.sums, probes[v, :, :, part])
            found = self._panel(csr, room, task.basis, weights[v], terms[v])
            sums[v, :, :, part] = room.sums[:, :, : part.stop - part.start]
            return found

        starts = range(0, columns, self.width)
        jobs = [(v, slice(start, min(start + self.width, columns))) for v in range(blocks) for start in starts]
        for (v, _), found in zip(jobs, self.each(run, jobs), strict=True):
            dots[v, :, : terms[v]] += found.T
        return (
            torch.from_numpy(sums) if task.want_sums else None,
            None if task.probes is None else torch.from_numpy(dots),
        )

    def _panel(self, csr: Csr, room: Room, basis: Basis, weights: Array, terms: int) -> Array:
        """One panel through all its terms; inner products (J, P)."""
        for weight, total in zip(weights[:, 0], room.sums, strict=True):
            np.multiply(room.now, weight, out=total)
        dots = np.zeros((terms, len(room.probes)))
        dots[0] = [np.einsum("nb,nb->n", room.now, probe).sum(dtype=np.float64) for probe in room.probes]
        steps = np.array([basis.step(j) for j in range(1, terms)], room.now.dtype).reshape(-1, 2)
        self.recur(csr, room, steps, weights, dots)
        return dots


@dataclass(frozen=True)
class WithinCache(Panels):
    """A panel a thread, all degrees in one call: its states stay in cache."""

    workers: int

    @classmethod
    def of(cls, width: int, task: Recurrence) -> "WithinCache":
        """So narrow that no thread is without a panel."""
        workers, (blocks, _, columns) = torch.get_num_threads(), task.x.shape
        while width > NARROWEST and blocks * -(-columns // width) < workers:
            width //= 2
        return cls(width, workers)

    def recur(self, csr: Csr, room: Room, steps: Array, weights: Array, dots: Array) -> None:
        compiled.run_panel(*csr, room.now, room.old, steps, weights, room.sums, room.probes, dots)

    def each(self, run: Callable[..., Array], jobs: list[tuple[int, slice]]) -> Iterable[Array]:
        if self.workers == 1:
            return super().each(run, jobs)
        return _pool(self.workers).map(run, *zip(*jobs, strict=True))


@dataclass(frozen=True)
class ByRows(Panels):
    """One panel after the other, a degree at a time, the threads sharing its rows: for panels that no cache holds."""

    def recur(self, csr: Csr, room: Room, steps: Array, weights: Array, dots: Array) -> None:
        now, old = room.now, room.old

        def sweep(low: int, high: int, j: int, now: Array, old: Array) -> Array:
            found = np.zeros(dots.shape[1])
            compiled.sweep(*csr, low, high, now, old, *steps[j - 1], weights[:, j], room.sums, room.probes, found)
            return found

        for j in range(1, len(steps) + 1):
            dots[j] = sum(_each_chunk(csr[0], sweep, j, now, old))
            now, old = old, now


def product(csr: Csr, now: Array, out: Array) -> None:
    """``out = Ā now`` for rows of a matrix (M, N), the threads sharing them."""
    _each_chunk(csr[0], lambda low, high: compiled.product(*csr, low, high, now, out))


def advance(csr: Csr, factor: float, back: float, now: Array, old: Array, out: Array) -> None:
    """``out = factor Ā now - back old``."""
    numbers = now.dtype.type(factor), now.dtype.type(back)
    _each_chunk(csr[0], lambda low, high: compiled.term(*csr, low, high, now, old, out, *numbers))


def _each_chunk(rows: Array, call: Callable[..., Any], *rest: Any) -> list[Any]:
    """``call(low, high, *rest)`` on ranges of rows that hold equal numbers of entries, spread over the threads."""
    workers = torch.get_num_threads()
    shares = np.searchsorted(rows, np.linspace(0, rows[-1], 8 * workers + 1)[1:-1])
    chunks = pairwise([0, *shares.tolist(), len(rows) - 1])
    futures = [_pool(workers).submit(call, low, high, *rest) for low, high in chunks]
    return [future.result() for future in futures]


def _terms(coefficients: torch.Tensor) -> list[int]:
    """Number of leading coefficients up to the last that is not zero, for each block."""
    used = (coefficients != 0).any(dim=1)
    positions = torch.arange(1, used.shape[1] + 1, device=used.device)
    return [max(1, n) for n in (used * positions).amax(dim=1).tolist()]


_local = threading.local()


def _room(shape: tuple[int, ...], dtype: Any) -> Array:
    """Kept for the next panel of this thread if it is small: fresh pages cost as much as a degree."""
    room: Array | None = getattr(_local, "room", None)
    if room is None or room.shape != shape or room.dtype != dtype:
        room = np.empty(shape, dtype)
        if room.nbytes <= 2 * PANEL_BYTES:
            _local.room = room
    return room


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="fdmvgcl")
