"""What docs/speed.md says of large graphs, from the records; what has none is left out."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
# What is calculated of a billion edges: columns of features, of a view, views, degrees of the expansion.
FEATURES, DIM, VIEWS, DEGREES = 128, 64, 5, 13
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
    told = "".join(
        make(json.loads((RESULTS / f"{name}.json").read_text()), table)
        for name, make in made.items()
        if (RESULTS / f"{name}.json").exists()
    )
    sampled = RESULTS / "train_rows.md"
    return told + (samples(sampled.read_text()) if sampled.exists() else "")


def kernels(found: dict[str, Any], table: Table) -> str:
    rows = []
    for row in found["measured"]["kernels"]:
        before = row["apart"] if "apart" in row else row["narrow"]
        what = "the basis, 14 terms" if "apart" in row else "a degree"
        times = f"{before['warm'] / row['now']['warm']:.2f} ×"
        shown = [f"{each['warm']:.3g}" for each in (before, row["now"])]
        rows.append((what, row["nodes"], row["columns"], *shown, times, "yes" if row["same numbers"] else "no"))
    pages = found["measured"]["pages"]
    least = {kind: min(runs, key=lambda run: run["seconds"]) for kind, runs in pages.items() if runs}
    epochs = [
        (kind, f"{run['seconds']:.1f}", run["faults"], f"{run['bytes'] / 1e9:.1f}") for kind, run in least.items()
    ]
    head = ["what", "nodes", "columns", "before, CPU s", "now, CPU s", "ratio", "same numbers"]
    told = "An epoch of the full batch, with pages of 4 kB and with huge ones, the better of two runs each:"
    pages = f"\n{told}\n\n{table(['pages', 'an epoch, CPU s', 'page faults', 'peak GB'], epochs)}\n" if epochs else ""
    return f"""
## Kernels on large graphs

Random graphs with ten edges a node, that no cache holds. *Before* are lanes of 32 bytes and no row called ahead, and a
basis of products and temporaries; both sides in one run, one thread, CPU seconds (`benchmarks/large.py`).

{table(head, rows)}
{pages}"""


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


def samples(made: str) -> str:
    return f"""
## Trained on some rows

`--train-rows` takes the loss of a drawn sample of nodes and embeds all (`benchmarks/train_rows.py`). All rows are the
default whatever the size, unless a sample is within the interval of all rows on every data set.

{made}"""


def billion(found: dict[str, Any], table: Table) -> str:
    step, phases = found["measured"], whole(found["measured"])
    size = f"{step['nodes'] / 1e6:.0f} million nodes and {step['entries'] / 2e9:.0f} billion edges"
    told = f"""
## A billion edges

One step of the recurrence is measured, on {size}: {step["columns"]} columns, {step["seconds"]:.0f} s,
{step["waited"]:.0f} s of them waiting for the disk, {step["gathers_a_second"] / 1e6:.0f} million rows gathered a
second, {step["peak_bytes"] / 1e9:.1f} GB of memory (`benchmarks/billion.py`).
"""
    if not phases:
        return told
    rows = [(phase, f"{seconds / 60:.0f}", assumed) for phase, seconds, assumed in phases]
    hours = sum(seconds for _, seconds, _ in phases) / 3600
    disk = 4 * step["entries"] + 8 * step["nodes"] * step["columns"] + 2 * 4 * step["nodes"] * DIM
    return f"""{told}
The whole is calculated of it: {hours:.1f} hours, and {disk / 1e9:.0f} GB of disk for neighbours, two states of a panel,
the sum of all views' columns and the vectors. No command does this yet in so little memory; it is what the parts would
take together.

{table(["phase", "min", "assumed"], rows)}
"""


def whole(step: dict[str, Any]) -> list[tuple[str, float, str]]:
    """Phases of a run of this size, their seconds and what is assumed of each; none before the parts are on record."""
    reading = row("reading", size="1M", how="in pieces")
    known = row("end_to_end", size="1M", options=["--dim", "64"])
    if reading is None or known is None:
        return []
    trained, edges = known["phases"], step["entries"] // 2
    sweeps = [DEGREES * -(-width // step["columns"]) for width in (FEATURES, VIEWS * DIM)]
    same = f"{step['columns']} columns; each takes what the measured one did, of random neighbours and equal degrees"
    return [
        (
            "reading edges into a store",
            reading["seconds"] * edges / reading["listed"],
            f"as many seconds an edge as at {reading['listed']}; sorting beyond memory may take longer",
        ),
        (
            f"basis of {FEATURES} columns for {known['nodes']} sampled rows",
            sweeps[0] * step["seconds"],
            f"{sweeps[0]} steps of {same}; rows of the sample are kept on the way",
        ),
        (
            f"training on {known['nodes']} rows",
            trained["train"]["seconds"],
            "as all rows of the graph of 1M nodes were trained, end to end",
        ),
        (
            f"all nodes' views, {VIEWS * DIM} projected columns",
            sweeps[1] * step["seconds"],
            f"{sweeps[1]} steps of {same}; sums are written once a panel of columns",
        ),
        (
            "writing",
            trained["write"]["seconds"] * step["nodes"] / known["nodes"],
            "as many seconds a node as at 1M nodes, with the graph and the model",
        ),
    ]


def row(name: str, **wanted: Any) -> dict[str, Any] | None:
    """One of a record, if there is one."""
    path = RESULTS / f"{name}.json"
    rows = json.loads(path.read_text())["measured"] if path.exists() else []
    return next((each for each in rows if all(each[key] == value for key, value in wanted.items())), None)
