"""``fdmvgcl transform``: new nodes and other graphs through a model that was trained before."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.sources import ReadOptions, open_source
from fdmvgcl.errors import InputError, UserError, shown
from fdmvgcl.graphs.arrays import Features
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers import FeatureTable, read_features
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import write_vectors


def transform(
    folder: ResultFolder,
    source: str,
    reading: ReadOptions,
    output: Path,
    reporter: Reporter,
    *,
    extend: bool = False,
    data_root: Path | None = None,
    device: str = "cpu",
) -> None:
    """Write ``id`` and ``z`` of a graph's nodes; with ``extend``, of those that the training graph did not have."""
    check_target(output)
    FDMVGCL(device=device).check_parameters()
    model = FDMVGCL.load(folder.require().model, device)
    trained = Graph.load(folder.graph)
    if trained.directed and not reading.directed:
        reading = replace(reading, directed=True)
        reporter.say("the model was trained on a directed graph, so directions are kept")
    if extend:
        graph, new = extended(trained, source, reading, reporter)
    else:
        graph = open_source(source, reading, data_root).graph
        new = np.arange(graph.num_nodes)
        describe(graph, reporter)
    z = model.transform(graph)[new]
    write_vectors(output, [graph.ids[i] for i in new], {"z": z})
    reporter.say(f"embeddings of {counted(len(new), 'node', 'nodes')} in {z.shape[1]} dimensions: {output}")


def check_target(path: Path) -> None:
    """Refuse a file that cannot be written, before any work."""
    if path.is_dir():
        raise InputError(path, "is a folder; -o must name a file")
    if not path.parent.is_dir():
        raise InputError(path, "cannot be written: its folder does not exist")


def extended(trained: Graph, source: str, reading: ReadOptions, reporter: Reporter) -> tuple[Graph, NDArray[np.int64]]:
    """The training graph with the edges of SOURCE added, and the numbers of the nodes that it did not have.

    An edge in both counts once, with its larger weight. A node of the training graph keeps its features from there.
    """
    table = None if reading.features is None else read_features(reading.features)
    addition = open_source(source, replace(reading, features=None)).graph
    describe(addition, reporter)
    old = set(trained.ids)
    nodes = [*addition.ids, *(table.ids if table is not None else ())]
    new = sorted({node for node in nodes if node not in old})
    if not new:
        raise InputError(
            source, "must name nodes that the training graph does not have, got none (leave out --extend?)"
        )
    graph = _union(trained, addition, new)
    if trained.features is not None:
        graph = _with_features(graph, trained, table, reading, reporter)
    elif table is not None:
        raise InputError(str(reading.features), "cannot be used: the model was trained without features")
    number = {node: i for i, node in enumerate(graph.ids)}
    return graph, np.sort(np.array([number[node] for node in new]))


def _union(first: Graph, second: Graph, nodes: list[str]) -> Graph:
    entries = [graph.adjacency.tocoo() for graph in (first, second)]
    names = [pa.array(graph.ids, pa.large_string()) for graph in (first, second)]
    ends = [
        pa.concat_arrays([ids.take(pa.array(getattr(e, end))) for ids, e in zip(names, entries, strict=True)])
        for end in ("row", "col")
    ]
    weight = np.concatenate([e.data for e in entries])
    return Graph.from_edges(*ends, weight=weight, nodes=[*first.ids, *nodes], directed=first.directed)


def _with_features(
    graph: Graph, trained: Graph, table: FeatureTable | None, reading: ReadOptions, reporter: Reporter
) -> Graph:
    if table is None:
        raise UserError(f"the model needs {trained.num_features} feature columns for new nodes; give --features FILE")
    old = set(trained.ids)
    fresh = np.array([i for i, node in enumerate(table.ids) if node not in old], dtype=np.int64)
    if len(fresh) < len(table.ids):
        known = counted(len(table.ids) - len(fresh), "row of features is", "rows of features are")
        reporter.say(f"  {known} of nodes known from training, whose features from there are used")
    try:
        rows = _aligned(table, trained)[fresh]
        stacked = _stack(trained.features, rows)
        ids = [*trained.ids, *(table.ids[i] for i in fresh)]
        names = trained.feature_names
        return graph.with_features(stacked, ids=ids, names=names, fill_missing=reading.fill_missing)
    except ValueError as error:
        raise InputError(str(reading.features), str(error)) from None


def _aligned(table: FeatureTable, trained: Graph) -> Features:
    """The table's columns in the order of the training graph's."""
    if table.values.shape[1] != trained.num_features:
        raise UserError(f"must have {trained.num_features} feature columns, got {table.values.shape[1]}")
    if table.names is None or trained.feature_names is None or table.names == trained.feature_names:
        return table.values
    position = {name: i for i, name in enumerate(table.names)}
    missing = next((name for name in trained.feature_names if name not in position), None)
    if missing is not None:
        raise UserError(f"must have a feature column {shown(missing)}, as the training graph has")
    return table.values[:, [position[name] for name in trained.feature_names]]


def _stack(above: Features | None, below: Features) -> Features:
    if isinstance(above, np.ndarray) and isinstance(below, np.ndarray):
        return np.concatenate([above, below])
    return sparse.csr_array(sparse.vstack([sparse.csr_array(above), sparse.csr_array(below)]))
