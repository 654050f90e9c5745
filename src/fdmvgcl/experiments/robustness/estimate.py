"""About how long runs take: by records of runs like them, else by a rule of thumb."""

from collections.abc import Sequence
from itertools import groupby
from statistics import median

from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Key, Run

# Seconds of a core on Cora: what a run of its kind takes, what the first run of a black-box attack takes besides, as it
# makes the flips for the others, and what training a row takes, once for all attacks on a seed's graph.
_EACH = {
    "adaptive prbcd": 50.0,
    "adaptive greedy": 30.0,
    "white prbcd": 100.0,
    "white prbcd, few": 100.0,
    "white pgd": 120.0,
    "certificate": 25.0,
}
_FIRST = {"prbcd": 40.0, "prbcd, own labels": 40.0, "prbcd, training nodes": 40.0, "metattack": 110.0}
_USUAL, _TRAINED = 0.3, 4.0

# An edge counts as so much of a node, of which Cora has this many in all.
_AN_EDGE, _CORA = 0.1, 3200


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
    is_trained = keys[0].get("setting") == "poisoning" or attack in ("random", "stored metattack")
    each = _EACH.get(attack, _TRAINED if is_trained else _USUAL)
    return (len(keys) * each + _FIRST.get(attack, 0.0)) * _size(name) / _CORA


def _first_besides(like: Sequence[Record]) -> float:
    """What the longest of these took longer than most: it made the flips."""
    times = sorted(map(_seconds, like))
    return times[-1] - median(times)


def _seconds(record: Record) -> float:
    return float(record["seconds"])


def _size(name: str) -> float:
    graph = benchmark(name).graph
    return graph.num_nodes + _AN_EDGE * graph.num_edges
