"""The paper's ablations: one setting varied, the rest as by default, with controls and the paper's figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from fdmvgcl.evaluation import paired_difference, summarise
from fdmvgcl.experiments import published
from fdmvgcl.experiments.benchmark import benchmark, beside_untrained
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import Table, percent, points, write_tables
from fdmvgcl.figures import sweep


@dataclass(frozen=True)
class Ablation:
    """``reproduce views``, ``depth`` and ``dim``: each variant trained and untrained, β tuned split by split.

    Args:
        name, summary, datasets: see :class:`Experiment`.
        claim: what the paper says of it.
        variants: settings over the defaults by the variant's name.
        axis: what the variants are, for the figure.
        reading: a sentence from the mean accuracies of one data set, ``{variant: mean}``.
    """

    name: str
    summary: str
    datasets: tuple[str, ...]
    claim: str
    variants: Mapping[str, Mapping[str, Any]]
    axis: str
    reading: Callable[[Mapping[str, float]], str]

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        return [
            Run({"dataset": name, "variant": variant, "seed": seed}, partial(_run, name, settings, seed))
            for seed in range(seeds)
            for name in datasets
            for variant, settings in self.variants.items()
        ]

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        names = records.datasets(first=self.datasets)
        tables = [self._table(records, name) for name in names]
        written = write_tables(tables, folder / self.name, [f"The paper: {self.claim}"])
        lines: dict[str, Sequence[float | None]] = {}
        for name in names:
            means, printed = self._means(records, name), published.ablation(self.name, name)
            lines[name] = [means.get(variant) for variant in self.variants]
            if printed:
                lines[f"{name}, paper"] = [
                    printed[variant][0] / 100 if variant in printed else None for variant in self.variants
                ]
        path = folder / f"{self.name}.png"
        sweep(list(self.variants), lines, self.axis).savefig(path, dpi=130)
        return [*written, path]

    def _means(self, records: RecordFile, dataset: str) -> dict[str, float]:
        found = {variant: records.matching(dataset=dataset, variant=variant) for variant in self.variants}
        return {variant: summarise([r["test"] for r in each]).mean for variant, each in found.items() if each}

    def _table(self, records: RecordFile, dataset: str) -> Table:
        printed, rows = published.ablation(self.name, dataset), []
        for variant in self.variants:
            found = records.matching(dataset=dataset, variant=variant)
            if not found:
                continue
            summary = summarise([record["test"] for record in found])
            untrained = [record["untrained"]["test"] for record in found]
            rows.append(
                [
                    variant,
                    f"{printed[variant][0]:.1f}" if variant in printed else "–",
                    percent(summary.mean),
                    "–" if summary.over_seeds is None else f"{100 * summary.over_seeds:.2f}",
                    percent(summarise(untrained).mean),
                    points(paired_difference([record["test"] for record in found], untrained)),
                    " ".join(f"{alpha:.2f}" for alpha in found[0]["alphas"]),
                ]
            )
        header = (self.axis, "paper", "measured", "± seeds", "untrained", "training adds", "orders learnt, seed 0")
        return Table(dataset, header, rows, [self.reading(self._means(records, dataset))])


def _run(name: str, settings: Mapping[str, Any], seed: int) -> Record:
    return beside_untrained(benchmark(name), settings, seed)


def _best_and_range(means: Mapping[str, float]) -> str:
    best = max(means, key=lambda variant: means[variant])
    spread = 100 * (max(means.values()) - min(means.values()))
    return f"Measured: best is {best} ({percent(means[best])}); from worst to best {spread:.1f} points."


def _views_reading(means: Mapping[str, float]) -> str:
    fixed = {variant: mean for variant, mean in means.items() if variant != "AVLA"}
    if "AVLA" not in means or not fixed:
        return _best_and_range(means)
    best = max(fixed, key=lambda variant: fixed[variant])
    gap = 100 * (means["AVLA"] - fixed[best])
    return f"Measured: AVLA is {gap:+.1f} points from the best fixed choice, {best}."


def _growth_reading(means: Mapping[str, float]) -> str:
    values = list(means.values())
    rises = sum(later > earlier for earlier, later in pairwise(values))
    return f"{_best_and_range(means)} It rises in {rises} of {len(values) - 1} steps."


VIEWS = Ablation(
    name="views",
    summary="two, three and five fixed orders against AVLA",
    datasets=("cora", "cornell"),
    claim="AVLA beats any fixed number of views, on Cornell by 7.6 points.",
    variants={
        "two fixed": {"views": 2, "learn_alpha": False},
        "three fixed": {"views": 3, "learn_alpha": False},
        "five fixed": {"views": 5, "learn_alpha": False},
        "AVLA": {"views": 5},
    },
    axis="views",
    reading=_views_reading,
)

DEPTH = Ablation(
    name="depth",
    summary="diffusion time T",
    datasets=("cora", "cornell", "wisconsin"),
    claim="accuracy grows with T up to about 20, on Wisconsin from 71.6 to 78.0.",
    variants={str(time): {"time": float(time)} for time in (5, 15, 20, 25)},
    axis="T",
    reading=_growth_reading,
)

DIM = Ablation(
    name="dim",
    summary="width of the embedding",
    datasets=("cora", "wisconsin"),
    claim="accuracy grows with the width, most on heterophilic graphs.",
    variants={str(dim): {"dim": dim} for dim in (256, 512, 1024, 2048, 4096, 8192)},
    axis="d",
    reading=_growth_reading,
)
