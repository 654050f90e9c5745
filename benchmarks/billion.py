"""A hundred million nodes and a billion edges: one step of the recurrence.

    python benchmarks/billion.py --scratch DIR [--nodes 100000000] [--columns 16] [--no-record]

Measured: a step ``2 Ā now - old`` of a few columns over random neighbours, 20 a node, by the compiled loop. The list of
neighbours and the old state are read from the disk and the new one is written to it, piece by piece; nothing of it is
in the page cache before. The state that is gathered from is in memory.

The whole is calculated by ``render_large.py``, from this and the records of ``reading.py`` and ``end_to_end.py``.
"""

import argparse
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from harness import peak_memory, save_record

from fdmvgcl.diffusion import panels

NEIGHBOURS, ROWS = 20, 250_000


def make(folder: Path, nodes: int, columns: int) -> None:
    """Random neighbours and an old state, on the disk and not in the page cache."""
    rng = np.random.default_rng(0)
    for name, make in (
        ("neighbours", lambda rows: rng.integers(0, nodes, rows * NEIGHBOURS, dtype=np.int32)),
        ("old", lambda rows: rng.random((rows, columns), dtype=np.float32)),
    ):
        with open(folder / name, "wb") as handle:
            for low, high in pieces(nodes):
                handle.write(make(high - low).data)
            os.fsync(handle.fileno())
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def pieces(nodes: int) -> Iterator[tuple[int, int]]:
    return ((low, min(low + ROWS, nodes)) for low in range(0, nodes, ROWS))


def step(folder: Path, nodes: int, columns: int) -> dict[str, float]:
    """Seconds of one, and how many of them were waited for the disk."""
    now = np.random.default_rng(1).random((nodes, columns), dtype=np.float32)
    entries, waited = np.full(ROWS * NEIGHBOURS, 1 / NEIGHBOURS, np.float32), 0.0
    out = [np.empty((ROWS, columns), np.float32) for _ in range(2)]
    panels.advance(
        (np.zeros(2, np.int64), np.zeros(1, np.int32), entries[:1]), 2.0, 1.0, now[:1], out[0][:1], out[1][:1]
    )

    def read(ends: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        count = ends[1] - ends[0]
        neighbours = np.fromfile(listed, np.int32, count * NEIGHBOURS)
        return neighbours, np.fromfile(states, np.float32, count * columns).reshape(count, columns)

    start, used = time.perf_counter(), time.process_time()
    with (
        open(folder / "neighbours", "rb") as listed,
        open(folder / "old", "rb") as states,
        open(folder / "new", "wb") as new,
        ThreadPoolExecutor(1) as reader,
        ThreadPoolExecutor(1) as writer,
    ):
        ends = list(pieces(nodes))
        ahead, written = reader.submit(read, ends[0]), None
        for number, (low, high) in enumerate(ends):
            before = time.perf_counter()
            neighbours, old = ahead.result()
            waited += time.perf_counter() - before
            if number + 1 < len(ends):
                ahead = reader.submit(read, ends[number + 1])
            rows, made = np.arange(0, len(neighbours) + 1, NEIGHBOURS), out[number % 2][: high - low]
            panels.advance((rows, neighbours, entries[: len(neighbours)]), 2.0, 1.0, now, old, made)
            if written is not None:
                before = time.perf_counter()
                written.result()
                waited += time.perf_counter() - before
            written = writer.submit(new.write, made.data)
        assert written is not None
        written.result()
        os.fsync(new.fileno())
    seconds = time.perf_counter() - start
    took = {"seconds": seconds, "cpu_seconds": time.process_time() - used, "waited": waited}
    return took | {"gathers_a_second": nodes * NEIGHBOURS / seconds, "peak_bytes": peak_memory()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="with 21 GB of room for 16 columns")
    parser.add_argument("--nodes", type=int, default=100_000_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--no-record", action="store_true", help="only print")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    nodes, columns = options.nodes, options.columns
    try:
        make(options.scratch, nodes, columns)
        took = step(options.scratch, nodes, columns)
    finally:
        for name in ("neighbours", "old", "new"):
            (options.scratch / name).unlink(missing_ok=True)
    measured = {"nodes": nodes, "entries": nodes * NEIGHBOURS, "columns": columns, **took}
    print(json.dumps(measured, indent=1))
    if not options.no_record:
        save_record("billion", measured)


if __name__ == "__main__":
    main()
