"""``reproduce robustness``: accuracy under attack, evasion and poisoning apart, each attack and each row a record."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fdmvgcl.experiments.records import RecordFile
from fdmvgcl.experiments.robustness import certified
from fdmvgcl.experiments.robustness.cells import LARGE, cells, run
from fdmvgcl.experiments.robustness.estimate import seconds
from fdmvgcl.experiments.robustness.methods import METHODS
from fdmvgcl.experiments.robustness.tables import tables_of
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import write_tables


class Robustness:
    """``reproduce robustness``."""

    name = "robustness"
    summary = "accuracy under random, transfer and adaptive attacks, under poisoning, and what is certified"
    datasets: tuple[str, ...] = ("cora", "citeseer", "cornell", "texas", *LARGE)
    usual_seeds = 3

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Quick ones first, seed by seed; the rows of a cell one after the other, as they share its perturbation."""
        return [
            each
            for are_quick in (True, False)
            for seed in range(seeds)
            for name in datasets
            for each in _runs(name, seed, are_quick)
        ]

    def seconds(self, runs: Sequence[Run], records: RecordFile) -> float:
        """About how long these take."""
        return seconds(runs, records)

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        tables = [table for name in records.datasets(first=self.datasets) for table in tables_of(records, name)]
        return write_tables(tables, folder / self.name)


def _runs(name: str, seed: int, are_quick: bool) -> list[Run]:
    chosen = [cell for cell in cells(name) if cell.is_quick == are_quick]
    attacked = [Run(cell.key(method, seed), partial(run, cell, method, seed)) for cell in chosen for method in METHODS]
    proved = certified.wanted(name) if are_quick == (name not in LARGE) else []
    return attacked + [Run(each.key(seed), partial(certified.run, each, seed)) for each in proved]
