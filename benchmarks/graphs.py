"""Time and memory of one vector a graph: the TU collection's DD, and the growth with the number of graphs.

    python benchmarks/graphs.py [PART ...] --data-root DATA

``FDMVGCL(dim=128).fit_transform`` of a GraphSet, marks of structure included; how long DD's files take to read stands
beside. Each in a process of its own. Generated graphs have 10 to 30 nodes and twice as many edges. A part is ``dd`` or
a number of generated graphs; all of them without one. Parts add to one record.
"""

import argparse
import json
import math
import time

import numpy as np
from harness import RESULTS, in_own_process, peak_memory, print_table, save_record

from fdmvgcl import FDMVGCL, GraphSet
from fdmvgcl.datasets import load_graphs

DD, DIM = "dd", 128
SIZES = (1_000, 3_162, 10_000, 31_623, 100_000)
# Training is of a sample of fixed size from a thousand graphs on, so the slope is taken of the larger half.
SLOPE = SIZES[2:]


def generated(graphs: int) -> GraphSet:
    rng = np.random.default_rng(0)
    sizes = rng.integers(10, 31, graphs)
    first = np.repeat(np.cumsum(sizes) - sizes, 2 * sizes)
    source, target = (first + rng.integers(0, np.repeat(sizes, 2 * sizes)) for _ in range(2))
    return GraphSet.from_numbers([str(i) for i in range(graphs)], np.repeat(np.arange(graphs), sizes), source, target)


def child(part: str, data_root: str) -> None:
    start = time.perf_counter()
    graphs = load_graphs(DD, data_root or None).graphs if part == DD else generated(int(part))
    made = time.perf_counter()
    z = FDMVGCL(dim=DIM).fit_transform(graphs)
    found = {
        "graphs": len(z),
        "nodes": graphs.block.num_nodes,
        "edges": graphs.block.num_edges,
        "seconds": time.perf_counter() - made,
        "bytes": peak_memory(),
    }
    print(json.dumps(found | ({"read": made - start} if part == DD else {})))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{DD}, or one of {', '.join(map(str, SIZES))}")
    parser.add_argument("--data-root", default="", help="where the benchmark data lies (else FDMVGCL_DATA)")
    parser.add_argument("--child", nargs=1, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        child(*asked.child, asked.data_root)
        return
    parts = asked.parts or [DD, *map(str, SIZES)]
    found = {part: in_own_process(__file__, part, "--data-root", asked.data_root) for part in parts}
    print_table(
        ["", "graphs", "nodes", "s", "GB"],
        [[part, f["graphs"], f["nodes"], f["seconds"], f["bytes"] / 1e9] for part, f in found.items()],
    )
    kept = RESULTS / "graphs.json"
    earlier = json.loads(kept.read_bytes())["measured"] if kept.exists() else {}
    measured = earlier | found
    summary = {"dim": DIM}
    if all(str(size) in measured for size in SLOPE):
        large = [measured[str(size)] for size in SLOPE]
        slope = float(np.polyfit(*([math.log(f[key]) for f in large] for key in ("graphs", "seconds")), 1)[0])
        summary |= {"exponent of time in graphs": slope, "from": SLOPE[0]}
        print(f"exponent of time in graphs, from {SLOPE[0]} on: {slope:.2f}")
    save_record("graphs", measured, summary)


if __name__ == "__main__":
    main()
