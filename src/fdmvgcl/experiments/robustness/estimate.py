"""About how long runs take: by records of runs like them, else by a rule of thumb."""

from collections.abc import Sequence
from itertools import groupby
from statistics import median

from fdmvgcl.experiments.estimates import size_of
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Key, Run

# Seconds on Cora (8000 nodes and edges) with one thread: what a run of its kind takes, and what the first run of a
# black-box attack takes besides, as it makes the flips for the others.
_EACH = {"adaptive prbcd": 90.0, "adaptive greedy": 60.0, "adaptive pgd": 240.0, "certificate": 300.0}
_EACH |= {"white prbcd": 120.0, "white pgd": 300.0}
_FIRST = {"prbcd": 60.0, "prbcd, own labels": 60.0, "prbcd, training nodes": 60.0, "metattack": 900.0}
_FIRST |= {"prbcd on FD-MVGCL": 100.0, "nettack": 10.0, "nettack, targets": 10.0}
_USUAL, _POISONED, _CORA = 1.0, 10.0, 8000


def seconds(runs: Sequence[Run], records: RecordFile) -> float:
    """Of all these runs together."""
    return sum(_of_cell([run.key for run in group], records) for _, group in groupby(runs, key=_cell))


def _cell(run: Run) -> tuple[object, ...]:
    return tuple(value for name, value in run.key.items() if name != "method")


def _of_cell(keys: Sequence[Key], records: RecordFile) -> float:
    name, attack = keys[0]["dataset"], keys[0]["attack"]
    like = records.matching(dataset=name, attack=attack, setting=keys[0].get("setting"))
    if like:
        return len(keys) * median(_seconds(record) for record in like) + _first_besides(like)
    each = _EACH.get(attack, _POISONED if keys[0].get("setting") == "poisoning" else _USUAL)
    return (len(keys) * each + _FIRST.get(attack, 0.0)) * size_of(name) / _CORA


def _first_besides(like: Sequence[Record]) -> float:
    """What the longest of these took longer than most: it made the flips."""
    times = sorted(map(_seconds, like))
    return times[-1] - median(times)


def _seconds(record: Record) -> float:
    return float(record["seconds"])
