"""What a result folder holds, read for the report. Files may be missing or edited; what is no JSON is refused."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.errors import InputError
from fdmvgcl.evaluation.labelled import coded_labels
from fdmvgcl.files import read_bytes
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.graphs.node_ids import Ids
from fdmvgcl.graphs.readers import read_labels
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile


@dataclass(frozen=True, eq=False)
class Records:
    """The folder's contents, vectors left where they are.

    Args:
        folder: where.
        graph: as it was understood; of many graphs, the block.
        graphs: the set, where vectors are of graphs; None where they are of nodes.
        model: with orders ``alphas_`` and weights ``betas_``.
        history: what stands in ``history.jsonl``, whatever that is; empty if nothing.
        evaluation: ``evaluation.json``, empty if there is none.
        run: ``run.json``, empty if there is none.
        labels: class of each node, -1 for none, shape (N,); None if no labels are known.
        classes: names of the classes.
        resources: what making views anew may take.
    """

    folder: ResultFolder
    graph: Graph
    graphs: GraphSet | None
    model: FDMVGCL
    history: list[Any]
    evaluation: dict[str, Any]
    run: dict[str, Any]
    labels: NDArray[np.int64] | None
    classes: tuple[str, ...]
    resources: Resources | None = None

    @property
    def ids(self) -> Ids:
        """Of what has vectors: nodes or graphs."""
        return self.graph.ids if self.graphs is None else self.graphs.ids

    @property
    def sizes(self) -> NDArray[np.floating] | NDArray[np.int64]:
        """Degrees of nodes, numbers of nodes of graphs."""
        return self.graph.degrees if self.graphs is None else self.graphs.sizes

    @property
    def measure(self) -> str:
        """What ``sizes`` are."""
        if self.graphs is not None:
            return "nodes"
        return "weighted degree" if self.graph.weighted else "degree"

    @property
    def view_order(self) -> list[int]:
        """Views from local to global."""
        return list(np.argsort(self.model.alphas_, kind="stable").tolist())

    def view_rows(self, views: list[int], numbers: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """The same of these views, computed anew by the model where they were not kept."""
        if self.folder.views.exists():
            return [self.rows(self.folder.views, f"view_{k}", numbers) for k in views]
        given = self.graph if self.graphs is None else self.graphs
        computed = self.model.transform_rows(given, numbers, resources=self.resources)
        return [computed[k] for k in views]

    def rows(self, path: Path, column: str, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some of the vectors, read without holding the others; refused if not finite."""
        with VectorFile(path) as file:
            found = file.rows(column, numbers)
        if not np.isfinite(found).all():
            raise InputError(path, f"must hold finite numbers in {column}")
        return found


def read_records(folder: ResultFolder, resources: Resources | None = None) -> Records:
    """Read all but the vectors, which must be those of the graph's nodes, in its order."""
    found = load_either(folder.graph)
    graphs = found if isinstance(found, GraphSet) else None
    graph = found if isinstance(found, Graph) else found.block
    model = FDMVGCL.load(folder.model, device="cpu")
    with VectorFile(folder.embeddings) as file:
        if "z" not in file.columns or tuple(file.ids().to_pylist()) != found.ids:
            what = f"{len(found.ids)} {'nodes' if graphs is None else 'graphs'}"
            raise InputError(folder.embeddings, f"must hold z of the {what} of graph.npz, in order")
    if folder.views.exists():
        _check_views(folder.views, found.ids, len(model.alphas_))
    labels, classes = _labels(folder.labels, found.ids)
    return Records(
        folder=folder,
        graph=graph,
        graphs=graphs,
        model=model,
        history=_lines(folder.history),
        evaluation=_object(folder.evaluation),
        run=_object(folder.run),
        labels=labels,
        classes=classes,
        resources=resources,
    )


def _check_views(path: Path, ids: Ids, count: int) -> None:
    with VectorFile(path) as file:
        if list(file.columns) != [f"view_{k}" for k in range(count)] or tuple(file.ids().to_pylist()) != ids:
            raise InputError(path, f"must hold view_0 to view_{count - 1} of all of graph.npz, in order")


def _labels(path: Path, ids: Ids) -> tuple[NDArray[np.int64] | None, tuple[str, ...]]:
    if not path.exists():
        return None, ()
    labels, classes = coded_labels(ids, *read_labels(path))
    return (labels, classes) if classes else (None, ())


def _lines(path: Path) -> list[Any]:
    if not path.exists() or not path.stat().st_size:
        return []
    return [
        _parsed(path, line, number)
        for number, line in enumerate(read_bytes(path).splitlines(), start=1)
        if line.strip()
    ]


def _object(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    found = _parsed(path, read_bytes(path))
    if not isinstance(found, dict):
        raise InputError(path, f"must hold a JSON object, got {type(found).__name__}")
    return found


def _parsed(path: Path, text: bytes, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(path, f"is not valid JSON ({str(error)[:80]})", line) from None
