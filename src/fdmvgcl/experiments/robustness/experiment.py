"""``reproduce robustness``: accuracy under attack, evasion and poisoning apart, each attack and each row a record."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fdmvgcl.experiments.records import RecordFile
from fdmvgcl.experiments.robustness import certified
from fdmvgcl.experiments.robustness.cells import BLACK, WHITE, cells, run
from fdmvgcl.experiments.robustness.estimate import seconds
from fdmvgcl.experiments.robustness.methods import METHODS
from fdmvgcl.experiments.robustness.tables import tables_of
from fdmvgcl.experiments.runs import Run
from fdmvgcl.experiments.tables import write_tables


class Robustness:
    """``reproduce robustness``."""

    name = "robustness"
    summary = "accuracy under random, transfer and adaptive attacks, under poisoning, and what is certified"
    datasets: tuple[str, ...] = BLACK + WHITE

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """Seed by seed; the rows of a cell one after the other, as they share its perturbation."""
        found = []
        for seed in range(seeds):
            for name in datasets:
                found += [
                    Run(cell.key(method, seed), partial(run, cell, method, seed))
                    for cell in cells(name)
                    for method in METHODS
                ]
                found += [Run(each.key(seed), partial(certified.run, each, seed)) for each in certified.wanted(name)]
        return found

    def seconds(self, runs: Sequence[Run], records: RecordFile) -> float:
        """About how long these take."""
        return seconds(runs, records)

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        tables = [table for name in records.datasets(first=self.datasets) for table in tables_of(records, name)]
        return write_tables(tables, folder / self.name)
