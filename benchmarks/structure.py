"""Time and memory of the columns made of a graph's edges, against nodes with ten edges each, and the fitted exponents.

    python benchmarks/structure.py [--nodes 1000000]

Graphs of communities with skewed degrees, of up to a million nodes and ten million edges, each in a process of its own
that makes all 128 columns once, from the adjacency to the diffused factors. ``--nodes`` is the largest graph.
"""

import json
import time

import numpy as np
from end_to_end import edges_of
from growth import exponent
from harness import arguments, in_own_process, peak_memory, print_table, save_record
from scipy import sparse

from fdmvgcl import Graph
from fdmvgcl.learning.structure import Structure

NODES, EDGES_A_NODE = (10_000, 31_623, 100_000, 316_228, 1_000_000), 10


def child(nodes: int) -> None:
    pieces = list(edges_of(nodes, EDGES_A_NODE * nodes))
    source, target = (np.concatenate([piece[end].to_numpy() for piece in pieces]) for end in ("source", "target"))
    ones = np.ones(len(source), np.float32)
    graph = Graph.from_scipy(sparse.coo_array((ones, (source, target)), shape=(nodes, nodes)).tocsr())
    del pieces, source, target, ones
    operator, before = graph.operator(), peak_memory()
    start, processor = time.perf_counter(), time.process_time()
    Structure.fit(graph, operator, 0)
    took = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - processor}
    found = {"nodes": nodes, "edges": graph.num_edges, **took, "bytes": peak_memory(), "bytes_before": before}
    print(json.dumps(found))


def main() -> None:
    options = arguments(__doc__)
    if options.child is not None:
        child(int(options.child[0]))
        return
    points = []
    for nodes in NODES:
        if nodes <= (options.nodes or NODES[-1]):
            points.append(in_own_process(__file__, str(nodes)))
            cells = [points[-1][name] for name in ("nodes", "edges", "seconds", "cpu_seconds")]
            print_table(["nodes", "edges", "s", "CPU s", "peak GB"], [[*cells, points[-1]["bytes"] / 1e9]])
    summary = {}
    for name, some in {"all": points, "the largest two": points[-2:]}.items():
        sizes = [point["nodes"] for point in some]
        summary[f"exponent of time over {name}"] = exponent(sizes, [point["seconds"] for point in some])
    for name, value in summary.items():
        print(f"{name}: {value:.2f}")
    save_record("structure", points, summary)


if __name__ == "__main__":
    main()
