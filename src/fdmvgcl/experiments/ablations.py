"""The paper's ablations: one setting varied, all columns trained, the rest as by default; with the paper's figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.evaluation import paired_difference, summarise
from fdmvgcl.experiments import published
from fdmvgcl.experiments.benchmark import benchmark, beside_untrained
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import BESIDE_PAPER, Table, beside_paper, percent, points, write_tables
from fdmvgcl.figures import sweep

Scores: TypeAlias = NDArray[np.float64]

_VERDICTS = {"helped": "a gain", "no difference": "no difference", "hurt": "a loss"}


@dataclass(frozen=True)
class Ablation:
    """``reproduce views``, ``depth`` and ``dim``: each variant trained and untrained, β tuned split by split.

    Args:
        name, summary, datasets: see :class:`Experiment`.
        claim: what the paper says of it.
        variants: settings over the defaults by the variant's name.
        axis: what the variants are, for the figure.
        reading: a sentence from the test scores of one data set, shape (seeds, splits) for each variant.
    """

    name: str
    summary: str
    datasets: tuple[str, ...]
    claim: str
    variants: Mapping[str, Mapping[str, Any]]
    axis: str
    reading: Callable[[Mapping[str, Scores]], str]

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
            lines[name] = [means.get(each) for each in self.variants]
            if printed:
                lines[f"{name}, paper"] = [
                    printed[each][0] / 100 if each in printed else None for each in self.variants
                ]
        path = folder / f"{self.name}.png"
        sweep(list(self.variants), lines, self.axis).savefig(path, dpi=130)
        return [*written, path]

    def _means(self, records: RecordFile, dataset: str) -> dict[str, float]:
        found = {variant: records.matching(dataset=dataset, variant=variant) for variant in self.variants}
        return {variant: summarise([r["test"] for r in each]).mean for variant, each in found.items() if each}

    def _scores(self, records: RecordFile, dataset: str) -> dict[str, Scores]:
        """Of each variant, by the seeds that all of them have; empty where there is none."""
        found = [
            {record["key"]["seed"]: record["test"] for record in records.matching(dataset=dataset, variant=variant)}
            for variant in self.variants
        ]
        seeds = [seed for seed in found[0] if all(seed in others for others in found)]
        return {
            variant: np.array([by_seed[seed] for seed in seeds])
            for variant, by_seed in zip(self.variants, found, strict=True)
            if seeds
        }

    def _table(self, records: RecordFile, dataset: str) -> Table:
        printed, rows = published.ablation(self.name, dataset), []
        for variant in self.variants:
            found = records.matching(dataset=dataset, variant=variant)
            if not found:
                continue
            orders = " ".join(f"{alpha:.2f}" for alpha in found[0]["alphas"])
            rows.append([variant, *beside_paper(printed.get(variant), found), orders])
        header = (self.axis, *BESIDE_PAPER, "orders learnt, seed 0")
        scores = self._scores(records, dataset)
        return Table(dataset, header, rows, [self.reading(scores)] if scores else [])


def _run(name: str, settings: Mapping[str, Any], seed: int) -> Record:
    return beside_untrained(benchmark(name), {"features.anchor": 0.0, **settings}, seed)


def _best(scores: Mapping[str, Scores]) -> str:
    return max(scores, key=lambda variant: scores[variant].mean())


def _against(scores: Mapping[str, Scores], ours: str, theirs: str) -> str:
    difference = paired_difference(scores[ours], scores[theirs])
    return f"{ours} against {theirs} {points(difference)} points, {_VERDICTS[difference.verdict]}"


def _views_reading(scores: Mapping[str, Scores]) -> str:
    best = _best({variant: each for variant, each in scores.items() if variant != "AVLA"})
    return f"Measured: the best fixed choice is {best}; {_against(scores, 'AVLA', best)}."


def _growth_reading(scores: Mapping[str, Scores]) -> str:
    best, variants = _best(scores), list(scores)
    told = f"Measured: best is {best} ({percent(scores[best].mean())})"
    return f"{told}; {_against(scores, variants[-1], variants[0])}."


VIEWS = Ablation(
    name="views",
    summary="two, three and five fixed orders against AVLA",
    datasets=("cora", "cornell"),
    claim="AVLA beats any fixed number of views, on Cornell by 7.6 points.",
    variants={
        "two fixed": {"views": 2, "diffusion.learn_alpha": False},
        "three fixed": {"views": 3, "diffusion.learn_alpha": False},
        "five fixed": {"views": 5, "diffusion.learn_alpha": False},
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
