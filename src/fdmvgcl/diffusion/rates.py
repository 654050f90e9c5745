"""How fast this machine does what embedding is made of, timed in about a second."""

import math
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from fdmvgcl.diffusion.cost import REFERENCE, Rates, swept
from fdmvgcl.diffusion.kernels import WIDEST, basis_terms
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.operators import Operator

# Of what is timed: a side of dense products, nodes of a graph that no cache holds, bytes, numbers.
_SIDE, _NODES, _BYTES, _NUMBERS = 1024, 100_000, 64 << 20, 1 << 20


def measured(folder: StrPath) -> Rates:
    """The rates of this machine, and of the disk that the folder is on."""
    generator = torch.Generator().manual_seed(0)
    square = torch.randn(_SIDE, _SIDE, generator=generator)
    gemm = _seconds(lambda: square @ square) / (2 * _SIDE**3)
    copied = torch.zeros(_BYTES // 4)
    stream = _seconds(lambda: copied.add_(1)) / (2 * _BYTES)
    numbers = np.random.default_rng(0).integers(0, _NUMBERS, _NUMBERS)
    scan = _seconds(lambda: np.sort(numbers, kind="stable")) / _NUMBERS
    sparse = REFERENCE.sparse * gemm / REFERENCE.gemm
    return Rates(gemm, sparse, _sweep(generator), stream, scan, _disk(Path(folder)))


def _sweep(generator: torch.Generator) -> float:
    """Of a graph with five random neighbours a node, 128 columns."""
    rows = torch.arange(0, 5 * _NODES + 1, 5)
    columns = torch.randint(0, _NODES, (5 * _NODES,), generator=generator)
    operator = Operator(rows, columns, torch.full((5 * _NODES,), 0.2), None, False, "sym", 0.0)
    x = torch.ones(_NODES, WIDEST)
    return _seconds(lambda: basis_terms(operator, CHEBYSHEV, x, 4), 2) / swept(_NODES, 5 * _NODES, WIDEST, 3)


def _disk(folder: Path) -> float:
    """Of a file that is written, made sure of, and taken away; without a name, so that a killed process leaves none."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.is_dir())
    text = bytes(_BYTES // 2)
    try:
        with tempfile.TemporaryFile(dir=there) as handle:
            start = time.perf_counter()
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
            return max((time.perf_counter() - start) / len(text), 1e-12)
    except OSError:  # a full or foreign disk is told of elsewhere
        return REFERENCE.disk


def _seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """The least of a few, after a first that may compile or make pages."""
    call()
    least = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
    return least
