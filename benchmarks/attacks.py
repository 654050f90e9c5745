"""Seconds of attacks on Cora: Metattack and Nettack a flip, the gradient of all pairs, adaptive PRBCD and greedy."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import arguments, print_table, save_record

from fdmvgcl import FDMVGCL
from fdmvgcl.attacks import Allowed, FrozenProbe, accuracy, edge_budget, greedy, metattack, nettack, prbcd
from fdmvgcl.attacks.objectives import Aim, tanh_margin
from fdmvgcl.attacks.pairs import all_pairs
from fdmvgcl.datasets import load

RATE, META_FLIPS, TARGETS, FLIPS = 0.15, 10, 20, 5


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = call()
    return time.perf_counter() - started, found


def main() -> None:
    data = load("cora", arguments(__doc__ or "").data_root)
    graph, labels, split = data.graph(), data.labels, data.splits[0]
    victim = FrozenProbe.of_model(FDMVGCL(seed=0).fit(graph), graph, labels, split)
    loss, pairs = tanh_margin(Aim.of(victim, labels, split.test)), all_pairs(graph.num_nodes)
    victim.gradients(graph, loss, pairs)
    degrees = np.diff(graph.adjacency.indptr)
    targets = [int(node) for node in split.test if degrees[node] > 10][:TARGETS]
    measured: dict[str, float] = {}
    measured["gradient of all pairs"], _ = timed(lambda: victim.gradients(graph, loss, pairs))
    seconds, made = timed(lambda: metattack(graph, labels, split, META_FLIPS))
    measured["metattack, a flip"] = seconds / len(made.flips)
    seconds, made = timed(lambda: nettack(graph, labels, split, targets, FLIPS))
    measured["nettack, a target and flip"] = seconds / len(made.flips)
    left = {}
    allowed = Allowed(edges=edge_budget(graph, RATE))
    for name, run in {"adaptive prbcd": prbcd, "adaptive greedy": greedy}.items():
        measured[name], made = timed(lambda run=run: run(victim, graph, labels, split.test, allowed))
        left[name] = accuracy(victim, made.apply(graph), labels, split.test)
    print_table(["attack", "seconds"], [[name, seconds] for name, seconds in measured.items()])
    print(left)
    save_record("attacks", measured, {"accuracy left": left})


if __name__ == "__main__":
    main()
