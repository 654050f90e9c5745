"""The runs of ``reproduce theory``, and its page and pictures."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.theory import figures, other_claims, perturbation, scalars, spectra, spectral_claims, walk
from fdmvgcl.experiments.theory.claims import Claim, page
from fdmvgcl.figures.drawing import save
from fdmvgcl.files import atomic_write

WALK_GRAPH = "karate"
MOST_DRAWS = 3


class Theory:
    """``reproduce theory``."""

    name = "theory"
    summary = "claims about fractional diffusion, measured: frequencies, limits, waiting times, stability"
    datasets: tuple[str, ...] = ("cora", "cornell")

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Scalars first, then graphs; ``seeds`` draws of each noise, three at most."""
        made = [Run({"part": "limits"}, scalars.limits), Run({"part": "asymptotics"}, scalars.asymptotics)]
        for alpha in walk.WALK_ALPHAS:
            made.append(Run({"part": "waits", "alpha": alpha}, partial(walk.survival, alpha)))
            made.append(Run({"part": "walk", "dataset": WALK_GRAPH, "alpha": alpha}, partial(_walk, alpha)))
        made += [Run({"part": "energy", "dataset": name}, partial(_energy, name)) for name in datasets]
        made += [
            Run({"part": "noise", "dataset": name, "noise": noise, "seed": seed}, partial(_noise, name, noise, seed))
            for seed in range(min(seeds, MOST_DRAWS))
            for name in datasets
            for noise in perturbation.NOISES
        ]
        return made

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        parts = _Parts(records)
        written = [save(draw(), folder / name) for name, draw in _pictures(parts).items()]
        path = folder / "theory.md"
        with atomic_write(path) as handle:
            handle.write(page(claims(records), _introduction(parts)).encode())
        return [*written, path]


class _Parts:
    """Records by what they are about."""

    def __init__(self, records: RecordFile) -> None:
        self.energy = records.matching(part="energy")
        self.limits = records.matching(part="limits")
        self.asymptotics = records.matching(part="asymptotics")
        self.waits = _by_order(records.matching(part="waits"))
        self.walks = _by_order(records.matching(part="walk"))
        self.noise = records.matching(part="noise")


def claims(records: RecordFile) -> list[Claim]:
    """Every claim that there are records for."""
    parts = _Parts(records)
    made: list[Claim] = []
    if parts.energy:
        made += [spectral_claims.smooth(parts.energy, skip) for skip in ("0", "1")]
        made += [spectral_claims.concentration(parts.energy), spectral_claims.gap(parts.energy)]
    if parts.limits:
        made += [other_claims.limit_one(parts.limits[0]), other_claims.limit_zero(parts.limits[0])]
    if parts.asymptotics:
        made.append(other_claims.positive_series(parts.asymptotics[0]))
    if parts.waits and parts.walks:
        made += [other_claims.walk_solves(parts.waits, parts.walks), other_claims.longer_waits(parts.waits)]
    if parts.noise:
        made += [other_claims.bound(parts.noise), other_claims.smaller_is_stabler(parts.noise)]
    return made


def _pictures(parts: _Parts) -> dict[str, Callable[[], Figure]]:
    made: dict[str, Callable[[], Figure]] = {}
    if parts.energy:
        made["energy.png"] = partial(figures.energy, parts.energy)
        made["energy_over_time.png"] = partial(figures.energy_over_time, parts.energy)
        made["contrast.png"] = partial(figures.contrast, parts.energy)
    if parts.limits:
        made["limits.png"] = partial(figures.limits, parts.limits[0])
    if parts.asymptotics:
        made["asymptotics.png"] = partial(figures.asymptotics, parts.asymptotics[0])
    if parts.waits and parts.walks:
        made["waiting.png"] = partial(figures.waiting, parts.waits, parts.walks)
    if parts.noise:
        made["perturbation.png"] = partial(figures.perturbation, parts.noise)
    return made


def _introduction(parts: _Parts) -> str:
    graphs = ", ".join(f"{r['key']['dataset']} ({r['nodes']} nodes of its largest component)" for r in parts.energy)
    return (
        "Made by `fdmvgcl reproduce theory` from the records beside this file: every number and every verdict is "
        f"computed from them. Graphs: {graphs or 'none yet'}. Frequencies come from exact eigendecompositions of "
        "I - Ā, features are scaled as the model scales them by default, and nothing is trained. A claim about all "
        "orders or graphs does not hold where one of those measured is against it; one with several parts may "
        "hold in part.\n"
    )


def _by_order(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record["key"]["alpha"])


def _walk(alpha: float) -> Record:
    return walk.on_graph(benchmark(WALK_GRAPH).graph, alpha)


def _energy(name: str) -> Record:
    return spectra.measure(benchmark(name).graph)


def _noise(name: str, noise: Any, seed: int) -> Record:
    return perturbation.measure(benchmark(name).graph, noise, seed)
