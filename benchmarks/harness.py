"""Timing side by side, and records of what was measured."""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

RESULTS = Path(__file__).parent / "results"
WARM_UPS, REPEATS = 2, 5


def alternate(
    sides: dict[str, Callable[[], Any]], *, repeats: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> dict[str, dict[str, float]]:
    """Time callables in turn, so that what else the machine is busy with falls on all of them.

    By the wall's clock, or by ``time.process_time``, which counts the CPU seconds of all threads.

    The first call of each is ``cold``; after two warm-ups the median of ``repeats`` is ``warm``.
    """
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(1 + WARM_UPS + repeats):
        for name, call in sides.items():
            start = clock()
            call()
            times[name].append(clock() - start)
    return {
        name: {
            "cold": values[0],
            "warm": statistics.median(values[1 + WARM_UPS :]),
            "least": min(values[1 + WARM_UPS :]),
        }
        for name, values in times.items()
    }


def peak_memory() -> int:
    """Most bytes that this process ever had resident (``ru_maxrss`` would count the parent's, too)."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def in_own_process(script: str, *arguments: str) -> dict[str, Any]:
    """Run ``python script --child arguments`` and return the JSON of its last line: memory peaks do not mix."""
    command = [sys.executable, script, "--child", *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.strip().splitlines()[-1])


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return {
        "processor": next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown"),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "load_before": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
    }


def save_record(name: str, measured: Any, summary: dict[str, Any] | None = None) -> None:
    RESULTS.mkdir(exist_ok=True)
    record = {"benchmark": name, "machine": machine(), "summary": summary or {}, "measured": measured}
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def save_rows(name: str, rows: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    """A record of rows, each of a run of minutes: of what was on record, rows with the same keys are replaced."""
    path = RESULTS / f"{name}.json"
    known = json.loads(path.read_text())["measured"] if path.exists() else []
    new = [[row[key] for key in keys] for row in rows]
    save_record(name, [row for row in known if [row[key] for key in keys] not in new] + rows)


def print_table(header: list[str], rows: list[list[Any]]) -> None:
    """A Markdown table."""

    def show(cell: Any) -> str:
        return f"{cell:.3g}" if isinstance(cell, float) else str(cell)

    lines = [[show(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    for line in [header, ["-" * w for w in widths], *lines]:
        print("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |", flush=True)


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--data-root", help="where the benchmark data lies (else FDMVGCL_DATA)")
    parser.add_argument("--held-out", action="store_true", help="order.py: settings the cost model was not fitted to")
    parser.add_argument("--nodes", type=int, help="large.py, structure.py: size of the graphs")
    return parser.parse_args()
