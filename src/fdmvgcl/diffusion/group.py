"""The processes that share in one piece of work: one alone, or several ranks."""

from collections.abc import Callable, Mapping
from typing import Protocol

from torch import Tensor

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

    def summed(self, count: int, part: Callable[[int], Sums]) -> Sums:
        """``Σ part(s)`` for s < count in float64, added in the order of s whoever made a part: the same sum always."""


class Alone:
    """One process, with nobody to wait for."""

    rank, size = 0, 1

    def wait(self) -> None:
        """For nobody."""

    def summed(self, count: int, part: Callable[[int], Sums]) -> Sums:
        """All parts, one after the other."""
        total = doubled(part(0))
        for number in range(1, count):
            add(total, part(number))
        return total


ALONE = Alone()


def doubled(sums: Mapping[str, Tensor]) -> Sums:
    """The same in float64, to add to."""
    return {name: value.double() for name, value in sums.items()}


def add(total: Sums, more: Mapping[str, Tensor]) -> None:
    """To sums of the same names."""
    for name, value in more.items():
        total[name] += value
