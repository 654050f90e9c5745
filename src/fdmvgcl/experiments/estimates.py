"""Before runs begin: how long they will take, from records of runs like them, and which are too large to begin."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.entrants import refusal
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Key, Run

Size = Callable[[str], float]

# What tells kinds of runs apart; the others of a key number them.
_KIND = ("method", "row")


def size_of(dataset: str) -> float:
    """Nodes and edges: what most methods' seconds go with."""
    graph = benchmark(dataset).graph
    return graph.num_nodes + graph.num_edges


def begun(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """The runs whose methods can be begun on their data sets, and why the others cannot, a sentence each."""
    refused: dict[tuple[str, str], str | None] = {}
    kept = []
    for run in runs:
        dataset, method = run.key["dataset"], run.key.get("method")
        if method is not None and (dataset, method) not in refused:
            refused[dataset, method] = refusal(method, benchmark(dataset).graph)
        if method is None or refused[dataset, method] is None:
            kept.append(run)
    return kept, [f"{dataset}: {told}" for (dataset, _), told in refused.items() if told is not None]


def expected_seconds(runs: Sequence[Run], records: RecordFile, size: Size = size_of) -> tuple[float, Counter[str]]:
    """Seconds in all, and how many runs of each kind have no like on record.

    A run takes what its kind took on its data set, in the median; where there is no such record, what its kind took
    elsewhere, in proportion to size. A tuned run is like a default one, and so is a trial.

    Args:
        runs: those that are to be made.
        records: those that have been made.
        size: of a data set, by its name.
    """
    total, unknown = 0.0, Counter[str]()
    for run in runs:
        found = _like(run.key, records)
        if found is None:
            unknown[" ".join(str(run.key[name]) for name in _KIND if name in run.key)] += 1
        else:
            here = [record for record in found if record["key"]["dataset"] == run.key["dataset"]]
            total += median(_scaled(record, run.key, size) for record in here or found)
    return total, unknown


def _like(key: Key, records: RecordFile) -> list[Record] | None:
    for row in (key.get("row"), "trial", "default"):
        found = records.matching(method=key.get("method"), row=row)
        if found:
            return found
    return None


def _scaled(record: Record, key: Key, size: Size) -> float:
    seconds: float = record["seconds"]
    there, here = record["key"]["dataset"], key["dataset"]
    return seconds if there == here else seconds * size(here) / size(there)
