"""The tuned row: trials on record, a choice among them for each split, and the chosen settings with several seeds."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fdmvgcl.errors import UserError
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.budget import TRIALS
from fdmvgcl.experiments.entrants import entrant, merged
from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.runs import Key, Run
from fdmvgcl.experiments.spaces import Settings, draw
from fdmvgcl.files import atomic_write
from fdmvgcl.methods.registry import OURS


def key_of(dataset: str, method: str, **rest: Any) -> Key:
    """A key without a method is FD-MVGCL's."""
    return {"dataset": dataset, **({} if method == OURS else {"method": method}), **rest}


def trial_runs(dataset: str, method: str, count: int = TRIALS) -> list[Run]:
    """A run for each settings drawn from the method's space, all with seed 0."""
    return [
        Run(
            key_of(dataset, method, row="trial", trial=number, settings=settings, seed=0),
            partial(_judged, dataset, method, settings),
        )
        for number, settings in enumerate(draw(method, count))
    ]


def tuned_run(dataset: str, method: str, trials: Sequence[Run], seed: int) -> Run:
    """The run that needs the records of the trials, and trains what was chosen."""
    return Run(
        key_of(dataset, method, row="tuned", trials=len(trials), seed=seed),
        partial(_tuned, dataset, method, seed),
        needs=tuple(trial.key for trial in trials),
    )


def _judged(dataset: str, method: str, settings: Settings) -> Record:
    """Validation scores, or why there are none: drawn settings may be such that the loss is no number."""
    try:
        return entrant(method).judged(benchmark(dataset), settings, 0)
    except UserError as error:
        if not settings:
            raise  # the defaults are meant to work
        return {"failed": str(error)}


def choices(trials: Sequence[Record]) -> tuple[int, ...]:
    """For each split the trial whose validation nodes put it first, the first of equals."""
    whole = [number for number, trial in enumerate(trials) if "failed" not in trial]
    if not whole:
        raise UserError(f"all {len(trials)} trials failed: {trials[0]['failed'] if trials else ''}")
    by_split = zip(*([round(score, 9) for score in trials[number]["criterion"]] for number in whole), strict=True)
    return tuple(whole[scores.index(max(scores))] for scores in by_split)


def _tuned(dataset: str, method: str, seed: int, *trials: Record) -> Record:
    """For each split what its own validation nodes chose; β too, where there are views to weigh."""
    chosen, told, parts = choices(trials), {}, {}
    for trial in sorted(set(chosen)):
        splits = [i for i, choice in enumerate(chosen) if choice == trial]
        settings = trials[trial]["key"]["settings"]
        told[str(trial)], scores = entrant(method).tuned(benchmark(dataset), settings, splits, seed)
        parts[trial] = (splits, scores)
    return {"chosen": list(chosen), "embedded": told, **merged(parts)}


def write(trials: Sequence[Record], path: Path, remark: str) -> None:
    """As TOML: the choice of each split, then the trials with their mean validation scores."""
    lines = [f"# {line}" for line in remark.splitlines()]
    lines += ["", f"choices = [{', '.join(map(str, choices(trials)))}]"]
    for number, trial in enumerate(trials):
        lines += ["", f"[[trial]] # {number}"]
        if "failed" in trial:
            lines.append(f"failed = {_toml(trial['failed'])}")
        else:
            lines.append(f"validation = {sum(trial['validation']) / len(trial['validation']):.4f}")
        lines += [f"{name} = {_toml(value)}" for name, value in trial["key"]["settings"].items()]
    with atomic_write(path) as handle:
        handle.write(("\n".join(lines) + "\n").encode())


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)  # numbers, truth values and strings are written alike
