"""``fdmvgcl robustness``: how much of an embedding's accuracy attacks take away, as a table, a record and a picture."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fdmvgcl import __version__
from fdmvgcl.attacks import Allowed, Encoding, FrozenProbe, accuracy
from fdmvgcl.attacks.scene import ADAPTIVE, Scene, weak_attacks
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.evaluate import labels_of
from fdmvgcl.errors import UserError
from fdmvgcl.figures import sweep
from fdmvgcl.files import atomic_write
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import check_number
from fdmvgcl.results.outputs import ResultFolder

RATES = (0.05, 0.1, 0.15, 0.2, 0.25)
_COLUMNS = ("random", "transfer", *(f"adaptive {name}" for name in ADAPTIVE))


def robustness(
    folder: ResultFolder,
    labels: str,
    splits: Path | None,
    rates: Sequence[float],
    seed: int,
    reporter: Reporter,
    *,
    data_root: Path | None = None,
    encoding: str | None = None,
) -> None:
    """Measure, print, and leave ``robustness.json`` and ``robustness.png`` in the folder."""
    for rate in rates:
        check_number("rates", rate, 0, 1)
    folder.require()
    graph = load_either(folder.graph)
    describe(graph, reporter)
    if isinstance(graph, GraphSet):
        raise UserError("robustness is of the nodes of one graph, and the folder holds many graphs")
    if graph.directed or graph.features is None:
        raise UserError("robustness needs an undirected graph with features: the surrogate reads them")
    labelled = labels_of(labels, splits, graph, data_root, "classes", encoding)
    model = FDMVGCL.load(folder.model, device="cpu")
    scene = Scene(graph, labelled.labels, labelled.splits[0], seed)
    victim = FrozenProbe.of_model(model, graph, scene.labels, scene.split)
    raw = FrozenProbe.chosen(
        [Encoding.raw(graph, "none"), Encoding.raw(graph, "rows")], graph, scene.labels, scene.split
    )
    found: dict[str, Any] = {
        "version": __version__,
        "splits": f"the first of {labelled.told}",
        "seed": seed,
        "clean": accuracy(victim, graph, scene.labels, scene.split.test),
        "raw": accuracy(raw, graph, scene.labels, scene.split.test),
        "rates": {},
    }
    for rate in sorted(set(rates)):
        with reporter.busy(f"attacks on {scene.budget(rate)} edges, {rate:.0%}") as told, reporter.warnings():
            found["rates"][f"{rate:g}"] = _under(scene, victim, rate, told)
    with atomic_write(folder.path / "robustness.json") as handle:
        handle.write((json.dumps(found, indent=1) + "\n").encode())
    _draw(found, folder.path / "robustness.png")
    _show(found, reporter)
    reporter.say(f"wrote {folder.path / 'robustness.json'} and {folder.path / 'robustness.png'}")


def _under(scene: Scene, victim: FrozenProbe, rate: float, told: Callable[[str], None]) -> dict[str, float]:
    """Accuracy under each attack; the next one is told."""
    budget, found = scene.budget(rate), {}
    for name in _COLUMNS:
        told(name)
        if name.startswith("adaptive "):
            flips = scene.adaptive(name.removeprefix("adaptive "), victim, Allowed(budget))
        else:
            flips = scene.flipped("prbcd" if name == "transfer" else name, budget)
        found[name] = accuracy(victim, flips.apply(scene.graph), scene.labels, scene.split.test)
    return found


def _show(found: dict[str, Any], reporter: Reporter) -> None:
    reporter.say("")
    reporter.say(f"test accuracy in % after attacks on the edges, {found['splits']}", "bold")
    rows = [("0 %", *[f"{100 * found['clean']:.1f}"] * len(_COLUMNS), f"{100 * found['raw']:.1f}")]
    for rate, by_attack in found["rates"].items():
        cells = [f"{100 * by_attack[name]:.1f}" for name in _COLUMNS]
        rows.append((f"{100 * float(rate):g} %", *cells, f"{100 * found['raw']:.1f}"))
    reporter.table(("edges flipped", *_COLUMNS, "raw features"), rows)
    for rate, by_attack in found["rates"].items():
        strongest = min(by_attack[f"adaptive {name}"] for name in ADAPTIVE)
        for told in weak_attacks(by_attack["random"], by_attack["transfer"], strongest):
            reporter.warn(f"at {100 * float(rate):g} % {told}: a weak attack, no sign of robustness")
    lowest = min(min(by_attack.values()) for by_attack in found["rates"].values())
    if lowest < found["raw"]:
        reporter.say("under the strongest attack the features alone do better than the embedding: the graph then hurts")


def _draw(found: dict[str, Any], path: Path) -> None:
    rates = ["0 %", *(f"{100 * float(rate):g} %" for rate in found["rates"])]
    lines = {name: [found["clean"], *(each[name] for each in found["rates"].values())] for name in _COLUMNS}
    lines["raw features"] = [found["raw"]] * len(rates)
    with atomic_write(path) as handle:
        sweep(rates, lines, "edges flipped").savefig(handle, format="png", dpi=130)
