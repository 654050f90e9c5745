"""The processes that share in one piece of work: one alone, or several ranks that torchrun has started."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from fdmvgcl.errors import GoneError
from fdmvgcl.machine import place_among_processes

Sums = dict[str, Tensor]


class Group(Protocol):
    """Processes that do the same, each a part of it, and then know the same.

    Attributes:
        rank: number of this one, from 0.
        size: how many there are.
    """

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def wait(self) -> None:
        """Until all are here."""

    def one_first(self, needed: bool) -> AbstractContextManager[None]:
        """The block is done by the first process before the others, if that is needed."""

    def summed(self, count: int, part: Callable[[int], Sums]) -> Sums:
        """``Σ part(s)`` for s < count in float64, added in the order of s whoever made a part: the same sum always."""


class Alone:
    """One process, with nobody to wait for."""

    rank, size = 0, 1

    def wait(self) -> None:
        """For nobody."""

    def one_first(self, needed: bool) -> AbstractContextManager[None]:
        """There is but one."""
        return nullcontext()

    def summed(self, count: int, part: Callable[[int], Sums]) -> Sums:
        """All parts, one after the other."""
        total = doubled(part(0))
        for number in range(1, count):
            add(total, part(number))
        return total


ALONE = Alone()


@contextmanager
def joined(device: str) -> Iterator[Group]:
    """The group that torchrun has started this process in, until the end of the block; or it alone.

    Args:
        device: where sums are: NCCL tells them from GPU to GPU, gloo from one processor's memory to another's.
    """
    if place_among_processes()[1] == 1:
        yield ALONE
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    with _together():
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    try:
        yield Ranks(device)
    finally:
        dist.destroy_process_group()


class Ranks:
    """Processes of ``torch.distributed``; see :func:`joined`.

    Args:
        device: where sums are.
    """

    def __init__(self, device: str) -> None:
        self.rank, self.size, self._device = dist.get_rank(), dist.get_world_size(), device

    def wait(self) -> None:
        """Until all are here."""
        with _together():
            dist.barrier()

    @contextmanager
    def one_first(self, needed: bool) -> Iterator[None]:
        """The others wait until the first has left the block."""
        if needed and self.rank > 0:
            self.wait()
        yield
        if needed and self.rank == 0:
            self.wait()

    def summed(self, count: int, part: Callable[[int], Sums]) -> Sums:
        """Each part by one rank, parts that are side by side by the same; all then add up all of them."""
        owners = [number * self.size // count for number in range(count)]
        mine = {number: doubled(part(number)) for number, owner in enumerate(owners) if owner == self.rank}
        total: Sums = {}
        for number, owner in enumerate(owners):
            told = self._told(mine.pop(number, None), owner)
            if total:
                add(total, told)
            else:
                total = told
        return total

    def _told(self, sums: Sums | None, owner: int) -> Sums:
        """What the owner has, to all."""
        with _together():
            shapes = [None if sums is None else {name: value.shape for name, value in sums.items()}]
            dist.broadcast_object_list(shapes, owner)
            if sums is None:
                assert shapes[0] is not None
                make = {"dtype": torch.float64, "device": self._device}
                sums = {name: torch.empty(shape, **make) for name, shape in shapes[0].items()}  # type: ignore[call-overload]
            for value in sums.values():
                dist.broadcast(value, owner)
        return sums


@contextmanager
def _together() -> Iterator[None]:
    """A process that is gone ends the others with one line."""
    try:
        yield
    except RuntimeError as error:
        raise GoneError("another process of this run is gone; go on with the same command and --resume") from error


def doubled(sums: Mapping[str, Tensor]) -> Sums:
    """The same in float64, to add to."""
    return {name: value.double() for name, value in sums.items()}


def add(total: Sums, more: Mapping[str, Tensor]) -> None:
    """To sums of the same names."""
    for name, value in more.items():
        total[name] += value
