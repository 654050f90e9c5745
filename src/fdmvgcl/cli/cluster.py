"""``fdmvgcl cluster``: groups of nodes."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.analysis.clusters import Clusters, agreement
from fdmvgcl.analysis.clusters import cluster as find
from fdmvgcl.cli.answers import Wanted, deliver, show, tell
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.folder_labels import labels_of
from fdmvgcl.cli.graphs import plain_rows
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.graphs.node_ids import Ids
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile

_NAMED = 3  # nodes that stand for a cluster
_WIDEST = 100_000_000  # entries of features past which they are no control


def cluster(
    folder: ResultFolder,
    k: int | None,
    labels: str | None,
    wanted: Wanted,
    reporter: Reporter,
    *,
    seed: int = 0,
    data_root: Path | None = None,
    encoding: str | None = None,
) -> None:
    """Find them and give ids and numbers; on a terminal what the clusters are."""
    wanted.check([*folder.require().path.iterdir(), *([labels] if labels else [])])
    graph = load_either(folder.graph)
    known = labels_of(folder, labels, graph, reporter, data_root, encoding)
    with VectorFile(folder.embeddings) as file:
        z = file.read("z")
    with reporter.busy("looking for clusters"):
        found = find(z, k, seed=seed)
        compared = None if known is None else agreement(found, known[0], _controls(graph), seed=seed)
    _tell(found, k, reporter)
    if compared is not None:
        tell(compared, reporter)
    facts = {
        "k": len(found.centres),
        "silhouette": found.silhouette,
        "tried": found.tried,
        "labels": None if compared is None else compared.record(),
    }
    if reporter.out.is_terminal and not wanted.as_json and wanted.output is None:
        show(_described(found, graph.ids, known), reporter, text_columns=(3, 4))
        reporter.remark("-o FILE writes the cluster of every node")
        return
    table = {"id": graph.ids, "cluster": found.labels.tolist(), "cosine": found.cosine.astype(float).round(6).tolist()}
    deliver(table, facts, wanted, reporter)


def _controls(graph: Graph | GraphSet) -> dict[str, NDArray[np.floating]]:
    if isinstance(graph, GraphSet):
        return plain_rows(graph)
    features = graph.features
    if features is None or graph.num_nodes * graph.num_features > _WIDEST:
        return {}
    return {"raw features": features if isinstance(features, np.ndarray) else features.toarray()}


def _tell(found: Clusters, k: int | None, reporter: Reporter) -> None:
    apart = "–" if found.silhouette is None else f"{found.silhouette:.3f}"
    count = counted(len(found.centres), "cluster", "clusters")
    reporter.remark(f"{count}, silhouette {apart}")
    if k is not None and len(found.centres) < k:
        reporter.warn(f"there are no {k} clusters: nodes with equal vectors belong together")
    if found.tried:
        best = sorted(found.tried, key=lambda k: -found.tried[k])[:4]
        told = ", ".join(f"{k}: {found.tried[k]:.3f}" for k in best)
        reporter.remark(f"k chosen from {min(found.tried)} to {max(found.tried)} by the silhouette ({told})")


def _described(
    found: Clusters, ids: Ids, known: tuple[NDArray[np.int64], tuple[str, ...]] | None
) -> dict[str, list[Any]]:
    """Each cluster's size, how close it is, the nodes nearest to its centre, and its most frequent label."""
    table: dict[str, list[Any]] = {"cluster": [], "nodes": [], "mean cosine": [], "most like its centre": []}
    if known is not None:
        table["mostly"] = []
    for number, size in enumerate(found.sizes.tolist()):
        members = np.flatnonzero(found.labels == number)
        nearest = members[np.argsort(-found.cosine[members], kind="stable")[:_NAMED]]
        row = [number, size, float(found.cosine[members].mean()), ", ".join(ids[i] for i in nearest)]
        if known is not None:
            labels, classes = known
            counts = np.bincount(labels[members][labels[members] >= 0], minlength=len(classes))
            row.append(f"{classes[counts.argmax()]} ({counts.max() / size:.0%})" if counts.any() else "–")
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    return table
