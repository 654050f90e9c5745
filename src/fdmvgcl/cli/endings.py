"""How a command ends: every error one line, an exit code that tells whose it is, and a way to end on a signal."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup

from fdmvgcl.errors import ArgumentError, UserError, bytes_asked_for, ran_out_of_memory
from fdmvgcl.learning.settings import full_name

BAD_INPUT, INTERNAL, INTERRUPTED, TERMINATED = 2, 1, 130, 143
DEBUG_VARIABLE = "FDMVGCL_DEBUG"


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run as Ctrl-C does: what is done is kept, and no worker is left behind."""


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # where no handler can be set
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class OneLineErrors(TyperGroup):
    """Every error is one line on stderr and an exit code: 2 for what the user can mend, 1 for what we must."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by whoever called
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it serves until the end
            if hasattr(getattr(sys, name), "reconfigure"):
                getattr(sys, name).reconfigure(errors="replace")  # a terminal that is not UTF-8 must not end a run
        try:
            code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except (UserError, OSError, FloatingPointError) as error:
            code = _fail(_told(error), BAD_INPUT, error)
        except Exception as error:
            if ran_out_of_memory(error):
                code = _fail(_told_of_memory(error), BAD_INPUT, error)
            elif hasattr(error, "format_message"):  # typer's own, whose class has moved between versions
                code = _fail(" ".join(error.format_message().split()), BAD_INPUT, error)
            else:
                told = f"internal error: {type(error).__name__}: {error}"
                advice = f"please report it with what {DEBUG_VARIABLE}=1 shows"
                code = _fail(f"{told} ({advice})", INTERNAL, error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _ended_by_sigterm():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            print("interrupted; the same command goes on where it was, embed with --resume", file=sys.stderr)
            return TERMINATED if isinstance(error, _Terminated) else INTERRUPTED
        except ArgumentError as error:
            params = self.commands[ctx.invoked_subcommand].params
            raise UserError(f"{_option_of(error.argument, params)} {error.rule}") from error


def _option_of(argument: str, params: Sequence[Any]) -> str:
    """What a user types for an argument of this name."""
    options: dict[str, str] = {param.name: max(param.opts, key=len) for param in params}
    if "changes" in options and argument not in options:
        return f"{options['changes']} {full_name(argument)}"
    return options.get(argument, argument)


def _told(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _told_of_memory(error: BaseException) -> str:
    from fdmvgcl.cli.console import gigabytes

    asked = bytes_asked_for(error)
    more = "" if asked is None else f" when {gigabytes(asked)} more were asked for"
    return f"this machine's memory ran out{more}; fewer nodes, columns (--dim) or views (--views) take less"


def _fail(message: str, code: int, error: BaseException | None = None) -> int:
    from fdmvgcl.cli.console import printable

    if error is not None and os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    print(f"error: {printable(' '.join(message.splitlines()))}", file=sys.stderr)
    return code
