"""``fdmvgcl anomalies``: nodes whose neighbourhood does not explain them."""

import numpy as np

from fdmvgcl.analysis.anomalies import anomaly_scores, check_anomalies
from fdmvgcl.cli.answers import Wanted, deliver
from fdmvgcl.cli.checks import checked
from fdmvgcl.cli.console import Reporter
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile


def anomalies(folder: ResultFolder, wanted: Wanted, reporter: Reporter, *, check: bool = True) -> None:
    """Give id, score and number of edges, the oddest first, and how well planted nodes are found."""
    wanted.check(folder.require().path.iterdir())
    graph = Graph.load(folder.graph)
    model = FDMVGCL.load(folder.model, device="cpu")
    with VectorFile(folder.embeddings) as file:
        z = file.read("z")
    standings = checked(
        folder,
        "anomalies",
        "planting odd nodes to see how well they are found",
        lambda: check_anomalies(model, graph),
        reporter,
        only_on_record=not check,
    )
    scores = anomaly_scores(model, graph, z)
    order = np.argsort(-scores, kind="stable")[: np.isfinite(scores).sum()]
    if len(order) < graph.num_nodes:
        left_out = counted(graph.num_nodes - len(order), "node without edges is", "nodes without edges are")
        reporter.remark(f"{left_out} left out: no neighbourhood could explain it")
    degree = np.diff(graph.adjacency.indptr)
    table = {
        "id": [graph.ids[i] for i in order],
        "score": scores[order].tolist(),
        "edges": degree[order].tolist(),
    }
    deliver(table, {"checks": [each.record() for each in standings]}, wanted, reporter)
