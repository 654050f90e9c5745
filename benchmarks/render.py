"""Writes the README's table of speeds from the records: ``python benchmarks/render.py``."""

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
START, END = "<!-- speed: made by benchmarks/render.py from benchmarks/results -->", "<!-- end of speed -->"


def record(name: str) -> dict:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def speed_table() -> str:
    """Markdown rows of what was measured."""
    epoch, accuracy, memory, growth = (record(name) for name in ("epoch", "accuracy", "memory", "growth"))
    sides = epoch["measured"]
    rows = [
        ("a training epoch, 4 views of 512 columns", *(_epoch(sides[s]) for s in ("in-loop predictor", "filter"))),
        ("error of that solution", "unstable at h = 1", f"{accuracy['measured']['filter_error']:.0e}"),
    ]
    for name, times in accuracy["measured"]["times"].items():
        solver, goal = name.split(" at ")
        rows.append(
            (
                f"one view at error {goal}, against {solver.replace('in-loop', 'our')}",
                f"{times[solver]['warm']:.2g} s ({times['steps']} steps)",
                f"{times['filter']['warm']:.2g} s",
            )
        )
    lines = ["| | time stepping | filter | ratio |", "| --- | --- | --- | --- |"]
    ratios = [epoch["summary"]["times faster than the in-loop predictor"], None, *accuracy["summary"].values()]
    lines += [f"| {' | '.join(row)} | {_ratio(ratio)} |" for row, ratio in zip(rows, ratios, strict=True)]
    cost = epoch["summary"]["times the cost of projection and loss alone"]
    largest = growth["measured"]["nodes (10 edges each)"][-1]
    lines += [
        "",
        f"An epoch costs {cost:.1f} times what projection and loss alone do. Peak memory grows by a factor of "
        f"{memory['summary']['growth of the peak']:.2f} from degree 10 to 160. A million nodes and ten million edges, "
        f"64 columns, degree {largest['degree']}: {largest['seconds']:.0f} s forward and backward, "
        f"{largest['bytes'] / 2**30:.1f} GiB.",
    ]
    return "\n".join(lines)


def _epoch(side: dict) -> str:
    return f"{side['warm']:.2g} s, {side['bytes'] / 1e6:.0f} MB"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ×"


def rendered(readme: str) -> str:
    before, rest = readme.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{speed_table()}\n{END}{after}"


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(rendered(path.read_text()))
