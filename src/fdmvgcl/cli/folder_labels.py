"""Labels for the nodes of a result folder: a user's file, a data set's own, or those that the folder knows."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.graphs import graph_labels
from fdmvgcl.cli.sources import names_data_set
from fdmvgcl.datasets import load
from fdmvgcl.errors import InputError, UserError, shown
from fdmvgcl.evaluation.labelled import coded_labels
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.node_ids import suggestion
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers import read_labels
from fdmvgcl.results.outputs import ResultFolder


def labels_of(
    folder: ResultFolder,
    given: str | None,
    graph: Graph | GraphSet,
    reporter: Reporter,
    data_root: Path | None,
    encoding: str | None = None,
) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    """Class of each node or graph (-1 for none) and the classes' names; None where no labels are given or known."""
    if isinstance(graph, GraphSet):
        return _of_graphs(folder, given, graph, data_root, encoding)
    if given is not None and names_data_set(given):
        dataset = load(given, data_root)
        if dataset.num_nodes != graph.num_nodes:
            raise UserError(f"the data set {given!r} has {dataset.num_nodes} nodes and the graph {graph.num_nodes}")
        return dataset.labels, dataset.classes
    path = folder.labels if given is None else Path(given)
    if given is None and not path.exists():
        return None
    ids, names = read_labels(path, None if given is None else encoding)
    labels, classes = coded_labels(graph.ids, ids, names)
    known = set(graph.ids)
    others = [node for node in ids if node not in known]
    meant = f"{shown(others[0])}{suggestion(others[0], graph.ids)}" if others else ""
    if len(classes) < 2:
        rule = "must have labels of at least two classes among the graph's nodes"
        got = f"only {shown(classes[0])}" if classes else f"none: no node is {meant}"
        raise InputError(path, f"{rule}, got {got}")
    if others:
        told = counted(len(others), "label of an id that is no node", "labels of ids that are no nodes")
        reporter.remark(f"{told} left out, first {meant}")
    return labels, classes


def _of_graphs(
    folder: ResultFolder, given: str | None, graphs: GraphSet, data_root: Path | None, encoding: str | None
) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    if given is None and not folder.labels.exists():
        return None
    if given is None:
        encoding = None  # those that the folder knows are ours
    found = graph_labels(given or folder.labels, graphs, data_root, encoding)
    return found.labels, found.classes
