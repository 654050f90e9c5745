"""The recurrence's kernels against the machine's limits, on graphs that fit the cache and on one that does not.

    python benchmarks/kernels.py [--data-root DIR]

A degree of a kernel gathers nnz · d numbers; ``gathered GB/s`` counts those bytes, ``of copy`` is their share of the
measured copy bandwidth, ``GFLOP/s`` their multiply-adds, ``of gemm`` the share of the measured matrix product.
"""

import warnings

import numpy as np
import torch
from harness import alternate, arguments, print_table, save_record
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

import fdmvgcl.diffusion.kernels as kernels
from fdmvgcl.datasets import load
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.graphs.operators import Operator

DEGREE, LARGE_DEGREE = 24, 6  # the large graphs take long, and a degree costs the same as any other


def machine_limits() -> dict[str, float]:
    a, b = torch.randn(1 << 26), torch.empty(1 << 26)
    m = torch.randn(2048, 2048)
    times = alternate({"copy": lambda: b.copy_(a), "gemm": lambda: m @ m})
    return {
        "copy_gb_s": 2 * a.numel() * 4 / times["copy"]["least"] / 1e9,
        "gemm_gflop_s": 2 * 2048**3 / times["gemm"]["least"] / 1e9,
    }


def random_operator(nodes: int, edges: int, *, communities: int = 1) -> Operator:
    """Random edges; with communities, nine in ten stay within one, and the nodes are numbered at random."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, edges))
    if communities > 1:
        size = nodes // communities
        inside = rng.random(edges) < 0.9
        ends[1] = np.where(inside, ends[0] // size * size + ends[1] % size, ends[1]).clip(max=nodes - 1)
    ends = rng.permutation(nodes)[ends]
    index = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1))
    return Operator.from_edges(index, None, nodes).to(dtype=torch.float32)


def reordered(operator: Operator) -> Operator:
    """The same graph, its nodes renumbered by reverse Cuthill-McKee so that neighbours lie close."""
    rows, columns, values = operator.arrays(np.dtype(np.float32))
    matrix = sparse.csr_matrix((values, columns, rows), shape=(operator.num_nodes,) * 2)
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    entries = matrix.tocoo()
    index = torch.from_numpy(np.stack([place[entries.row], place[entries.col]]).astype(np.int64))
    return Operator.from_edges(index, torch.from_numpy(entries.data), operator.num_nodes).to(dtype=torch.float32)


def with_panels(bytes_allowed: int):
    """The compiled kernel with another budget for its panels; a budget of 1 makes it run by rows."""

    def run(operator: Operator, x: torch.Tensor, coefficients: torch.Tensor) -> None:
        default, kernels.PANEL_BYTES = kernels.PANEL_BYTES, bytes_allowed
        try:
            kernels.polynomial(operator, CHEBYSHEV, x, coefficients, kernel="panels")
        finally:
            kernels.PANEL_BYTES = default

    return run


def plain_torch(operator: Operator, x: torch.Tensor, coefficients: torch.Tensor) -> None:
    kernels.polynomial(operator, CHEBYSHEV, x, coefficients, kernel="torch")


def main() -> None:
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    limits = machine_limits()
    print(f"copy {limits['copy_gb_s']:.1f} GB/s, matrix product {limits['gemm_gflop_s']:.0f} GFLOP/s")
    graphs = {
        "cora (2.7k nodes, 11k entries)": (load("cora", options.data_root).graph().operator(), 2048),
        "photo (7.7k, 238k)": (load("photo", options.data_root).graph().operator(), 1024),
        "random (20k, 200k)": (random_operator(20_000, 100_000), 512),
        "random (170k, 2.3M)": (random_operator(170_000, 1_150_000), 128),
        "communities (170k, 2.3M)": (random_operator(170_000, 1_150_000, communities=200), 128),
    }
    graphs["communities, reordered"] = (reordered(graphs["communities (170k, 2.3M)"][0]), 128)
    rows, measured = [], {"limits": limits}
    for name, (operator, width) in graphs.items():
        x = torch.randn(1, operator.num_nodes, width, generator=torch.Generator().manual_seed(0))
        degree = DEGREE if operator.num_nodes < 100_000 else LARGE_DEGREE
        coefficients = torch.ones(1, 1, degree + 1, dtype=torch.float64)
        ways = {
            "default": with_panels(kernels.PANEL_BYTES),
            "panels of 16 columns": with_panels(3 * operator.num_nodes * 16 * 4),
            "by rows": with_panels(1),
            "torch": plain_torch,
        }
        sides = {way: lambda run=run, o=operator, x=x, c=coefficients: run(o, x, c) for way, run in ways.items()}
        times = alternate(sides)
        measured[name] = times
        work = degree * operator.nnz * width
        for way, found in times.items():
            found["gathered_gb_s"], flops = 4 * work / found["warm"] / 1e9, 2 * work / found["warm"] / 1e9
            shares = found["gathered_gb_s"] / limits["copy_gb_s"], flops / limits["gemm_gflop_s"]
            rows.append(
                [name, way, found["warm"], found["gathered_gb_s"], f"{shares[0]:.0%}", flops, f"{shares[1]:.0%}"]
            )
    print_table(["graph", "kernel", "s", "gathered GB/s", "of copy", "GFLOP/s", "of gemm"], rows)
    save_record("kernels", measured)


if __name__ == "__main__":
    main()
