"""A training epoch of the defaults, with freed blocks of memory kept for the next step and given back to the system.

python benchmarks/heap.py [--data-root DIR]
"""

import json
import statistics
import time
from contextlib import nullcontext

from harness import REPEATS, WARM_UPS, arguments, in_own_process, peak_memory, print_table, save_record

from fdmvgcl import FDMVGCL, Schedule
from fdmvgcl.datasets import load
from fdmvgcl.machine import freed_blocks_kept

DATA_SETS = ("cora", "photo", "computers", "pubmed", "crocodile")
SIDES = ("given back", "kept")
ROUNDS = 3


def child(side: str, name: str, data_root: str | None) -> None:
    """Median seconds of an epoch, and peak memory, of one process."""
    graph, ends = load(name, data_root).graph(), []
    model = FDMVGCL(epochs=1 + WARM_UPS + REPEATS, schedule=Schedule(min_rank=0.0, merge_width=0.0))
    with freed_blocks_kept() if side == "kept" else nullcontext():
        model.fit(graph, on_epoch=lambda *_: ends.append(time.perf_counter()))
    seconds = [end - start for start, end in zip(ends[WARM_UPS:-1], ends[WARM_UPS + 1 :], strict=True)]
    print(json.dumps({"seconds": statistics.median(seconds), "bytes": peak_memory()}))


def main() -> None:
    options = arguments(__doc__)
    if options.child is not None:
        side, name = options.child
        child(side, name, options.data_root)
        return
    root = ["--data-root", options.data_root] if options.data_root else []
    measured: dict[str, dict[str, dict[str, float]]] = {}
    for name in DATA_SETS:
        runs = [{side: in_own_process(__file__, side, name, *root) for side in SIDES} for _ in range(ROUNDS)]
        measured[name] = {
            side: {what: statistics.median(run[side][what] for run in runs) for what in ("seconds", "bytes")}
            for side in SIDES
        }
    print_table(
        ["data set", *(f"{side}, {unit}" for side in SIDES for unit in ("s", "MB"))],
        [[name, *(v for s in SIDES for v in (m[s]["seconds"], m[s]["bytes"] / 1e6))] for name, m in measured.items()],
    )
    save_record("heap", measured)


if __name__ == "__main__":
    main()
