"""What a person sees: results on stdout, progress and warnings on stderr, plain where there is no terminal.

rich is imported when something is first printed with it: ``similar`` in a pipe answers without it.
"""

import contextlib
import json
import os
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDE = 200  # columns where there is no terminal to wrap for
_PLAIN_LINES = 20  # of progress, in a phase
_HIDDEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, lone surrogates, line and paragraph separators


class EpochListener(Protocol):
    """Called after each epoch with its record, and whether it was its phase's last."""

    def __call__(self, record: dict[str, Any], *, last: bool) -> None: ...


def printable(text: str) -> str:
    """``text`` on one line, with nothing in it that could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in _HIDDEN else c for c in text)


def gigabytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1.0, count / 1e6):.0f} MB"


class Reporter:
    """The one place that prints. Text is never taken as markup: ids and file names are users' own.

    Args:
        quiet: print nothing but errors and JSON.
        as_json: stdout is for JSON alone: what is said goes to stderr.
    """

    def __init__(self, quiet: bool = False, as_json: bool = False) -> None:
        self.quiet, self.as_json = quiet, as_json

    @cached_property
    def out(self) -> "Console":
        return _console(sys.stdout, self.quiet)

    @cached_property
    def err(self) -> "Console":
        return _console(sys.stderr, self.quiet)

    def say(self, text: str, style: str = "") -> None:
        """A line on stdout, or on stderr beside JSON."""
        _say(self.err if self.as_json else self.out, _text(text, style))

    def warn(self, text: str) -> None:
        """A line on stderr."""
        _say(self.err, _text("warning: ", "yellow") + _text(text))

    def remark(self, text: str) -> None:
        """A line on stderr that is no warning."""
        _say(self.err, _text(text, "dim"))

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: Sequence[int] = (0,)
    ) -> None:
        """Aligned columns on a terminal or not; numbers to the right."""
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for number, name in enumerate(header):
            table.add_column(_text(name), justify="left" if number in text_columns else "right", overflow="fold")
        for row in rows:
            table.add_row(*map(_text, row))
        self.out.print(table)

    def row(self, cells: Sequence[str]) -> None:
        """Cells separated by tabs on stdout, for other programs."""
        if not self.quiet:
            sys.stdout.write("\t".join(map(printable, cells)) + "\n")

    def answer(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: Sequence[int] = (0,)
    ) -> None:
        """An answer: a table for a person at a terminal, else rows of tabs for other programs."""
        if sys.stdout.isatty():
            self.table(header, rows, text_columns=text_columns)
        else:
            for row in rows:
                self.row(row)

    def json(self, record: Any) -> None:
        """The same for programs that read JSON, on one line; it was asked for, so no quiet holds it back."""
        sys.stdout.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")

    @contextlib.contextmanager
    def warnings(self) -> Iterator[None]:
        """Show the library's own warnings as lines; those of other packages say nothing to a user."""
        ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

        def show(message: Warning | str, category: type[Warning], filename: str, *_: Any, **__: Any) -> None:
            if os.path.abspath(filename).startswith(ours):
                self.warn(str(message))

        with warnings.catch_warnings():
            warnings.showwarning = show
            yield

    @contextlib.contextmanager
    def busy(self, doing: str) -> Iterator[Callable[[str], None]]:
        """Tell what takes a while: with a spinner and the time since on a terminal, else by a line. What it gives tells
        the next step."""
        if self.err.is_interactive and not self.quiet:
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            with Progress(*columns, console=self.err, transient=True) as progress:
                task = progress.add_task(printable(doing), total=None)
                yield lambda step: progress.update(task, description=printable(f"{doing}: {step}"))
        else:
            self.remark(doing)
            yield lambda step: self.remark(f"  {step}")

    @contextlib.contextmanager
    def progress(self, epochs: int) -> Iterator[EpochListener]:
        """Shows epochs: as a bar on a terminal, else as lines, thinned out for many epochs."""
        if self.quiet:
            yield lambda record, *, last: None
        elif self.err.is_interactive:
            with _Bar(self.err, epochs) as bar:
                yield bar
        else:
            yield _Lines(self, epochs)


def _say(console: "Console", text: "Text") -> None:
    """A terminal's lines end between words, unless a path would be cut; elsewhere a line is a line."""
    fits = all(len(word) <= console.width for word in text.plain.split())
    console.print(text, soft_wrap=not (console.is_terminal and fits))


def _text(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(printable(text), style)


def _console(stream: Any, quiet: bool) -> "Console":
    from rich.console import Console

    terminal = stream.isatty()
    return Console(
        file=stream,
        quiet=quiet,
        force_terminal=None if terminal else False,
        width=None if terminal else _WIDE,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _state(record: dict[str, Any]) -> str:
    orders = " ".join(f"{alpha:.2f}" for alpha in record["alpha"])
    rank = record["effective_rank"]
    return f"loss {record['loss']:.4f}  effective rank {rank:.{1 if rank < 10 else 0}f}  α {orders}"


def _short(record: dict[str, Any]) -> str:
    """The same for a bar that leaves half a line."""
    orders = sorted(record["alpha"])
    return f"loss {record['loss']:.4f}  rank {record['effective_rank']:.0f}  α {orders[0]:.2f}–{orders[-1]:.2f}"


def _phase(record: dict[str, Any]) -> str:
    return "training" if record["phase"] == 0 else f"phase {record['phase'] + 1}, {len(record['alpha'])} views"


class _Lines:
    def __init__(self, reporter: Reporter, epochs: int) -> None:
        self.reporter, self.epochs = reporter, epochs
        self.every = -(-epochs // _PLAIN_LINES)

    def __call__(self, record: dict[str, Any], *, last: bool) -> None:
        number = record["epoch"] + 1
        if last or number == 1 or number % self.every == 0:
            self.reporter.remark(f"{_phase(record)}: epoch {number} of {self.epochs}  {_state(record)}")


class _Bar:
    def __init__(self, console: "Console", epochs: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        self.epochs = epochs
        self.progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=12),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn(
                "{task.fields[state]}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),  # what room the others leave
            ),
            console=console,
            expand=True,
        )
        self.task = self.progress.add_task("preparing", total=epochs, state="")

    def __enter__(self) -> "_Bar":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def __call__(self, record: dict[str, Any], *, last: bool) -> None:
        if record["epoch"] == 0 and record["phase"] > 0:
            self.task = self.progress.add_task("", total=self.epochs, state="")
        self.progress.update(
            self.task, completed=record["epoch"] + 1, description=_phase(record), state=_short(record), refresh=last
        )
