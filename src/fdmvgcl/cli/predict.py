"""``fdmvgcl predict``: labels of some nodes in, those of the others out."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.analysis.predictions import Predictions
from fdmvgcl.analysis.predictions import predict as find
from fdmvgcl.cli.answers import Wanted, deliver, tell
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.folder_labels import labels_of
from fdmvgcl.cli.graphs import plain_rows
from fdmvgcl.errors import InputError, UserError
from fdmvgcl.evaluation.targets import numeric_target
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile


def predict(
    folder: ResultFolder,
    labels: str,
    wanted: Wanted,
    reporter: Reporter,
    *,
    seed: int = 0,
    data_root: Path | None = None,
    encoding: str | None = None,
) -> None:
    """Give id, label and probability of the nodes without a label, and the cross-validated score."""
    wanted.check([*folder.require().path.iterdir(), labels])
    graph = load_either(folder.graph)
    known = labels_of(folder, labels, graph, reporter, data_root, encoding)
    assert known is not None
    codes, classes = known
    numbers, _ = numeric_target([classes[code] for code in codes[codes >= 0]])
    if numbers is not None:
        reporter.warn(f"each of {len(classes)} distinct numbers is taken for a class; evaluate foretells numbers")
    with VectorFile(folder.embeddings) as file:
        z = file.read("z")
    controls = _controls(graph)
    with reporter.busy("training the probe, with cross-validation and controls"):
        found = _found(z, codes, controls, labels, seed)
    tell(found.standing, reporter)
    accuracy = found.standing.ours.mean
    reporter.remark(
        f"mean probability of what it says {found.confidence:.3f}, right in {accuracy:.3f}, on held-out nodes"
    )
    rest = np.flatnonzero(codes < 0)
    if not len(rest):
        reporter.remark("every one has a label: there is none to predict")
    facts = found.standing.record() | {
        "confidence": found.confidence,
        "normalise": found.normalise,
        "penalty": found.penalty,
    }
    table = {
        "id": [graph.ids[i] for i in rest],
        "label": [classes[code] for code in found.labels[rest]],
        "probability": found.certainty[rest].tolist(),
    }
    deliver(table, facts, wanted, reporter, text_columns=(0, 1))


def _found(
    z: NDArray[np.float32], codes: NDArray[np.int64], controls: dict[str, Any], labels: str, seed: int
) -> Predictions:
    try:
        return find(z, codes, controls, seed=seed)
    except UserError as error:
        raise InputError(labels, str(error)) from None


def _controls(graph: Graph | GraphSet) -> dict[str, Any]:
    if isinstance(graph, GraphSet):
        return plain_rows(graph)
    return {} if graph.features is None else {"raw features": graph.features}
