"""Seconds, CPU seconds and peak memory of each phase of ``fdmvgcl embed``, told as JSON by a process of its own.

    python benchmarks/phases.py RECORD.json SOURCE [any options of embed]

The command is run as it is; its phases are timed by wrapping what it calls. Peaks are of the phase alone, where the
system lets them be set back; pages of mapped files count.
"""

import contextlib
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# What is called in a phase, by the plan's names; where one is called within another, it counts apart.
PHASES = {
    ("fdmvgcl.cli.embed", "foretell"): "plan",
    ("fdmvgcl.cli.embed", "_read"): "read",
    ("fdmvgcl.cli.embed", "_prepare"): "prepare",
    ("fdmvgcl.learning.prepare", "diffusion_basis"): "basis",
    ("fdmvgcl.learning.prepare", "store_basis"): "basis",
    ("fdmvgcl.cli.embed", "_train"): "train",
    ("fdmvgcl.cli.embed", "_write"): "write",
    ("fdmvgcl.cli.embed", "conclude"): "verdict",
    ("fdmvgcl.cli.embed", "report"): "report",
}


class Clock:
    """Time goes to the innermost phase that is under way."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, float]] = {}
        self._under_way = ["other"]
        self._since = self._now()

    def _now(self) -> tuple[float, float]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return time.perf_counter(), used.ru_utime + used.ru_stime

    def turn(self) -> None:
        """Book what has passed."""
        now = self._now()
        entry = self.found.setdefault(self._under_way[-1], {"seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0})
        entry["seconds"] += now[0] - self._since[0]
        entry["cpu_seconds"] += now[1] - self._since[1]
        entry["peak_bytes"] = max(entry["peak_bytes"], _peak())
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self._since = now

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self.turn()
        self._under_way.append(name)
        try:
            yield
        finally:
            self.turn()
            self._under_way.pop()


def _peak() -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def _wrapped(clock: Clock, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        with clock.phase(name):
            return call(*args, **kwargs)

    return timed


def run(record: Path, arguments: list[str]) -> int:
    """The command in a process of its own, its phases in ``record``; its exit code."""
    return subprocess.run([sys.executable, __file__, str(record), *arguments], check=False).returncode


def main() -> None:
    clock = Clock()
    record, *arguments = sys.argv[1:]
    from fdmvgcl.machine import ask_for_huge_pages

    ask_for_huge_pages()
    for (module, function), name in PHASES.items():
        place = importlib.import_module(module)
        setattr(place, function, _wrapped(clock, name, getattr(place, function)))
    sys.argv = ["fdmvgcl", "embed", *arguments]
    from fdmvgcl import cli

    try:
        cli.app(prog_name="fdmvgcl")
    finally:
        clock.turn()
        peak = max(each["peak_bytes"] for each in clock.found.values())
        Path(record).write_text(json.dumps({"phases": clock.found, "peak_bytes": peak}))


if __name__ == "__main__":
    main()
