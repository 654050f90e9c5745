"""Attacks on Cora: seconds a flip of Metattack and Nettack, the gradient of all pairs, adaptive attacks at 15 %.

Each part runs in a process of its own: ``python benchmarks/attacks.py metattack nettack`` measures these two again and
leaves the others in the record as they are.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import RESULTS, in_own_process, peak_memory, print_table, save_record

from fdmvgcl import FDMVGCL
from fdmvgcl.attacks import Allowed, FrozenProbe, accuracy, edge_budget, greedy, metattack, nettack, prbcd
from fdmvgcl.attacks.objectives import Aim, tanh_margin
from fdmvgcl.attacks.pairs import all_pairs
from fdmvgcl.datasets import Dataset, load

RATE, META_FLIPS, TARGETS, FLIPS, STEPS = 0.15, 20, 20, 5, 5

Measured = dict[str, float]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = call()
    return time.perf_counter() - started, found


def of_metattack(data: Dataset) -> Measured:
    graph = data.graph()
    metattack(graph, data.labels, data.splits[0], 1)
    seconds, made = timed(lambda: metattack(graph, data.labels, data.splits[0], META_FLIPS))
    return {"seconds": seconds / len(made.flips)}


def of_nettack(data: Dataset) -> Measured:
    graph, split = data.graph(), data.splits[0]
    degrees = np.diff(graph.adjacency.indptr)
    targets = [int(node) for node in split.test if degrees[node] > 10][:TARGETS]
    trained, _ = timed(lambda: nettack(graph, data.labels, split, targets[:1], 0))
    seconds, made = timed(lambda: nettack(graph, data.labels, split, targets, FLIPS))
    return {"seconds": (seconds - trained) / len(made.flips)}


def probe(data: Dataset) -> FrozenProbe:
    graph = data.graph()
    return FrozenProbe.of_model(FDMVGCL(seed=0).fit(graph), graph, data.labels, data.splits[0])


def of_gradient(data: Dataset) -> Measured:
    victim, graph = probe(data), data.graph()
    loss, pairs = tanh_margin(Aim.of(victim, data.labels, data.splits[0].test)), all_pairs(graph.num_nodes)
    victim.gradients(graph, loss, pairs)
    seconds, _ = timed(lambda: [victim.gradients(graph, loss, pairs) for _ in range(STEPS)])
    return {"seconds": seconds / STEPS, "pairs": len(pairs)}


def adaptive(run: Callable[..., Any]) -> Callable[[Dataset], Measured]:
    def measure(data: Dataset) -> Measured:
        victim, graph, test = probe(data), data.graph(), data.splits[0].test
        allowed = Allowed(edges=edge_budget(graph, RATE))
        seconds, made = timed(lambda: run(victim, graph, data.labels, test, allowed))
        return {"seconds": seconds, "accuracy": accuracy(victim, made.apply(graph), data.labels, test)}

    return measure


PARTS: dict[str, Callable[[Dataset], Measured]] = {
    "metattack": of_metattack,
    "nettack": of_nettack,
    "gradient": of_gradient,
    "greedy": adaptive(greedy),
    "prbcd": adaptive(prbcd),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="those to measure; all if none is named")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--data-root", help="where the benchmark data lies (else FDMVGCL_DATA)")
    given = parser.parse_args()
    if given.child:
        measured = PARTS[given.child](load("cora", given.data_root))
        print(json.dumps({**measured, "bytes": peak_memory()}))
        return
    path = RESULTS / "attacks.json"
    found = json.loads(path.read_text())["measured"] if path.exists() else {}
    root = ["--data-root", given.data_root] if given.data_root else []
    for name in given.parts or PARTS:
        found[name] = in_own_process(__file__, name, *root)
        print_table(["part", "seconds", "peak MB"], [[name, found[name]["seconds"], found[name]["bytes"] / 1e6]])
        save_record("attacks", {part: found[part] for part in PARTS if part in found}, {"rate": RATE})


if __name__ == "__main__":
    main()
