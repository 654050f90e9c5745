"""A run that can be killed at any moment, or stopped with Ctrl-C, and taken up again."""

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from fdmvgcl.diffusion.cost import ORDERS, Order
from fdmvgcl.errors import InputError
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.fingerprint import fingerprint
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.learning.settings import dotted
from fdmvgcl.learning.training import Trainer, read_checkpoint
from fdmvgcl.results.outputs import ResultFolder

SECONDS = 10.0
SECONDS_VARIABLE = "FDMVGCL_CHECKPOINT_SECONDS"
_STOPPING = b"\nstopping when this epoch is done; press Ctrl-C again to stop at once\n"


class Interrupted(Exception):
    """Ctrl-C was pressed, and the state after the last epoch has been saved."""


class Checkpointer:
    """Saves the trainer's state: after the first epoch and each phase's last, every ten seconds, and when stopped.

    The first one replaces what an earlier run left, so that from then on the folder can only go on as this run.

    Args:
        path: the file.
        settings: all that must be the same when the run is taken up.
        stop: set when the run shall end after the present epoch.
    """

    def __init__(self, path: Path, settings: dict[str, Any], stop: threading.Event) -> None:
        self.path, self.settings, self.stop = path, settings, stop
        self.seconds = float(os.environ.get(SECONDS_VARIABLE, SECONDS))
        self._saved: float | None = None

    def __call__(self, trainer: Trainer, *, last: bool) -> None:
        now = time.monotonic()
        if last or self.stop.is_set() or self._saved is None or now - self._saved >= self.seconds:
            trainer.save(self.path, self.settings)
            self._saved = time.monotonic()
        if self.stop.is_set():
            raise Interrupted


@contextlib.contextmanager
def deferred_interrupt(quiet: bool) -> Iterator[threading.Event]:
    """Ctrl-C sets the event instead of breaking an epoch in two; a second one interrupts at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        if not quiet:
            os.write(2, _STOPPING)  # print() could be entered a second time here

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def resumed_order(path: Path, fingerprint: str) -> Order:
    """The order of work of the run that left this checkpoint, if it was on the graph with this fingerprint."""
    _, progress = read_checkpoint(path)
    settings = progress.get("settings")
    if not isinstance(settings, dict) or settings.get("order_of_work") not in ORDERS:
        raise InputError(path, "is not a checkpoint of fdmvgcl embed")
    if settings.get("graph") != fingerprint:
        raise InputError(path, "was made on another graph; give the same input, or start anew without --resume")
    order: Order = settings["order_of_work"]
    return order


def is_finished(folder: ResultFolder, *, views: bool) -> bool:
    """Whether a run was finished here, nothing was begun after it, and none of its files is lost."""
    wanted = [folder.embeddings, folder.history, folder.graph, folder.model / "weights.safetensors"]
    return not folder.checkpoint.exists() and all(path.is_file() for path in [*wanted, *[folder.views] * views])


def refuse_other(folder: ResultFolder, settings: dict[str, Any], fingerprint: str) -> None:
    """Refuse to resume a finished run with other settings, or on another graph."""
    try:
        found = dotted(json.loads((folder.model / "config.json").read_bytes())["settings"])
        known = graph_fingerprint(load_either(folder.graph))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise InputError(folder.path, "is finished, but cannot be read; leave out --resume to begin anew") from None
    told = [
        f"{name}={found.get(name)}, not {value}" for name, value in dotted(settings).items() if found.get(name) != value
    ]
    if known != fingerprint:
        told.append("another graph")
    if told:
        raise InputError(folder.path, f"is finished, with {told[0]}; leave out --resume to begin anew")


def graph_fingerprint(graph: Graph | GraphSet) -> str:
    """The same for the same ids, edges, weights and features, and no others."""
    if isinstance(graph, Graph):
        return graph.fingerprint
    return fingerprint(graph.block, before=json.dumps(graph.ids).encode())
