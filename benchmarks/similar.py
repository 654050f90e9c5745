"""``fdmvgcl similar`` as a whole, started anew for each answer, on 100 000 nodes of 512 dimensions.

python benchmarks/similar.py
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import WARM_UPS, arguments, print_table, save_record

from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import write_vectors

NODES, DIM, REPEATS = 100_000, 512, 15


def fill(folder: ResultFolder) -> None:
    """What ``similar`` looks for in a result folder; the file of vectors is now in the page cache."""
    folder.model.mkdir(parents=True)
    (folder.model / "config.json").write_text(json.dumps({}))
    z = np.random.default_rng(0).standard_normal((NODES, DIM), dtype=np.float32)
    write_vectors(folder.embeddings, [f"user-{i:06}" for i in range(NODES)], {"z": z})


def answer(command: list[str]) -> tuple[float, float]:
    """Seconds that a command takes, and seconds of processor time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    arguments(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        folder = ResultFolder(Path(scratch) / "out")
        fill(folder)
        program = [sys.executable, "-m", "fdmvgcl"]
        commands = {
            "similar": [*program, "similar", os.fspath(folder.path), "--id", "user-001234"],
            "--version": [*program, "--version"],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(WARM_UPS + REPEATS):
            for name, command in commands.items():
                times[name].append(answer(command))
    found = {}
    for name, pairs in times.items():
        seconds, processor = zip(*pairs[WARM_UPS:], strict=True)
        found[name] = {
            "warm": statistics.median(seconds),
            "least": min(seconds),
            "processor": statistics.median(processor),
        }
    header = ["command", "median s", "least s", "processor s"]
    print_table(header, [[name, *values.values()] for name, values in found.items()])
    save_record("similar", found, {"nodes": NODES, "dim": DIM, "repeats": REPEATS})


if __name__ == "__main__":
    main()
