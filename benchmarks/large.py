"""Graphs that no cache holds: a degree of the recurrence, the basis, and an epoch, each beside what it was before.

    python benchmarks/large.py [--nodes 1000000]

CPU seconds (user and system, all threads), the sides in turn in one run. ``narrow`` is the compiled sweep with lanes of
32 bytes and no row called ahead; ``apart`` makes each term of the basis by a product and two temporaries. The epochs
run in processes of their own, of which one kind asks for huge pages. Terms of the basis at a million nodes are 7 GB, so
these are medians of three. What is measured is on record at once.
"""

import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from harness import alternate, arguments, in_own_process, peak_memory, print_table, save_record
from kernels import random_operator
from scipy import sparse

from fdmvgcl import FDMVGCL, Graph, Schedule
from fdmvgcl.diffusion import _panels
from fdmvgcl.diffusion.kernels import basis_terms, sparse_product
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.machine import HUGE_PAGES_VARIABLE

EDGES_A_NODE, WIDTHS, FEATURES, TERMS = 10, (16, 64, 128), 128, 14
EPOCHS, DIM = 3, 64


def variant(**constants: tuple[str, str]) -> ModuleType:
    """The compiled loops with some of their lines replaced, as a module of its own."""
    text = Path(_panels.__file__).read_text()
    for old, new in constants.values():
        assert old in text, f"{old!r} is no longer in _panels.py"
        text = text.replace(old, new)
    folder = Path(tempfile.mkdtemp())
    (folder / "variant.py").write_text(text)
    spec = importlib.util.spec_from_file_location("variant", folder / "variant.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["variant"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NARROW = {
    "lanes": ("LANE_BYTES = 64 if", "LANE_BYTES = 32 if"),
    "ahead": ("self.call(edge, last)", "pass"),
}


def degrees(nodes: int) -> list[dict[str, Any]]:
    """A degree by each kind of sweep, on one thread."""
    csr = random_operator(nodes, EDGES_A_NODE * nodes).arrays(np.dtype(np.float32))
    kinds, found = {"narrow": variant(**NARROW), "now": _panels}, []
    for width in WIDTHS:
        now = np.random.default_rng(0).standard_normal((nodes, width), np.float32)
        states = {kind: now[::-1].copy() for kind in kinds}
        none, numbers = np.empty((0, nodes, width), np.float32), (np.float32(-2), np.float32(1))

        def sweep(kind: str, now=now, states=states, none=none, numbers=numbers) -> None:
            old = states[kind]
            kinds[kind].sweep(*csr, 0, nodes, now, old, *numbers, none[:, 0, 0], none, none, np.empty(0))

        times = alternate({kind: lambda kind=kind: sweep(kind) for kind in kinds}, clock=time.process_time)
        same = bool(np.array_equal(states["narrow"], states["now"]))
        found.append({"nodes": nodes, "columns": width, "same numbers": same, **times})
    return found


def terms_apart(operator: Any, x: torch.Tensor) -> torch.Tensor:
    terms = x.new_empty(TERMS, *x.shape)
    terms[0] = x
    for j in range(1, TERMS):
        factor, back = CHEBYSHEV.step(j)
        product = sparse_product(operator.csr, terms[j - 1])
        terms[j] = factor * product if j == 1 else factor * product - back * terms[j - 2]
    return terms


def basis(nodes: int) -> dict[str, Any]:
    operator = random_operator(nodes, EDGES_A_NODE * nodes)
    x = torch.randn(nodes, FEATURES, generator=torch.Generator().manual_seed(0))
    sides = {
        "apart": lambda: terms_apart(operator, x),
        "now": lambda: basis_terms(operator, CHEBYSHEV, x, TERMS),
    }
    same = torch.equal(sides["apart"](), sides["now"]())
    return {
        "nodes": nodes,
        "columns": FEATURES,
        "same numbers": same,
        **alternate(sides, repeats=3, clock=time.process_time),
    }


def epochs(nodes: int) -> None:
    """CPU seconds of each epoch on a graph with features, in this process."""
    rng, ends = np.random.default_rng(0), []
    edges = rng.integers(0, nodes, (EDGES_A_NODE * nodes, 2))
    ones = np.ones(len(edges), np.float32)
    adjacency = sparse.csr_matrix((ones, (edges[:, 0], edges[:, 1])), shape=(nodes, nodes))
    features = rng.standard_normal((nodes, FEATURES)).astype(np.float32)
    graph = Graph.from_scipy(adjacency, features)
    model = FDMVGCL(dim=DIM, epochs=EPOCHS, schedule=Schedule(min_rank=0.0, merge_width=0.0))
    prepared = model.prepare(graph, order_of_work="diffuse")
    assert prepared.basis is not None
    model.fit(prepared, on_epoch=lambda *_: ends.append((time.process_time(), _faults())))
    seconds = [after[0] - before[0] for before, after in pairwise(ends)]
    faults = [after[1] - before[1] for before, after in pairwise(ends)]
    print(json.dumps({"seconds": min(seconds), "faults": min(faults), "bytes": peak_memory()}))


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def main() -> None:
    options = arguments(__doc__)
    nodes = options.nodes or 1_000_000
    if options.child is not None:
        epochs(nodes)
        return
    torch.set_num_threads(1)
    steps = [row for n in sorted({min(nodes, 170_000), nodes}) for row in degrees(n)]
    rows = [*steps, basis(nodes)]
    print_table(
        ["what", "nodes", "columns", "before, CPU s", "now, CPU s", "times", "same numbers"],
        [
            [
                what,
                row["nodes"],
                row["columns"],
                old["warm"],
                row["now"]["warm"],
                old["warm"] / row["now"]["warm"],
                same,
            ]
            for row in rows
            for what, old in [("basis", row["apart"]) if "apart" in row else ("a degree", row["narrow"])]
            for same in [row["same numbers"]]
        ],
    )
    pages: dict[str, list[dict[str, Any]]] = {"small": [], "huge": []}
    save_record("large", {"kernels": rows, "pages": pages})
    for _ in range(2):
        for kind, value in (("small", "0"), ("huge", "1")):
            os.environ[HUGE_PAGES_VARIABLE] = value
            pages[kind].append(in_own_process(__file__, "--nodes", str(nodes)))
            save_record("large", {"kernels": rows, "pages": pages})
    print_table(
        ["pages", "an epoch, CPU s", "faults", "peak MB"],
        [[kind, run["seconds"], run["faults"], run["bytes"] / 1e6] for kind, runs in pages.items() for run in runs],
    )


if __name__ == "__main__":
    main()
