"""Before runs begin: how long they will take, from records of runs like them, and which are too large to begin."""

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.entrants import refusal
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.runs import Key, Run
from fdmvgcl.methods.registry import OURS

Size = Callable[[str], float]

# Where runs of methods are on record in a copy of the repository.
COMMITTED = tuple(Path("results") / each for each in ("nodes", "tasks", "cost", "methods"))


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


def made_elsewhere() -> list[Record]:
    """Records of methods that a copy of the repository brings, looked for from where the command runs."""
    return [record for folder in COMMITTED for path in folder.glob("*.jsonl") for record in RecordFile(path).records]


def expected_seconds(
    runs: Sequence[Run], records: Sequence[Record], size: Size = size_of
) -> tuple[float, dict[str, int]]:
    """Seconds in all, and of each method that has nothing on record how many runs there are.

    A run takes what its kind took on its data set, in the median; where there is no such record, what its kind took
    elsewhere, in proportion to size. A tuned run is like a default one, and so are a trial and another task.

    Args:
        runs: those that are to be made.
        records: those that have been made, here or elsewhere.
        size: of a data set, by its name.
    """
    total, unknown = 0.0, dict[str, int]()
    for run in runs:
        found = _like(run.key, records)
        if not found:
            method = run.key.get("method", OURS)
            unknown[method] = unknown.get(method, 0) + 1
        else:
            here = [record for record in found if record["key"]["dataset"] == run.key["dataset"]]
            total += median(_scaled(record, run.key, size) for record in here or found)
    return total, unknown


def _like(key: Key, records: Sequence[Record]) -> list[Record]:
    """Of the same row; else of trials, of rows by default, or of whatever else the method did."""
    own = [record for record in records if record["key"].get("method", OURS) == key.get("method", OURS)]
    for row in (key.get("row"), "trial", "default"):
        if found := [record for record in own if record["key"].get("row") == row]:
            return found
    return own


def _scaled(record: Record, key: Key, size: Size) -> float:
    seconds: float = min(
        record["seconds"], record.get("processor_seconds", record["seconds"])
    )  # less on a busy machine
    there, here = record["key"]["dataset"], key["dataset"]
    return seconds if there == here else seconds * size(here) / size(there)
