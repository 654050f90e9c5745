"""A training epoch (K = 4 views, d = 512, Cora, T = 20): the filter against the predictor in the loop (h = 1).

python benchmarks/epoch.py [--data-root DIR]
"""

import torch
from baselines import in_loop
from harness import alternate, arguments, in_own_process, peak_memory, print_table, save_record
from torch import Tensor

from fdmvgcl.datasets import load
from fdmvgcl.diffusion.linear import apply_filter, make_filter
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.losses import RegularisedCosmean

VIEWS, DIM, TIME, STEP = 4, 512, 20.0, 1.0
SIDES = ("projection and loss alone", "filter", "in-loop predictor")


class Epoch:
    """Forward, loss and backward for projections and orders, with one of three diffusions between."""

    def __init__(self, data_root: str | None) -> None:
        graph = load("cora", data_root).graph()
        self.operator = graph.operator()
        self.features = FeatureMatrix.of(FeatureTransform.fit(graph, "rows").scaled(graph))
        generator = torch.Generator().manual_seed(0)
        columns = graph.num_features
        self.weight = (torch.randn(VIEWS, columns, DIM, generator=generator) / columns**0.5).requires_grad_()
        self.alpha = torch.linspace(0.01, 1, VIEWS, dtype=torch.float64).requires_grad_()
        self.loss = RegularisedCosmean(0.05)

    def run(self, side: str) -> None:
        self.weight.grad = self.alpha.grad = None
        projected = self.features.project(self.weight)
        views = torch.nn.functional.leaky_relu(self.diffuse(side, projected), 0.25)
        terms = self.loss(views)
        (terms["cosmean"] + 0.05 * terms["direction"]).backward()

    def diffuse(self, side: str, x: Tensor) -> Tensor:
        if side == "filter":
            return apply_filter(self.operator, x, make_filter(self.alpha, TIME))
        if side == "in-loop predictor":
            return in_loop(self.operator, x, self.alpha, TIME, STEP)
        return x


def main() -> None:
    options = arguments(__doc__)
    if options.child is not None:
        epoch = Epoch(options.data_root)
        before = peak_memory()
        for _ in range(2):
            epoch.run(" ".join(options.child))
        print(f'{{"bytes": {peak_memory() - before}}}')
        return
    epoch = Epoch(options.data_root)
    # Each comparison by itself: the gigabyte that time stepping frees makes whatever runs next slower.
    calls = {side: lambda side=side: epoch.run(side) for side in SIDES}
    alone = alternate({side: calls[side] for side in SIDES[:2]}, repeats=9)
    stepping = alternate({side: calls[side] for side in SIDES[1:]}, repeats=5)
    times = alone | {SIDES[2]: stepping[SIDES[2]]}
    root = ["--data-root", options.data_root] if options.data_root else []
    memory = {side: in_own_process(__file__, *side.split(), *root)["bytes"] for side in SIDES}
    warm = {side: times[side]["warm"] for side in SIDES}
    summary = {
        "times faster than the in-loop predictor": warm["in-loop predictor"] / stepping["filter"]["warm"],
        "times the cost of projection and loss alone": warm["filter"] / warm["projection and loss alone"],
    }
    print_table(
        ["epoch", "cold s", "warm s", "peak MB"],
        [[side, times[side]["cold"], warm[side], memory[side] / 1e6] for side in SIDES],
    )
    for name, value in summary.items():
        print(f"{name}: {value:.2f}")
    measured = {side: times[side] | {"bytes": memory[side]} for side in SIDES}
    save_record("epoch", measured | {"filter beside the in-loop predictor": stepping["filter"]}, summary)


if __name__ == "__main__":
    main()
