"""What the commands do otherwise where there are many graphs: what is read, and how vectors of graphs are judged."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl import __version__
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.scoring import show
from fdmvgcl.cli.sources import ReadOptions
from fdmvgcl.datasets import datasets, graph_datasets, load_graphs
from fdmvgcl.errors import ArgumentError, InputError, UserError, near_misses, shown
from fdmvgcl.evaluation import paired_difference, summarise
from fdmvgcl.evaluation.graph_controls import graph_controls, size_rows
from fdmvgcl.evaluation.graphs import FoldScores, fold_scores, kernels_of, majority_scores, stratified_folds
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.readers import read_labels
from fdmvgcl.graphs.readers.opening import STDIN
from fdmvgcl.graphs.readers.tu import is_tu_folder, read_tu
from fdmvgcl.learning.graph_level import read_out
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.results.outputs import ResultFolder

# Kernels have a number for each pair of graphs; more are drawn from, which is told.
MOST_EVALUATED = 2000
_OF_TABLES = ("features", "directed", "weight", "fill_missing", "encoding")


@dataclass(frozen=True, eq=False)
class GraphLabels:
    """Classes of graphs, -1 for none, shape (G,), and the classes' names."""

    labels: NDArray[np.int64]
    classes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class OpenedGraphs:
    """Many graphs, and their labels, where the source has some."""

    graphs: GraphSet
    labels: GraphLabels | None = None


@dataclass(frozen=True)
class _Contender:
    """One way to describe the graphs, and its scores, fold by fold."""

    name: str
    scores: FoldScores

    @property
    def tests(self) -> list[float]:
        return list(self.scores.test)


def open_graphs(source: str, options: ReadOptions, data_root: Path | None = None) -> OpenedGraphs:
    """The graphs that SOURCE names: a data set, a folder of the TU collection's files, or a table of edges."""
    if source in graph_datasets():
        _refuse_options(options, f"{source!r} is a data set (write ./{source} for a file)")
        dataset = load_graphs(source, data_root)
        return OpenedGraphs(dataset.graphs, GraphLabels(dataset.labels, dataset.classes))
    if source in datasets():
        raise UserError(f"{source!r} is a data set of one graph; leave out --level graph")
    if Path(source).is_dir():
        if not is_tu_folder(source):
            raise InputError(source, "is a folder without files of the TU collection (NAME_A.txt)")
        _refuse_options(options, f"{source!r} is a folder of the TU collection")
        found = read_tu(source)
        labels = None if found.labels is None else _coded(found.graphs, found.graphs.ids, found.labels)
        return OpenedGraphs(found.graphs, labels)
    if source != STDIN and not Path(source).exists() and os.sep not in source and not os.path.splitext(source)[1]:
        raise InputError(
            source, f"is neither a file nor a data set of many graphs{near_misses(source, graph_datasets())}"
        )
    other = [name for name in options.given if name not in _OF_TABLES]
    if other:
        raise UserError(f"--{other[0].replace('_', '-')} is for one graph; tables of many always have a header")
    return OpenedGraphs(
        GraphSet.read(
            source,
            options.features,
            directed=options.directed,
            weight=options.weight,
            fill_missing=options.fill_missing,
            encoding=options.encoding,
        )
    )


def graph_labels(
    labels: str | Path, graphs: GraphSet, data_root: Path | None = None, encoding: str | None = None
) -> GraphLabels:
    """Labels of a folder's graphs, from a file or by the name of the data set that was embedded."""
    if labels not in graph_datasets():
        return read_graph_labels(Path(labels), graphs, encoding)
    dataset = load_graphs(str(labels), data_root)
    if dataset.graphs.ids != graphs.ids:
        told = f"{dataset.graphs.num_graphs} graphs and the folder {graphs.num_graphs}"
        raise UserError(f"the data set {labels!r} has {told}; it must be the one that was embedded")
    return GraphLabels(dataset.labels, dataset.classes)


def plain_rows(graphs: GraphSet) -> dict[str, NDArray[np.floating]]:
    """What describes a graph without learning, as controls of a probe: its size, and the sums of its features."""
    table = graphs.block.features
    sizes: dict[str, NDArray[np.floating]] = {"graph size": size_rows(graphs)}
    if table is None:
        return sizes
    dense = table if isinstance(table, np.ndarray) else table.toarray()
    return sizes | {"sums of features": read_out(dense, graphs.owner, graphs.num_graphs, "sum")}


def read_graph_labels(path: Path, graphs: GraphSet, encoding: str | None = None) -> GraphLabels:
    """Labels ``graph,label`` of a file; each must be of a graph that is there."""
    ids, names = read_labels(path, encoding)
    known = set(graphs.ids)
    stranger = next((each for each in ids if each not in known), None)
    if stranger is not None:
        near = near_misses(stranger, graphs.ids[:1000]) if len(known) <= 20 else ""
        raise InputError(path, f"must label graphs of the input, but no graph has the id {shown(stranger)}{near}")
    found = _coded(graphs, ids, names)
    check_folds(path, found)
    return found


def check_folds(source: str | Path, known: GraphLabels) -> None:
    """Refuse labels that cannot be cut into folds, in the name of the file or folder that they are from."""
    try:
        stratified_folds(known.labels[known.labels >= 0], 0, classes=known.classes)
    except ArgumentError as error:
        raise InputError(source, str(error)) from None


def assess_graphs(
    graphs: GraphSet,
    z: NDArray[np.float32],
    known: GraphLabels,
    model: FDMVGCL,
    folder: ResultFolder,
    reporter: Reporter,
) -> None:
    """Compare with the controls, keep the record in the folder and show the table."""
    labelled = np.flatnonzero(known.labels >= 0)
    places = labelled
    if len(labelled) > MOST_EVALUATED:
        places = np.sort(np.random.default_rng(0).permutation(labelled)[:MOST_EVALUATED])
        reporter.say(f"evaluating on {MOST_EVALUATED} of {len(labelled)} labelled graphs, drawn once")
    labels, part = known.labels[places], graphs.take(places)
    folds = len(stratified_folds(labels, 0, classes=known.classes))
    told = f"{folds} stratified folds of {len(places)} graphs"
    ours = _Contender("embedding", fold_scores(kernels_of(z[places]), labels, 0))
    contenders = [ours]
    for name, kernels in graph_controls(part, model).items():
        with reporter.busy(f"evaluating on {told}: {name}"):
            contenders.append(_Contender(name, fold_scores(kernels(), labels, 0)))
    contenders.append(_Contender("majority class", majority_scores(labels, 0)))
    folder.write_evaluation(_record(contenders, told, known, model))
    show(contenders, f"support vector machine, its settings chosen inside {told}: accuracy in %", "accuracy", reporter)


def _refuse_options(options: ReadOptions, told: str) -> None:
    given = list(options.given)
    if given:
        raise UserError(f"--{given[0].replace('_', '-')} is for tables; {told}")


def _coded(graphs: GraphSet, ids: tuple[str, ...], names: tuple[str, ...]) -> GraphLabels:
    classes = tuple(sorted(set(names)))
    code = {name: i for i, name in enumerate(classes)}
    by_id = dict(zip(ids, names, strict=True))
    return GraphLabels(np.array([code[by_id[g]] if g in by_id else -1 for g in graphs.ids], dtype=np.int64), classes)


def _record(contenders: list[_Contender], told: str, known: GraphLabels, model: FDMVGCL) -> dict[str, Any]:
    return {
        "version": __version__,
        "settings": model.settings,
        "splits": told,
        "metric": "accuracy",
        "classes": list(known.classes),
        "weights": "uniform",
        "scores": [_scored(each, contenders[0]) for each in contenders],
    }


def _scored(contender: _Contender, ours: _Contender) -> dict[str, Any]:
    apart = None if contender is ours else paired_difference(ours.tests, contender.tests)
    return {
        "name": contender.name,
        **vars(summarise([contender.tests])),
        "difference": None if apart is None else vars(apart) | {"verdict": apart.verdict},
        "by_fold": contender.scores.record(),
    }
