"""What docs/speed.md says of large graphs, from the records; what has none is left out."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PHASES = ("plan", "read", "prepare", "basis", "train", "write", "verdict", "report")

Table = Callable[[Sequence[str], Sequence[Sequence[object]]], str]


def sections(table: Table) -> str:
    """All of them, one after the other."""
    made = {
        "large": kernels,
        "end_to_end": end_to_end,
        "plan": plans,
        "reading": reading,
        "cleora": beside_pycleora,
        "billion": billion,
    }
    return "".join(
        make(json.loads((RESULTS / f"{name}.json").read_text()), table)
        for name, make in made.items()
        if (RESULTS / f"{name}.json").exists()
    )


def kernels(found: dict[str, Any], table: Table) -> str:
    rows = []
    for row in found["measured"]["kernels"]:
        before = row["apart"] if "apart" in row else row["narrow"]
        what = "the basis, 14 terms" if "apart" in row else "a degree"
        times = f"{before['warm'] / row['now']['warm']:.2f} ×"
        shown = [f"{each['warm']:.3g}" for each in (before, row["now"])]
        rows.append((what, row["nodes"], row["columns"], *shown, times, "yes" if row["same numbers"] else "no"))
    pages = found["measured"]["pages"]
    least = {kind: min(runs, key=lambda run: run["seconds"]) for kind, runs in pages.items()}
    epochs = [
        (kind, f"{run['seconds']:.1f}", run["faults"], f"{run['bytes'] / 1e9:.1f}") for kind, run in least.items()
    ]
    head = ["what", "nodes", "columns", "before, CPU s", "now, CPU s", "ratio", "same numbers"]
    return f"""
## Kernels on large graphs

Random graphs with ten edges a node, that no cache holds. *Before* are lanes of 32 bytes and no row called ahead, and a
basis of products and temporaries; both sides in one run, one thread, CPU seconds (`benchmarks/large.py`).

{table(head, rows)}

An epoch of the full batch, with pages of 4 kB and with huge ones, the better of two runs each:

{table(["pages", "an epoch, CPU s", "page faults", "peak GB"], epochs)}
"""


def end_to_end(found: dict[str, Any], table: Table) -> str:
    rows, wide = [], sorted(found["measured"], key=lambda row: (row["nodes"], row["options"]))
    for row in wide:
        phases = [f"{row['phases'][name]['seconds']:.1f}" if name in row["phases"] else "–" for name in PHASES]
        apart = "–" if row.get("apart") is None else f"{row['apart']:.0e}"
        size = row["size"], row["edges"], row["columns"], " ".join(row["options"])
        rows.append((*size, f"{row['seconds']:.0f}", f"{row['peak_bytes'] / 1e9:.1f}", apart, *phases))
    points = [row for row in wide if row["options"] == ["--dim", "64"] and row["columns"]]
    told = ""
    if len(points) > 1:
        slopes = [
            math.log(last[key] / first[key]) / math.log(last["nodes"] / first["nodes"])
            for first, last in [points[-2:]]
            for key in ("seconds", "peak_bytes")
        ]
        told = f"Between the largest two of `--dim 64`: exponents {slopes[0]:.2f} of time, {slopes[1]:.2f} of memory.\n"
    head = [
        "graph",
        "edges",
        "features",
        "options",
        "s",
        "peak GB",
        "vectors apart",
        *(f"{name}, s" for name in PHASES),
    ]
    return f"""
## End to end

`fdmvgcl embed` from a Parquet file to vectors and report, default epochs, both cores, from the start of the process to
its end (`benchmarks/end_to_end.py`). Graphs of communities and skewed degrees, but cnr-2000, which is real. *Vectors
apart* is the largest difference from those of the first run of a size and width, as a part of the largest number.

{table([*head, *(f"{name}, s" for name in PHASES)], rows)}

{told}"""


def plans(found: dict[str, Any], table: Table) -> str:
    rows = []
    for row in found["measured"]:
        plan, run = row["plan"], row["run"]
        pairs = [(plan["memory"] / 1e9, run["peak_bytes"] / 1e9), (plan["seconds"], run["seconds"])]
        rows.append((row["size"], *(f"{each:.3g}" for pair in pairs for each in (*pair, pair[0] / pair[1]))))
    head = ["graph", "told GB", "took GB", "ratio", "told s", "took s", "ratio"]
    return f"""
## What the plan tells

`fdmvgcl plan` beside the run that it told of (`benchmarks/plan.py`). The goals are 30 % of memory and a factor of 1.5
of time.

{table(head, rows)}
"""


def reading(found: dict[str, Any], table: Table) -> str:
    rows = [
        (
            row["size"],
            row["how"],
            row["listed"],
            *(f"{row[name]:.1f}" for name in ("seconds", "cpu_seconds")),
            f"{row['peak_bytes'] / 1e9:.2f}",
            f"{row['bytes_an_edge']:.0f}",
        )
        for row in found["measured"]
    ]
    head = ["graph", "how", "edges", "s", "CPU s", "peak GB", "bytes an edge"]
    return f"""
## Reading edges

At once, and in pieces through DuckDB with a limit of memory (`benchmarks/reading.py`). Bytes an edge are those of the
peak above that of a process that reads ten edges.

{table(head, rows)}
"""


def beside_pycleora(found: dict[str, Any], table: Table) -> str:
    rows = [
        (
            row["side"],
            *(f"{row[name]:.1f}" for name in ("seconds", "cpu_seconds")),
            f"{row['peak_bytes'] / 1e9:.2f}",
            f"{100 * row['auc']:.1f}",
        )
        for row in found["measured"]
    ]
    size = found["measured"][0]
    return f"""
## A real graph, beside pycleora

cnr-2000 without a tenth of its links, {size["nodes"]} pages, {size["links"]} links, from a Parquet file to
{size["columns"]} columns; how well cosines know 20 000 of the hidden links from pairs of the same degrees
(`benchmarks/cleora.py`).

{table(["", "s", "CPU s", "peak GB", "AUC, %"], rows)}
"""


def billion(found: dict[str, Any], table: Table) -> str:
    step, summary = found["measured"]["step"], found["summary"]
    rows = [(each["phase"], f"{each['seconds'] / 60:.0f}", each["assumed"]) for each in found["measured"]["phases"]]
    size = f"{step['nodes'] / 1e6:.0f} million nodes and {step['entries'] / 2e9:.0f} billion edges"
    return f"""
## A billion edges

One step of the recurrence is measured, on {size}: {step["columns"]} columns, {step["seconds"]:.0f} s,
{step["waited"]:.0f} s of them waiting for the disk, {step["gathers_a_second"] / 1e6:.0f} million rows gathered a
second, {step["peak_bytes"] / 1e9:.1f} GB of memory (`benchmarks/billion.py`). The whole is calculated of it:
{summary["seconds"] / 3600:.1f} hours and {summary["disk_bytes"] / 1e9:.0f} GB of disk. No command does this yet in so
little memory; it is what the parts would take together.

{table(["phase", "min", "assumed"], rows)}
"""
