"""What ``fdmvgcl plan`` tells against what ``fdmvgcl embed`` then takes, on five sizes.

    python benchmarks/plan.py [--scratch DIR] [--sizes 10k,30k,100k,300k,1M] [--options "--dim 64"]

The goals: memory within 30 %, time within a factor of 1.5. Phases are the plan's; what lies between them is ``other``.
Run it where nothing else runs: the machine is timed for a second, and then used for minutes. The runs are those of
``end_to_end.py``, and go on its record, too.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from end_to_end import KEYS, SIZES, files_of, measure
from harness import print_table, save_rows

FIVE = "10k,30k,100k,300k,1M"
SIZES |= {"30k": (30_000, 300_000, 128), "300k": (300_000, 3_000_000, 128)}
MEMORY, TIME = 0.3, 1.5
# The names of phases in the plan and in the run.
NAMES = {
    "reading": "read",
    "preparing": "prepare",
    "basis": "basis",
    "training": "train",
    "writing": "write",
    "report": "report",
}


def told(name: str, folder: Path, options: list[str]) -> dict[str, Any]:
    """The plan, by a process of its own."""
    command = [sys.executable, "-m", "fdmvgcl", "plan", *files_of(name, folder), "--json", *options]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    if not found.stdout:
        raise SystemExit(found.stderr)
    plan: dict[str, Any] = json.loads(found.stdout)
    return plan


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=FIVE, help=f"of {', '.join(SIZES)}, separated by commas")
    parser.add_argument("--scratch", type=Path, help="where graphs are kept between runs; else a temporary folder")
    parser.add_argument("--options", default="--dim 64", help="for plan and embed")
    parser.add_argument("--no-record", action="store_true", help="only print")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    folder = options.scratch or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    given = shlex.split(options.options)
    for name in options.sizes.split(","):
        plan = told(name, folder, given)
        run = measure(name, folder, given)
        show(name, plan, run)
        if not options.no_record:
            save_rows("plan", [{"size": name, "options": given, "plan": plan, "run": run}], KEYS)
            save_rows("end_to_end", [run], KEYS)
    if options.scratch is None:
        shutil.rmtree(folder)


def show(name: str, plan: dict[str, Any], run: dict[str, Any]) -> None:
    """What was told beside what it took, phase by phase."""
    memory, time = plan["memory"] / run["peak_bytes"], plan["seconds"] / run["seconds"]
    within = abs(memory - 1) <= MEMORY and 1 / TIME <= time <= TIME
    pairs = [(phase, run["phases"].get(NAMES[phase["name"]])) for phase in plan["phases"]]
    whole = ({"name": "all", **plan}, run)
    cells = [
        [name, told["name"], told["seconds"], took["seconds"], told["memory"] / 1e9, took["peak_bytes"] / 1e9]
        for told, took in [*pairs, whole]
        if took is not None
    ]
    print_table(["size", "phase", "told s", "took s", "told GB", "peak GB"], cells)
    print("within the goals" if within else "beyond the goals", flush=True)


if __name__ == "__main__":
    main()
