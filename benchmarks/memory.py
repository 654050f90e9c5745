"""Peak memory of ``diffuse`` (forward and backward) above a process that holds input and output, against the degree.

python benchmarks/memory.py
"""

import torch
from harness import arguments, in_own_process, peak_memory, print_table, save_record

from fdmvgcl.diffusion.linear import _Expansion
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.graphs.operators import Operator

NODES, EDGES, DIM = 20_000, 100_000, 512
DEGREES = (10, 20, 40, 80, 160)


def child(degree: int) -> None:
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(0, NODES, (2, EDGES), generator=generator)
    operator = Operator.from_edges(torch.cat([ends, ends.flip(0)], 1), None, NODES).to(dtype=torch.float32)
    x = torch.randn(1, NODES, DIM, generator=generator).requires_grad_()
    coefficients = (torch.ones(1, 1, degree + 1, dtype=torch.float64) / (degree + 1)).requires_grad_()
    # What any method must hold: input, output and their gradients; and the kernels, compiled and loaded.
    held = [torch.ones_like(x) for _ in range(3)]
    _Expansion.apply(x[:, :, :16].contiguous(), coefficients, operator, CHEBYSHEV, None).sum().backward()
    before = peak_memory()
    del held
    _Expansion.apply(x, coefficients, operator, CHEBYSHEV, None).sum().backward()
    print(f'{{"above_baseline": {peak_memory() - before}, "baseline": {before}}}')


def main() -> None:
    options = arguments(__doc__)
    if options.child is not None:
        child(int(options.child[0]))
        return
    found = {degree: in_own_process(__file__, str(degree)) for degree in DEGREES}
    peaks = {d: f["baseline"] + f["above_baseline"] for d, f in found.items()}
    print_table(
        ["degree", "peak MB", "above input and output MB"],
        [[d, peaks[d] / 1e6, f["above_baseline"] / 1e6] for d, f in found.items()],
    )
    growth = peaks[DEGREES[-1]] / peaks[DEGREES[0]]
    above = {d: max(f["above_baseline"], 1) for d, f in found.items()}
    print(f"peak at degree {DEGREES[-1]} over degree {DEGREES[0]}: {growth:.3f}")
    print(f"above the baseline: {above[DEGREES[-1]] / above[DEGREES[0]]:.3f}")
    save_record("memory", found, {"growth of the peak": growth, "growth above the baseline": above[160] / above[10]})


if __name__ == "__main__":
    main()
