"""``fdmvgcl attack``: a graph in, the attacked graph's edges out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from fdmvgcl.attacks.budget import edge_budget
from fdmvgcl.attacks.dice import check_labels
from fdmvgcl.attacks.pairs import are_edges, edge_pairs
from fdmvgcl.attacks.random_edges import random_edges
from fdmvgcl.attacks.scene import READING_FEATURES, Scene, check_kind
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.sources import ReadOptions, open_source
from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation import Labelled
from fdmvgcl.files import refuse_overwrite
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.settings import check_number
from fdmvgcl.results.export import table_kind, write_table


def attack(
    source: str,
    kind: str,
    rate: float,
    labels: Path | None,
    output: Path,
    reading: ReadOptions,
    seed: int,
    reporter: Reporter,
    *,
    force: bool = False,
    data_root: Path | None = None,
) -> None:
    """Write the edges of the attacked graph: source, target, weight."""
    inputs = [path for path in (Path(source), labels, reading.features) if path is not None]
    check_kind(kind)
    check_number("rate", rate, 0, 1)
    table_kind(output)
    refuse_overwrite(output, force, inputs)
    opened = open_source(source, reading, data_root)
    graph = opened.graph
    describe(graph, reporter)
    if kind in READING_FEATURES and graph.features is None:
        raise ArgumentError("features", f"must be given for {kind}: the attacker's own model reads them")
    own = None if opened.dataset is None else Labelled.of_data_set(opened.dataset)
    labelled = own if labels is None else Labelled.read(graph, labels, kind="classes", encoding=reading.encoding)
    if kind != "random":
        _check_labels(labelled, graph, kind)
    budget = edge_budget(graph, rate)
    with reporter.busy(f"{kind}: {budget} flips"), reporter.warnings(), _of_rate(rate, budget):
        made = (
            random_edges(graph, budget, seed=seed)
            if labelled is None
            else Scene(graph, labelled.labels, labelled.splits[0], seed).flipped(kind, budget)
        )
    removed = int(are_edges(graph, made.flips).sum())
    write_edges(output, made.apply(graph))
    reporter.say(f"{len(made.flips) - removed} edges added, {removed} removed: {output}")
    if len(made.flips) < budget:
        reporter.say(f"  of {budget} flips the attack found only so many that it may make")


@contextmanager
def _of_rate(rate: float, budget: int) -> Iterator[None]:
    """A budget that is too large is told of the rate that was asked for."""
    try:
        yield
    except ArgumentError as error:
        if error.argument != "budget":
            raise
        raise ArgumentError("rate", f"of {rate:g} makes a budget of {budget} flips, which {error.rule}") from None


def write_edges(path: Path, graph: Graph) -> None:
    """A table, by the ending, that every command reads again; nodes without edges are not in it."""
    pairs = edge_pairs(graph)
    weight = graph.adjacency[pairs[:, 0], pairs[:, 1]]
    ids = pa.array(graph.ids, pa.string())
    ends = {"source": ids.take(pa.array(pairs[:, 0])), "target": ids.take(pa.array(pairs[:, 1]))}
    write_table(path, ends | ({"weight": weight} if graph.weighted else {}))


def _check_labels(labelled: Labelled | None, graph: Graph, kind: str) -> None:
    if labelled is None:
        raise ArgumentError("labels", f"must be given for {kind}: it needs to know what nodes should not be")
    check_labels(labelled.labels, graph)
