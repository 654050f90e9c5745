"""Time and memory of one vector a graph: the TU collection's DD, and the growth with the number of graphs.

    python benchmarks/graphs.py --data-root DATA

``FDMVGCL(dim=128).fit_transform`` of a GraphSet, marks of structure included, reading not; each size in a process
of its own.
Generated graphs have 10 to 30 nodes and twice as many edges.
"""

import json
import math
import os
import time

import numpy as np
from harness import arguments, in_own_process, peak_memory, print_table, save_record

from fdmvgcl import FDMVGCL, GraphSet
from fdmvgcl.datasets import load_graphs

SIZES = (1_000, 3_162, 10_000, 31_623, 100_000)


def generated(graphs: int) -> GraphSet:
    rng = np.random.default_rng(0)
    sizes = rng.integers(10, 31, graphs)
    first = np.repeat(np.cumsum(sizes) - sizes, 2 * sizes)
    source, target = (first + rng.integers(0, np.repeat(sizes, 2 * sizes)) for _ in range(2))
    return GraphSet.from_numbers([str(i) for i in range(graphs)], np.repeat(np.arange(graphs), sizes), source, target)


def child(what: str) -> None:
    graphs = load_graphs("dd", os.environ.get("FDMVGCL_DATA")).graphs if what == "dd" else generated(int(what))
    start = time.perf_counter()
    z = FDMVGCL(dim=128).fit_transform(graphs)
    seconds = time.perf_counter() - start
    found = {"graphs": len(z), "nodes": graphs.block.num_nodes, "seconds": seconds, "bytes": peak_memory()}
    print(json.dumps(found))


def main() -> None:
    options = arguments(__doc__)
    if options.data_root:
        os.environ["FDMVGCL_DATA"] = options.data_root
    if options.child is not None:
        child(*options.child)
        return
    dd = in_own_process(__file__, "dd")
    grown = [in_own_process(__file__, str(size)) for size in SIZES]
    header = ["graphs", "nodes", "s", "GB"]
    print_table(["", *header], [[name, f["graphs"], f["nodes"], f["seconds"], f["bytes"] / 1e9]
                                for name, f in [("dd", dd), *(("generated", f) for f in grown)]])  # fmt: skip
    # Training is of a sample of fixed size from a thousand graphs on, so the slope is taken of the larger half.
    large = grown[len(grown) // 2 :]
    slope = float(np.polyfit(*([math.log(f[key]) for f in large] for key in ("graphs", "seconds")), 1)[0])
    print(f"exponent of time in graphs, from {large[0]['graphs']} on: {slope:.2f}")
    save_record("graphs", {"dd": dd, "generated": grown}, {"exponent of time in graphs": slope})


if __name__ == "__main__":
    main()
