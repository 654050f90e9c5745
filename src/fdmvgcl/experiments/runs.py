"""Experiments as declared runs: what is to be run, what has been, and what is made of the records."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed, parallel_config

from fdmvgcl.experiments.records import Record, RecordFile, environment
from fdmvgcl.machine import freed_blocks_kept

Key = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Run:
    """One record to be made.

    Args:
        key: what tells this run from the others, as JSON can hold it.
        work: makes the record's contents.
    """

    key: Key
    work: Callable[[], Record]


class Experiment(Protocol):
    """A table or a figure of the paper.

    ``datasets`` are those that it uses when none are named; empty if it needs none.
    """

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def datasets(self) -> tuple[str, ...]: ...

    def runs(self, datasets: Sequence[str], seeds: int) -> list[Run]:
        """All runs, in the order in which they are best made."""

    def render(self, records: RecordFile, folder: Path) -> list[Path]:
        """Tables and pictures from whatever records there are; the files written."""


def pending(runs: Sequence[Run], records: RecordFile) -> list[Run]:
    """Runs that have no record yet."""
    return [run for run in runs if records.find(run.key) is None]


def carry_out(runs: Sequence[Run], records: RecordFile, jobs: int = 1) -> Iterator[tuple[Run, Record]]:
    """Make the records that are missing, each on disk when it is yielded.

    Args:
        runs: in the order in which they are begun.
        records: where records are looked for and put.
        jobs: runs at a time. More than one get a process each, with one thread.
    """
    made = map(_make, pending(runs, records)) if jobs == 1 else _side_by_side(pending(runs, records), jobs)
    for run, record in made:
        records.append(record)
        yield run, record


def _make(run: Run) -> tuple[Run, Record]:
    started = time.perf_counter()
    with freed_blocks_kept():
        contents = run.work()
    return run, {"key": run.key, **contents, "seconds": time.perf_counter() - started, "environment": environment()}


def _side_by_side(runs: Sequence[Run], jobs: int) -> Iterator[tuple[Run, Record]]:
    """As they end, in whatever order that is."""
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered")(delayed(_make)(run) for run in runs)
