"""Errors that say which rule was broken, and where. What is none of these is a fault of ours."""

import difflib
import os
import re
from collections.abc import Iterable


class UserError(ValueError):
    """Something that whoever calls can mend: a file, an argument, a setting. ``str()`` is one line."""


class InputError(UserError):
    """A user's file breaks a rule: ``edges.csv:17: weight must be …, got 'abc'``.

    Args:
        path: the file, as the user named it.
        rule: what must hold and what was found instead.
        line: 1-based line of the file, None where there is none.
    """

    def __init__(self, path: str | os.PathLike[str], rule: str, line: int | None = None) -> None:
        self.path = os.fspath(path)
        self.rule = rule
        self.line = line
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {rule}")

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, int | None]]:
        # ValueError would be rebuilt from the message alone, which fails when a worker process hands it back.
        return type(self), (self.path, self.rule, self.line)


class TooSmall(UserError):
    """A graph on which nothing can be measured."""


class RowError(UserError):
    """One row of an argument breaks a rule; a reader turns the row into the line of its file.

    Args:
        rule: what must hold and what was found instead.
        row: 0-based row of the argument.
    """

    def __init__(self, rule: str, row: int) -> None:
        self.rule = rule
        self.row = row
        super().__init__(f"{rule} (row {row})")

    def __reduce__(self) -> tuple[type["RowError"], tuple[str, int]]:
        return type(self), (self.rule, self.row)


class ArgumentError(UserError):
    """An argument breaks a rule: ``dim must be a whole number of at least 1, got 0``.

    Args:
        argument: its name in Python, such as ``"dim"`` or ``"schedule.lr"``.
        rule: what must hold and what was found instead.
    """

    def __init__(self, argument: str, rule: str) -> None:
        self.argument = argument
        self.rule = rule
        super().__init__(f"{argument} {rule}")

    def __reduce__(self) -> tuple[type["ArgumentError"], tuple[str, str]]:
        return type(self), (self.argument, self.rule)


class GoneError(UserError):
    """Another process of the same run has ended before its work was done."""


_ASKED_FOR = re.compile(r"allocate (\d+) bytes|size (\d+) failed")


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether it is memory that was missing, which PyTorch on a CPU tells by a mere ``RuntimeError``."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "DefaultCPUAllocator" in str(error)


def bytes_asked_for(error: BaseException) -> int | None:
    """How much more memory was wanted when it ran out, where the error says so."""
    found = _ASKED_FOR.search(str(error))
    return None if found is None else int(found[1] or found[2])


def shown(value: object, limit: int = 60) -> str:
    """``repr(value)`` on one line, cut so that a message stays readable."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def near_misses(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'lr'?``, or what there is if nothing is near."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; known are {', '.join(names)}"
