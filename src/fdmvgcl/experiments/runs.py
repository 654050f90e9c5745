"""Experiments as declared runs: what is to be run, what has been, and what is made of the records."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from joblib import Parallel, delayed, parallel_config

from fdmvgcl.errors import UserError
from fdmvgcl.experiments.records import Record, RecordFile, environment
from fdmvgcl.machine import freed_blocks_kept

Key = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Run:
    """One record to be made.

    Args:
        key: what tells this run from the others, as JSON can hold it.
        work: makes the record's contents, from the records that it needs.
        needs: keys of runs whose records must be there first.
    """

    key: Key
    work: Callable[..., Record]
    needs: tuple[Key, ...] = ()


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


@runtime_checkable
class OfMethods(Experiment, Protocol):
    """An experiment that compares methods."""

    @property
    def methods(self) -> tuple[str, ...]: ...

    def of(self, methods: tuple[str, ...]) -> "OfMethods":
        """The same with these methods alone."""


@runtime_checkable
class Foreseen(Experiment, Protocol):
    """An experiment of long runs: of few seeds, and it can say how long they take before there is any record."""

    @property
    def usual_seeds(self) -> int: ...

    def seconds(self, runs: Sequence[Run], records: RecordFile) -> float:
        """About how long these take in all."""


def pending(runs: Sequence[Run], records: RecordFile) -> list[Run]:
    """Runs that have no record yet."""
    return [run for run in runs if records.find(run.key) is None]


def carry_out(runs: Sequence[Run], records: RecordFile, jobs: int = 1) -> Iterator[tuple[Run, Record]]:
    """Make the records that are missing, each on disk when it is yielded.

    Args:
        runs: in the order in which they are begun, each after those that it needs.
        records: where records are looked for and put.
        jobs: runs at a time. More than one get a process each, with one thread.
    """
    for stage in _stages(pending(runs, records)):
        given = [(run, _needed(run, records)) for run in stage]
        for run, record in starmap(_make, given) if jobs == 1 else _side_by_side(given, jobs):
            records.append(record)
            yield run, record


def _stages(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Groups of runs of which none needs another of its group."""
    stage: list[Run] = []
    for run in runs:
        if any(run_before.key in run.needs for run_before in stage):
            yield stage
            stage = []
        stage.append(run)
    yield stage


def _needed(run: Run, records: RecordFile) -> list[Record]:
    found = [records.find(key) for key in run.needs]
    there = [record for record in found if record is not None]
    if len(there) < len(found):
        raise UserError(f"{records.path} lacks {len(found) - len(there)} records that the run {run.key} needs")
    return there


def _make(run: Run, needed: Sequence[Record]) -> tuple[Run, Record]:
    started, worked = time.perf_counter(), time.process_time()
    with freed_blocks_kept():
        contents = run.work(*needed)
    taken = {"seconds": time.perf_counter() - started, "processor_seconds": time.process_time() - worked}
    return run, {"key": run.key, **contents, **taken, "environment": environment()}


def _side_by_side(given: Sequence[tuple[Run, Sequence[Record]]], jobs: int) -> Iterator[tuple[Run, Record]]:
    """As they end, in whatever order that is."""
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        yield from Parallel(return_as="generator_unordered")(delayed(_make)(*each) for each in given)
