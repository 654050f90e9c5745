"""``fdmvgcl evaluate``: the only command that tunes β by labels, split by split."""

from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.scoring import assess
from fdmvgcl.cli.sources import Labelled, data_set_labels, file_labels, names_data_set
from fdmvgcl.datasets import load
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import assemble
from fdmvgcl.results.outputs import ResultFolder


def evaluate(
    folder: ResultFolder, labels: str, splits: Path | None, reporter: Reporter, *, data_root: Path | None = None
) -> None:
    """Probe the views in a result folder beside their controls, and keep the record there."""
    folder.require()
    graph = Graph.load(folder.graph)
    describe(graph, reporter)
    labelled = _labels(labels, splits, graph, data_root)
    for remark in labelled.remarks:
        reporter.say(f"  {remark}")
    model = FDMVGCL.load(folder.model, device="cpu")
    prepared = assemble(model, graph, model.chosen_)
    views = folder.read_views()
    if views is None:
        views = list(model.transform_views(prepared))
    assess(views, labelled, prepared, model, folder, reporter, tune=True)
    folder.write_labels(graph.ids, labelled.labels, labelled.classes)
    reporter.say(f"weights of views tuned on validation, split by split; all choices: {folder.evaluation}")
    reporter.say(f"to see it in the report: fdmvgcl report {folder.path}")


def _labels(labels: str, splits: Path | None, graph: Graph, data_root: Path | None) -> Labelled:
    if not names_data_set(labels):
        return file_labels(Path(labels), graph, splits)
    if splits is not None:
        raise UserError(f"--splits is for files; the data set {labels!r} has its own")
    dataset = load(labels, data_root)
    if dataset.num_nodes != graph.num_nodes:
        raise UserError(
            f"the data set {labels!r} has {dataset.num_nodes} nodes and the graph {graph.num_nodes}; "
            "it must be the one that was embedded"
        )
    return data_set_labels(dataset)
