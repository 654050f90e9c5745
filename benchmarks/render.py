"""Writes what README and docs say in figures from the records: ``python benchmarks/render.py``."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from render_large import sections

from fdmvgcl.experiments import RecordFile
from fdmvgcl.experiments.graph_table import reading
from fdmvgcl.experiments.method_table import rank_table, supervised_note, told_leads, waiting
from fdmvgcl.experiments.node_table import readings, told_controls
from fdmvgcl.experiments.nodes import DEVELOPMENT, HELD_OUT
from fdmvgcl.experiments.robustness import Robustness
from fdmvgcl.experiments.robustness.tables import summary
from fdmvgcl.experiments.tables import percent

ROOT = Path(__file__).parent.parent
START, END = "<!-- speed: made by benchmarks/render.py from benchmarks/results -->", "<!-- end of speed -->"

ACCURACY = ("<!-- accuracy: made by benchmarks/render.py from results/nodes -->", "<!-- end of accuracy -->")
ROBUSTNESS = ("<!-- robustness: made by benchmarks/render.py from results/robustness -->", "<!-- end of robustness -->")
READINGS = ("<!-- readings: made by benchmarks/render.py from results/nodes -->", "<!-- end of readings -->")
GRAPHS = ("<!-- graphs: made by benchmarks/render.py from results/graphs -->", "<!-- end of graphs -->")
ROBUSTNESS_PAGES = ("robustness.md", "theory.md")


def record(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows])


def speed_table() -> str:
    """What the README shows: time stepping against the filter."""
    epoch, accuracy, memory, growth = (record(name) for name in ("epoch", "accuracy", "memory", "growth"))
    sides = epoch["measured"]
    stepping, own = (
        f"{sides[s]['warm']:.2g} s, {sides[s]['bytes'] / 1e6:.0f} MB" for s in ("in-loop predictor", "filter")
    )
    rows = [
        (
            "a training epoch, 4 views of 512 columns",
            stepping,
            own,
            f"{epoch['summary']['times faster than the in-loop predictor']:.0f} ×",
        ),
        ("error of a view's solution", "unstable at h = 1", f"{accuracy['measured']['filter_error']:.0e}", ""),
    ]
    for name, times in accuracy["measured"]["times"].items():
        solver, goal = name.split(" at ")
        rows.append(
            (
                f"one view at error {goal}, against {solver.replace('in-loop', 'our')}",
                f"{times[solver]['warm']:.2g} s ({times['steps']} steps)",
                f"{times['filter']['warm']:.2g} s",
                _ratio(times[solver], times["filter"]),
            )
        )
    cost = epoch["summary"]["times the cost of projection and loss alone"]
    largest = growth["measured"]["nodes (10 edges each)"][-1]
    return table(["", "time stepping", "filter", "ratio"], rows) + (
        f"\n\nAn epoch costs {cost:.1f} times what projection and loss alone do. Peak memory grows by a factor of "
        f"{memory['summary']['growth of the peak']:.2f} from degree 10 to 160. A million nodes and ten million edges, "
        f"64 columns, degree {largest['degree']}: {largest['seconds']:.0f} s forward and backward, "
        f"{largest['bytes'] / 2**30:.1f} GiB. All tables: [speed](docs/speed.md)."
    )


def _ratio(slow: dict[str, float], fast: dict[str, float], digits: int = 0) -> str:
    return f"{slow['warm'] / fast['warm']:.{digits}f} ×"


def kernel_table() -> str:
    measured = record("kernels")["measured"]
    limits = measured["limits"]
    rows = []
    for graph, ways in measured.items():
        if graph == "limits":
            continue
        for way, found in ways.items():
            share = found["gathered_gb_s"] / limits["copy_gb_s"]
            rows.append((graph, way, f"{found['warm']:.3f}", f"{found['gathered_gb_s']:.1f}", f"{share:.0%}"))
    limit = (
        f"Copying runs at {limits['copy_gb_s']:.0f} GB/s, a matrix product at {limits['gemm_gflop_s']:.0f} GFLOP/s.\n\n"
    )
    return limit + table(["graph (nodes, entries)", "kernel", "s", "gathered GB/s", "of copy"], rows)


def order_table() -> str:
    parts = []
    for name, which in (
        ("order", "settings of the kind its constants were fitted to, by hand, after a first run"),
        ("order_held_out", "settings chosen afterwards"),
    ):
        found = record(name)
        rows = [
            (*m["setting"], *(f"{m['times'][o]['warm']:.2g}" for o in ("project", "diffuse")), m["picked"], m["right"])
            for m in found["measured"]
        ]
        told = f"The cost model is right in {found['summary']['share right']:.0%} of {len(rows)} {which}:\n\n"
        head = ["data set", "d", "K", "T", "project first, s", "diffuse first, s", "picked", "right"]
        parts.append(told + table(head, rows))
    return "\n\n".join(parts)


def growth_table() -> str:
    found = record("growth")
    parts = []
    for name, points in found["measured"].items():
        if name == "process alone":
            continue
        rows = [
            (p["nodes"], p["edges"], p["time"], p["degree"], f"{p['seconds']:.2g}", f"{p['bytes'] / 1e6:.0f}")
            for p in points
        ]
        slopes = [found["summary"][f"exponent of {what} in {name}"] for what in ("time", "memory")]
        head = ["nodes", "edges", "T", "degree", "s", "peak MB"]
        parts.append(
            f"Against {name}: exponents {slopes[0]:.2f} of time, {slopes[1]:.2f} of memory.\n\n{table(head, rows)}"
        )
    return "\n\n".join(parts)


def memory_table() -> str:
    rows = [
        (degree, f"{(f['baseline'] + f['above_baseline']) / 1e6:.0f}", f"{f['above_baseline'] / 1e6:.1f}")
        for degree, f in record("memory")["measured"].items()
    ]
    return table(["degree", "peak MB", "above input and output, MB"], rows)


def heap_table() -> str:
    rows = []
    for name, sides in record("heap")["measured"].items():
        back, kept = sides["given back"], sides["kept"]
        rows.append(
            (
                name,
                *(f"{side['seconds']:.2f} s, {side['bytes'] / 1e6:.0f} MB" for side in (back, kept)),
                f"{back['seconds'] / kept['seconds']:.2f} ×",
            )
        )
    return table(["data set", "given back", "kept", "ratio"], rows)


def structure_table() -> str:
    found = record("structure")
    rows = [
        (p["nodes"], p["edges"], f"{p['seconds']:.0f}", f"{p['cpu_seconds']:.0f}", f"{p['bytes'] / 1e9:.1f}")
        for p in found["measured"]
    ]
    cores, slopes = found["machine"]["cores"], found["summary"]
    told = f"{cores} cores. Exponents of time: {slopes['exponent of time over all']:.2f} over all sizes, "
    told += f"{slopes['exponent of time over the largest two']:.2f} over the largest two.\n\n"
    return told + table(["nodes", "edges", "s", "CPU s", "peak GB of the process"], rows)


def probe_table() -> str:
    rows = [
        (name, f"{sides['all']['warm']:.2g}", f"{sides['few']['warm']:.2g}", _ratio(sides["all"], sides["few"], 1))
        for name, sides in record("probe")["measured"].items()
    ]
    return table(["training rows", "all at once, s", "a few at a time, s", "ratio"], rows)


def similar_section() -> str:
    """Empty until there is a record: a command of half a second can only be timed on a quiet machine."""
    if not (ROOT / "benchmarks" / "results" / "similar.json").exists():
        return ""
    found = record("similar")
    whole, bare = found["measured"]["similar"], found["measured"]["--version"]
    size = f"{found['summary']['nodes'] // 1000} 000 nodes of {found['summary']['dim']} dimensions"
    return (
        "\n## Neighbours\n\n"
        f"`fdmvgcl similar`, exact, on {size}, from the start of the process to its end: {whole['warm']:.2f} s, "
        f"of which {bare['warm']:.2f} s go by until the program can say its version; processor time "
        f"{whole['processor']:.2f} s. Medians of {found['summary']['repeats']} with the file in the page cache.\n"
    )


def files_section() -> str:
    """Empty until there is a record."""
    if not (ROOT / "benchmarks" / "results" / "files.json").exists():
        return ""
    rows = [(name, f"{seconds:.2f}") for name, seconds in record("files")["measured"].items()]
    return (
        "\n## Users' files\n\n"
        "Processor time of all threads (`benchmarks/files.py`). Edges have ids that are texts, and weights; beside the "
        "graph stands what Arrow takes to read the same file into a table. Features are numbers, some with blanks, "
        "categories, truth values and dates, written as text. A file that is not there is told of by a process of its "
        "own.\n\n"
        f"{table(['what', 's of CPU'], rows)}\n"
    )


def after_section() -> str:
    """Each command by itself, and exports beside the disk."""
    found = record("after")
    measured = found["measured"]
    size = f"{found['summary']['nodes'] // 1000} 000 nodes of {found['summary']['dim']} dimensions"
    asked = [(name, each) for name, each in measured.items() if not name.startswith("export")]
    exports = [(name, each) for name, each in measured.items() if name.startswith("export")]
    share = measured["update, 1000 new edges"]["seconds"] / measured["embed"]["seconds"]
    commands = [(name, f"{each['seconds']:.3g}", f"{each['bytes'] / 1e6:.0f}") for name, each in asked]
    files = [
        (
            name,
            f"{each['written'] / 1e6:.0f}",
            *(f"{each[which]:.2f}" for which in ("seconds", "alone", "disk")),
            f"{each['bytes'] / 1e6:.0f}",
            f"{each['copies']:.2f}",
        )
        for name, each in exports
    ]
    return f"""
## After embedding

Commands on {size}, from the start of a process to its end, without the report; the least of
three where a run is short, as a shared machine only adds (`benchmarks/after.py`). Links are exact: all pairs are
compared. An update takes {share:.0%} of the time that embedding anew does. How well links find hidden edges is measured
once, by a copy that is trained without them.

{table(["command", "s", "peak MB"], commands)}

Exports beside the disk, which writes as many bytes from memory and makes them durable. *Alone* leaves out what a
process takes to start. Text is held up by its decimals, not by the disk. Memory is that of the export, in copies of the
vectors.

{table(["command", "MB", "s", "alone, s", "disk, s", "peak MB", "memory, copies"], files)}
"""


def attacks_section() -> str:
    """Attacks on Cora; empty until there is a record."""
    if not (ROOT / "benchmarks" / "results" / "attacks.json").exists():
        return ""
    found = record("attacks")
    measured, rate = found["measured"], found["summary"]["rate"]
    told = {
        "metattack": "Metattack, a flip",
        "nettack": "Nettack, a target and flip",
        "gradient": "gradient of every pair through encoder and probe",
        "greedy": f"adaptive greedy, {rate:.0%} of the edges",
        "prbcd": f"adaptive PRBCD, {rate:.0%} of the edges",
    }
    rows = [
        (
            told[name],
            f"{each['seconds']:.2g}" if each["seconds"] < 10 else f"{each['seconds']:.0f}",
            f"{each['bytes'] / 1e6:.0f}",
            percent(each.get("accuracy")),
        )
        for name, each in measured.items()
    ]
    return f"""
## Attacks

On Cora, each in a process of its own (`benchmarks/attacks.py`). The gradient is of all
{measured["gradient"]["pairs"]:,} pairs of nodes, edges or not. Accuracy is that of the defaults' probe on the test
nodes of the public split.

{table(["attack", "s", "peak MB of the process", "accuracy left, %"], rows)}
"""


def graphs_section() -> str:
    """One vector a graph: a data set, and the growth with the number of graphs."""
    found = record("graphs")
    measured, about = found["measured"], found["summary"]
    if "exponent of time in graphs" not in about:
        return ""  # parts are missing yet
    dd = measured["dd"]
    rows = [
        ("DD" if name == "dd" else "generated", *(m[key] for key in ("graphs", "nodes", "edges")), *_costs(m))
        for name, m in measured.items()
    ]
    growth, cores = about["exponent of time in graphs"], found["machine"]["cores"]
    return f"""
## Many graphs

One vector a graph, of {about["dim"]} columns: marks of structure, training on a sample of at most 20 000 nodes, and the
readout of all graphs, a few at a time. Each in a process of its own, on {cores} cores (`benchmarks/graphs.py`). DD's
files take {dd["read"]:.2g} s more to read. Generated graphs have 20 nodes in the mean; up to some thousands of them
training takes most of the time. From {about["from"]} graphs on time grows with their number to the power {growth:.2f}.

{table(["", "graphs", "nodes", "edges", "s", "peak GB"], rows)}
"""


def _costs(measured: dict[str, Any]) -> tuple[str, str]:
    """Seconds and gigabytes."""
    return f"{measured['seconds']:.3g}", f"{measured['bytes'] / 1e9:.1f}"


def rendered_page() -> str:
    machine = record("epoch")["machine"]
    about = f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}, torch {machine['torch']}"
    return f"""# Speed and memory

Made by `python benchmarks/render.py` from the records in `benchmarks/results`; the scripts beside them measure again.
Both sides of a comparison run in one process in turn; warm medians of at least five after two warm-ups.
Machine: {about}.

## Against time stepping

{speed_table().replace("(docs/speed.md)", "(speed.md)")}

One view is measured at 128 columns. The ratios of an epoch vary between runs of this shared machine; the table is the
last run.

## Kernels

Bytes gathered count every neighbour's number once. Panels that stay in cache gather faster than memory can copy. On
170 000 nodes no panel fits, and the threads share the rows of a wide panel instead: under half of the copy bandwidth,
because a gather of short rows from random places waits for memory where a copy streams. Narrow panels (16 columns) do
not help there, nor does renumbering nodes by reverse Cuthill-McKee, which on a graph with communities is slower than no
order. Of the matrix product's peak any gather is far: two operations for each number that it loads.

{kernel_table()}

## Project first or diffuse first

{order_table()}

## Memory against degree

{memory_table()}

## Freed blocks of memory

A step of training makes and frees the same large tensors, and glibc has the system clear the pages of every block above
32 MB again when it is next made. While a model is fitted, blocks that are freed stay with the process instead, unless
training needs more than a quarter of the machine's memory; memory beyond twice what is needed is given back after an
epoch, and all of it at the end. An epoch of the defaults, each side in processes of its own, in turn; memory is the
whole process's peak.

{heap_table()}

## Columns made of the edges

What a graph without features gets, from the adjacency to 128 diffused columns, on graphs of communities with ten edges
a node, each in a process of its own. Small graphs cost more a node, as their walks are cut later.

{structure_table()}

## Probes

A probe's step is a product of its rows with a few columns, one a class, and the adjoint. Rows are taken so few at a
time that BLAS packs none of them and the adjoint finds them in cache; where rows are many and wider still, the zeros of
a triangular factor are left out. All steps of one penalty, with one thread, as probes have them:

{probe_table()}

## Growth

{growth_table()}
{sections(table)}{similar_section()}{files_section()}{after_section()}{graphs_section()}{attacks_section()}"""


def accuracy_summary() -> str:
    """What the records say, in a dozen lines."""
    records = RecordFile(ROOT / "results" / "nodes" / "records.jsonl")
    datasets = (*DEVELOPMENT, *HELD_OUT)
    told = [*told_leads(records, datasets), *told_controls(records, datasets), supervised_note(records, datasets)]
    told.append(waiting(records, datasets))
    ranks = rank_table(records, datasets)
    parts = ["\n".join(f"- {sentence}" for sentence in told if sentence), ranks.markdown() if ranks.rows else ""]
    return "\n\n".join(filter(None, parts)).rstrip()


def readings_table() -> str:
    """Of docs/accuracy.md: the published recipe, read in four ways."""
    records = RecordFile(ROOT / "results" / "nodes" / "records.jsonl")
    made = readings(records, (*DEVELOPMENT, *HELD_OUT))
    return replace(made, title="Test accuracy in %, as published").markdown().rstrip()


def graphs_summary() -> str:
    """Of the page of many graphs: what the table says of ours, a line a data set."""
    records = RecordFile(ROOT / "results" / "graphs" / "records.jsonl")
    names = {"mutag": "MUTAG", "proteins": "PROTEINS", "dd": "DD"}
    return "\n".join(f"- {told}: {line}" for name, told in names.items() for line in reading(records, name))


def robustness_table() -> str:
    """Of docs/robustness.md and docs/theory.md; empty until there are records."""
    records = RecordFile(ROOT / "results" / "robustness" / "records.jsonl")
    made = summary(records, Robustness.datasets)
    return table(made.header, made.rows) if made.rows else ""


def replaced(text: str, marks: tuple[str, str], content: str) -> str:
    before, rest = text.split(marks[0])
    _, after = rest.split(marks[1])
    return f"{before}{marks[0]}\n{content}\n{marks[1]}{after}"


def rendered(readme: str) -> str:
    return replaced(replaced(readme, (START, END), speed_table()), ACCURACY, accuracy_summary())


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(rendered(path.read_text()))
    (ROOT / "docs" / "speed.md").write_text(rendered_page())
    page = ROOT / "docs" / "accuracy.md"
    page.write_text(replaced(page.read_text(), READINGS, readings_table()))
    page = ROOT / "docs" / "how-to" / "many-graphs.md"
    page.write_text(replaced(page.read_text(), GRAPHS, graphs_summary()))
    for name in ROBUSTNESS_PAGES:
        page = ROOT / "docs" / name
        page.write_text(replaced(page.read_text(), ROBUSTNESS, robustness_table()))
