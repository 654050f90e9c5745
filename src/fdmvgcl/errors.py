"""Errors that say which rule was broken, and where."""

import os


class InputError(ValueError):
    """A user's file breaks a rule. ``str()`` is one line: ``edges.csv:17: weight must be …, got 'abc'``.

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


class RowError(ValueError):
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


def shown(value: object, limit: int = 60) -> str:
    """``repr(value)`` on one line, cut so that a message stays readable."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
