"""``fdmvgcl evaluate``: the only command that tunes β by labels, split by split."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.graphs import assess_graphs, graph_labels
from fdmvgcl.cli.scoring import assess
from fdmvgcl.cli.sources import names_data_set
from fdmvgcl.datasets import load
from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.evaluation import LabelKind, Labelled
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import assemble
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile

# Another machine or thread count rounds in another way.
_SAME = 1e-2


def evaluate(
    folder: ResultFolder,
    labels: str,
    splits: Path | None,
    reporter: Reporter,
    *,
    kind: LabelKind = "auto",
    data_root: Path | None = None,
    encoding: str | None = None,
) -> None:
    """Put the vectors in a result folder to three tasks beside their controls, and keep the record there."""
    folder.require()
    graph = load_either(folder.graph)
    describe(graph, reporter)
    if isinstance(graph, GraphSet):
        if kind == "numbers":
            raise ArgumentError("labels_are", "must be classes for many graphs, got 'numbers'")
        _evaluate_graphs(folder, graph, labels, splits, reporter, data_root, encoding)
        return
    labelled = labels_of(labels, splits, graph, data_root, kind, encoding)
    for remark in labelled.remarks:
        reporter.say(f"  {remark}")
    model = FDMVGCL.load(folder.model, device="cpu")
    prepared = assemble(model, graph, model.chosen_)
    views = folder.read_views()
    if views is None:
        with reporter.busy("computing the views, which were not kept"):
            views = list(model.transform_views(prepared))
    _check_together(folder, graph, model, views)
    assess(views, labelled, prepared, model, folder, reporter, tune=True)
    if labelled.classes:
        folder.write_labels(graph.ids, labelled.labels, labelled.classes)
    reporter.say("")
    reporter.say(f"weights of views tuned on validation, split by split; all choices: {folder.evaluation}")
    reporter.say(f"to see it in the report: fdmvgcl report {folder.path}")


def _evaluate_graphs(
    folder: ResultFolder,
    graphs: GraphSet,
    labels: str,
    splits: Path | None,
    reporter: Reporter,
    data_root: Path | None,
    encoding: str | None,
) -> None:
    if splits is not None:
        raise ArgumentError("splits", "is for nodes; of many graphs the folds are stratified ones")
    known = graph_labels(labels, graphs, data_root, encoding)
    with VectorFile(folder.embeddings) as file:
        z = file.read("z")
    assess_graphs(graphs, z, known, FDMVGCL.load(folder.model, device="cpu"), folder, reporter)
    folder.write_labels(graphs.ids, known.labels, known.classes)
    reporter.say(f"to see it in the report: fdmvgcl report {folder.path}")


def _check_together(folder: ResultFolder, graph: Graph, model: FDMVGCL, views: list[NDArray[np.float32]]) -> None:
    """Refuse a folder whose files are of different runs, whose scores would be nobody's."""
    with VectorFile(folder.embeddings) as file:
        same_nodes = tuple(file.ids().to_pylist()) == graph.ids
        z = file.read("z") if same_nodes and "z" in file.columns else None
    shape = (len(model.betas_), graph.num_nodes, model.dim)
    if z is not None and z.shape == shape[1:] and (len(views), *views[0].shape) == shape:
        made = model.combine(np.stack(views))
        if np.allclose(z, made, rtol=_SAME, atol=_SAME * float(np.abs(made).max(initial=0.0))):
            return
    raise InputError(folder.embeddings, "is not what model/ makes of graph.npz; are the files of different runs?")


def labels_of(
    labels: str,
    splits: Path | None,
    graph: Graph,
    data_root: Path | None,
    kind: LabelKind = "auto",
    encoding: str | None = None,
) -> Labelled:
    """Labels and splits from a file, or those of the data set that was embedded."""
    if not names_data_set(labels):
        return Labelled.read(graph, Path(labels), splits, kind, encoding)
    if kind == "numbers":
        raise ArgumentError("labels_are", f"must be classes for the data set {labels!r}, got 'numbers'")
    if splits is not None:
        raise UserError(f"--splits is for files; the data set {labels!r} has its own")
    dataset = load(labels, data_root)
    if dataset.num_nodes != graph.num_nodes:
        raise UserError(
            f"the data set {labels!r} has {dataset.num_nodes} nodes and the graph {graph.num_nodes}; "
            "it must be the one that was embedded"
        )
    return Labelled.of_data_set(dataset)
