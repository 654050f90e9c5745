"""Equal solution error: one view, d = 128, Cora, T = 20, α = 0.5, forward and backward, against the exact solution.

    python benchmarks/accuracy.py [--data-root DIR]

The steps are the largest that reach the error; what a solver cannot reach in memory is said instead of a time.
"""

import warnings

import torch
from baselines import fdeint_pece, in_loop
from harness import alternate, arguments, print_table, save_record
from torch import Tensor

from fdmvgcl.datasets import load
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.fractional import PECE, PREDICTOR

TIME, ALPHA, DIM = 20.0, 0.5, 128
# Steps tried, from coarse to fine; FDEint's memory grows with their square, so its list ends where the machine's does.
STEPS = {
    "in-loop predictor": (20, 40, 70, 80, 200, 220),
    "in-loop pece": (20, 30, 40, 50, 60, 80, 110, 120, 130),
    "FDEint": (30, 50, 60),
}
GOALS = (3e-3, 1e-3)


def main() -> None:
    options = arguments(__doc__)
    operator = load("cora", options.data_root).graph().operator()
    x = torch.randn(operator.num_nodes, DIM, generator=torch.Generator().manual_seed(0))
    truth = diffuse(operator.to(dtype=torch.float64), x.double(), ALPHA, TIME)

    def solve(side: str, steps: int, x: Tensor, alpha: Tensor) -> Tensor:
        if side == "filter":
            return diffuse(operator, x, alpha, TIME)
        if side == "FDEint":
            return fdeint_pece(operator, x, alpha.float(), TIME, TIME / steps)
        scheme = PREDICTOR if side == "in-loop predictor" else PECE
        return in_loop(operator, x[None], alpha[None], TIME, TIME / steps, scheme)[0]

    def error(side: str, steps: int) -> float:
        with torch.no_grad():
            found = solve(side, steps, x, torch.tensor(ALPHA))
        return float((found.double() - truth).norm() / truth.norm())

    def run(side: str, steps: int) -> None:
        leaf, alpha = x.clone().requires_grad_(), torch.tensor(ALPHA, requires_grad=True)
        solve(side, steps, leaf, alpha).square().sum().backward()

    warnings.simplefilter("ignore")
    errors = {side: {n: error(side, n) for n in tried} for side, tried in STEPS.items()}
    own = error("filter", 0)
    rows, measured, summary = [], {"errors": errors, "filter_error": own, "times": {}}, {}
    for goal in GOALS:
        for side, found in errors.items():
            steps = next((n for n, e in found.items() if e <= goal), None)
            if steps is None:
                rows.append([f"{goal:g}", side, "not reached", f"{min(found.values()):.2g}", "–", "–", "–"])
                continue
            sides = {"filter": lambda: run("filter", 0), side: lambda side=side, steps=steps: run(side, steps)}
            times = alternate(sides, repeats=5)
            ratio = times[side]["warm"] / times["filter"]["warm"]
            rows.append([f"{goal:g}", side, steps, found[steps], times[side]["warm"], times["filter"]["warm"], ratio])
            measured["times"][f"{side} at {goal:g}"] = times | {"steps": steps}
            summary[f"times faster than {side} at error {goal:g}"] = ratio
            print_table(["goal", "solver", "steps", "its error", "its s", "filter s", "ratio"], rows[-1:])
    print()
    print_table(["goal", "solver", "steps", "its error", "its s", "filter s", "ratio"], rows)
    print(f"error of the filter: {own:.2g}")
    save_record("accuracy", measured, summary)


if __name__ == "__main__":
    main()
