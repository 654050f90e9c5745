"""Time and memory of ``diffuse`` against nodes, edges and degree on generated graphs, with the fitted exponents.

    python benchmarks/growth.py

Graphs of up to a million nodes and ten million edges; d = 64, float32, forward and backward, each in its own process.
"""

import json
import math
import time

import numpy as np
import torch
from harness import arguments, in_own_process, peak_memory, print_table, save_record

from fdmvgcl.diffusion.linear import apply_filter, make_filter
from fdmvgcl.fractional.response import chebyshev_coefficients
from fdmvgcl.graphs.operators import Operator

DIM = 64
SERIES = {
    "nodes (10 edges each)": [(n, 10 * n, 10.0) for n in (10_000, 31_623, 100_000, 316_228, 1_000_000)],
    "edges (100 000 nodes)": [(100_000, e, 10.0) for e in (100_000, 316_228, 1_000_000, 3_162_278, 10_000_000)],
    "time, hence degree (100 000 nodes, 1 000 000 edges)": [
        (100_000, 1_000_000, t) for t in (1.0, 10.0, 100.0, 1000.0)
    ],
}


def child(nodes: int, edges: int, duration: float) -> None:
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(0, nodes, (2, edges), generator=generator)
    operator = Operator.from_edges(torch.cat([ends, ends.flip(0)], 1), None, nodes).to(dtype=torch.float32)
    x = torch.randn(nodes, DIM, generator=generator).requires_grad_()
    alpha = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    del ends
    seconds = []
    for _ in range(4):
        start = time.perf_counter()
        apply_filter(operator, x, make_filter(alpha, duration)).square().sum().backward()
        seconds.append(time.perf_counter() - start)
    degree = chebyshev_coefficients(make_filter(1.0, duration), 1e-7).shape[-1] - 1
    print(json.dumps({"seconds": float(np.median(seconds[1:])), "bytes": peak_memory(), "degree": degree}))


def exponent(sizes: list[float], values: list[float]) -> float:
    """Slope of log(value) over log(size), by least squares."""
    return float(np.polyfit([math.log(s) for s in sizes], [math.log(v) for v in values], 1)[0])


def main() -> None:
    options = arguments(__doc__)
    if options.child is not None:
        nodes, edges, duration = options.child
        child(int(nodes), int(edges), float(duration))
        return
    base = in_own_process(__file__, "100", "300", "1.0")["bytes"]
    measured, summary = {"process alone": base}, {}
    for name, points in SERIES.items():
        found = [in_own_process(__file__, *map(str, point)) for point in points]
        measured[name] = [
            dict(zip(("nodes", "edges", "time"), p, strict=True)) | f for p, f in zip(points, found, strict=True)
        ]
        print(name)
        print_table(
            ["nodes", "edges", "T", "degree", "s", "MB above the bare process"],
            [[*p, f["degree"], f["seconds"], (f["bytes"] - base) / 1e6] for p, f in zip(points, found, strict=True)],
        )
        varied = {"n": [p[0] for p in points], "e": [p[1] for p in points], "t": [f["degree"] for f in found]}[name[0]]
        summary[f"exponent of time in {name}"] = exponent(varied, [f["seconds"] for f in found])
        summary[f"exponent of memory in {name}"] = exponent(varied, [max(f["bytes"] - base, 1) for f in found])
    for name, value in summary.items():
        print(f"{name}: {value:.2f}")
    save_record("growth", measured, summary)


if __name__ == "__main__":
    main()
