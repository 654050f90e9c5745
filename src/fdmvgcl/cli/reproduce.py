"""``reproduce`` and ``tune``: carry out runs record by record, and tell how far they are."""

import os
from collections.abc import Sequence
from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.datasets import datasets as known_datasets
from fdmvgcl.datasets import graph_datasets
from fdmvgcl.errors import ArgumentError, InputError, UserError, near_misses
from fdmvgcl.experiments import (
    EXPERIMENTS,
    STUDIES,
    Experiment,
    Foreseen,
    OfMethods,
    RecordFile,
    Run,
    carry_out,
    pending,
)
from fdmvgcl.experiments.entrants import entrant
from fdmvgcl.experiments.estimates import begun, expected_seconds, made_elsewhere
from fdmvgcl.experiments.trials import choices, trial_runs
from fdmvgcl.experiments.trials import write as write_trials


def reproduce(
    name: str,
    datasets: Sequence[str] | None,
    seeds: int | None,
    output: Path | None,
    reporter: Reporter,
    *,
    methods: Sequence[str] | None = None,
    jobs: int = 1,
    data_root: Path | None = None,
) -> None:
    """Make the records of an experiment that are missing, and its tables and figures from all there are in the end."""
    _use(data_root)
    known = EXPERIMENTS | STUDIES
    if name not in known:
        raise UserError(f"NAME must be one of {', '.join(known)}, got {name!r}")
    if jobs > 1 and name == "cost":
        raise ArgumentError("jobs", "must be 1 for cost: runs beside each other would be timed with each other")
    experiment = known[name]
    if methods:
        experiment = _of_methods(experiment, _listed(methods))
    chosen = _chosen(datasets, experiment.datasets)
    folder = output or Path("results") / name
    if folder.exists() and not folder.is_dir():
        raise InputError(folder, "is a file; -o must name a folder")
    records = RecordFile(folder / "records.jsonl")
    reporter.say(f"{name}: {experiment.summary}")
    runs = experiment.runs(chosen, seeds or _usual_seeds(experiment))
    if isinstance(experiment, OfMethods):
        runs = _foreseen(runs, records, reporter, jobs)
    if isinstance(experiment, Foreseen) and (left := pending(runs, records)):
        reporter.remark(f"about {_duration(experiment.seconds(left, records) / jobs)} to go, give or take a half")
    try:
        _make(runs, records, reporter, jobs)
    except KeyboardInterrupt:
        if records.records:
            _render(experiment, records, folder, reporter)
        raise
    _render(experiment, records, folder, reporter)


def _render(experiment: Experiment, records: RecordFile, folder: Path, reporter: Reporter) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in experiment.render(records, folder):
        reporter.say(f"wrote {path}")


def tune(
    dataset: str,
    method: str,
    trials: int,
    output: Path | None,
    reporter: Reporter,
    *,
    jobs: int = 1,
    data_root: Path | None = None,
) -> None:
    """Make the trials, choose for each split, write the TOML file."""
    _use(data_root)
    _chosen([dataset], ())
    entrant(method)
    path = output or Path(f"{dataset}.toml")
    if path.is_dir():
        raise InputError(path, "is a folder; -o must name a file")
    records = RecordFile(path.with_suffix(".jsonl"))
    runs = _foreseen(trial_runs(dataset, method, trials), records, reporter, jobs)
    _make(runs, records, reporter, jobs)
    made = [record for run in runs if (record := records.find(run.key)) is not None]
    write_trials(
        made,
        path,
        f"Made by: fdmvgcl tune {dataset} --method {method} --trials {trials}\n"
        "Of each split the trial that its own validation nodes chose.",
    )
    chosen = len(set(choices(made)))
    reporter.say(f"wrote {path}: {chosen} of {len(made)} trials are chosen by some split")


def _usual_seeds(experiment: Experiment) -> int:
    return experiment.usual_seeds if isinstance(experiment, Foreseen) else 10


def _of_methods(experiment: Experiment, names: Sequence[str]) -> Experiment:
    if not isinstance(experiment, OfMethods):
        of_methods = [name for name, each in EXPERIMENTS.items() if isinstance(each, OfMethods)]
        raise ArgumentError("methods", f"goes with {', '.join(of_methods)}, not with {experiment.name}")
    for name in names:
        if name not in experiment.methods:
            raise ArgumentError("methods", f"{name!r} is none{near_misses(name, experiment.methods)}")
    return experiment.of(tuple(names))


def _foreseen(runs: Sequence[Run], records: RecordFile, reporter: Reporter, jobs: int) -> list[Run]:
    """The runs that can be begun; says which cannot, and about how long the others will take."""
    left = pending(runs, records)
    possible, refused = begun(left)
    for told in refused:
        reporter.remark(f"left out: {told}")
    if refused and not possible and len(left) == len(runs):
        raise UserError(refused[0])
    if possible:
        seconds, unknown = expected_seconds(possible, [*records.records, *made_elsewhere()])
        there = f"about {_duration(seconds / jobs)} to go, by records of runs like these" if seconds else ""
        new = f"nothing is on record of {', '.join(unknown)}: {sum(unknown.values())} runs" if unknown else ""
        reporter.remark("; ".join(filter(None, (there, new))))
    keys = [run.key for run in left if run not in possible]
    return [run for run in runs if run.key not in keys]


def _use(data_root: Path | None) -> None:
    """Runs load their data sets by name alone, from the root that the environment names."""
    if data_root is not None:
        os.environ["FDMVGCL_DATA"] = str(data_root)


def _chosen(datasets: Sequence[str] | None, usual: Sequence[str]) -> tuple[str, ...]:
    if not datasets:
        return tuple(usual)
    names = _listed(datasets)
    known = [*known_datasets(), *graph_datasets()]
    for name in names:
        if name not in known:
            raise UserError(f"{name!r} is no data set; known are {', '.join(known)}")
    return names


def _listed(given: Sequence[str]) -> tuple[str, ...]:
    """Of an option that may come more than once, with commas or without."""
    return tuple(dict.fromkeys(name.strip() for each in given for name in each.split(",")))


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
