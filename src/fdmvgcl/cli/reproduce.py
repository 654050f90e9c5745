"""``reproduce`` and ``tune``: carry out runs record by record, and tell how far they are."""

import os
from collections.abc import Sequence
from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.datasets import datasets as known_datasets
from fdmvgcl.datasets import graph_datasets
from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.experiments import EXPERIMENTS, STUDIES, RecordFile, Run, carry_out, pending, tuning
from fdmvgcl.experiments import pool as pools


def reproduce(
    name: str,
    datasets: Sequence[str] | None,
    seeds: int,
    output: Path | None,
    reporter: Reporter,
    *,
    jobs: int = 1,
    data_root: Path | None = None,
) -> None:
    """Make the records of an experiment that are missing, and its tables and figures from all of them."""
    _use(data_root)
    known = EXPERIMENTS | STUDIES
    if name not in known:
        raise UserError(f"NAME must be one of {', '.join(known)}, got {name!r}")
    if jobs > 1 and name == "cost":
        raise ArgumentError("jobs", "must be 1 for cost: runs beside each other would be timed with each other")
    experiment = known[name]
    chosen = _chosen(datasets, experiment.datasets)
    folder = output or Path("results") / name
    if folder.exists() and not folder.is_dir():
        raise InputError(folder, "is a file; -o must name a folder")
    records = RecordFile(folder / "records.jsonl")
    reporter.say(f"{name}: {experiment.summary}")
    _make(experiment.runs(chosen, seeds), records, reporter, jobs)
    folder.mkdir(parents=True, exist_ok=True)
    for path in experiment.render(records, folder):
        reporter.say(f"wrote {path}")


def tune(
    dataset: str,
    trials: int,
    dim: int,
    seeds: int,
    output: Path | None,
    reporter: Reporter,
    *,
    jobs: int = 1,
    data_root: Path | None = None,
) -> None:
    """Train the pool, choose for each split, write the TOML file."""
    _use(data_root)
    _chosen([dataset], ())
    path = output or Path(f"{dataset}.toml")
    if path.is_dir():
        raise InputError(path, "is a folder; -o must name a file")
    records = RecordFile(path.with_suffix(".jsonl"))
    runs = tuning.runs(dataset, trials, dim, seeds)
    _make(runs, records, reporter, jobs)
    pool = tuning.conclude(runs, records)
    pools.write(
        pool,
        path,
        f"Made by: fdmvgcl tune {dataset} --trials {trials} --dim {dim} --seeds {seeds}\n"
        "Of each split the trial that its own validation nodes chose.",
    )
    reporter.say(f"wrote {path}: {len(set(pool.choices))} of {len(pool.trials)} trials are chosen by some split")


def _use(data_root: Path | None) -> None:
    """Runs load their data sets by name alone, from the root that the environment names."""
    if data_root is not None:
        os.environ["FDMVGCL_DATA"] = str(data_root)


def _chosen(datasets: Sequence[str] | None, usual: Sequence[str]) -> tuple[str, ...]:
    if not datasets:
        return tuple(usual)
    names = tuple(dict.fromkeys(name.strip() for given in datasets for name in given.split(",")))
    known = [*known_datasets(), *graph_datasets()]
    for name in names:
        if name not in known:
            raise UserError(f"{name!r} is no data set; known are {', '.join(known)}")
    return names


def _make(runs: Sequence[Run], records: RecordFile, reporter: Reporter, jobs: int) -> None:
    left = pending(runs, records)
    done = len(runs) - len(left)
    reporter.say(f"{len(runs)} runs, {done} of them on record in {records.path}")
    with reporter.warnings():
        _follow(left, records, done, reporter, jobs)


def _follow(left: Sequence[Run], records: RecordFile, done: int, reporter: Reporter, jobs: int) -> None:
    rest, taken = list(left), []
    for run, record in carry_out(left, records, jobs):
        rest = [other for other in rest if other.key != run.key]
        taken.append(record["seconds"])
        told = " ".join(str(value) for value in run.key.values() if not isinstance(value, dict))
        more = f"; about {_duration(len(rest) * sum(taken) / len(taken) / jobs)} to go" if rest else ""
        reporter.remark(f"{done + len(taken)}/{done + len(left)} {told}: {record['seconds']:.0f} s{more}")


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
