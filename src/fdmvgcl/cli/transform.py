"""``fdmvgcl transform``: new nodes and other graphs through a model that was trained before."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.graphs import open_graphs
from fdmvgcl.cli.sources import ReadOptions, open_source
from fdmvgcl.errors import ArgumentError, InputError, UserError
from fdmvgcl.files import refuse_overwrite
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.graphs.growth import grown
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers import FeatureTable, read_features
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import assemble
from fdmvgcl.results.export import save_vectors, written
from fdmvgcl.results.outputs import ResultFolder


def transform(
    folder: ResultFolder,
    source: str,
    reading: ReadOptions,
    output: Path,
    reporter: Reporter,
    *,
    extend: bool = False,
    force: bool = False,
    data_root: Path | None = None,
    device: str = "cpu",
) -> None:
    """Write ids and vectors of a graph's nodes; with ``extend``, of those that the training graph did not have."""
    inputs = [source, *([reading.features] if reading.features is not None else ()), *folder.path.glob("**/*")]
    refuse_overwrite(output, force, inputs)
    for beside in written(output)[1:]:
        refuse_overwrite(beside, force, inputs)
    FDMVGCL(device=device).check_parameters()
    model = FDMVGCL.load(folder.require().model, device)
    trained = load_either(folder.graph)
    if (trained.block if isinstance(trained, GraphSet) else trained).directed and not reading.directed:
        reading = replace(reading, directed=True)
        reporter.say("the model was trained on a directed graph, so directions are kept")
    if isinstance(trained, GraphSet):
        if extend:
            raise ArgumentError("extend", "is for new nodes of one graph; DIR holds vectors of many graphs")
        graphs = open_graphs(source, reading, data_root).graphs
        describe(graphs, reporter)
        with reporter.busy("computing the vectors"):
            z = _fitting(model, graphs, reading, source)
        _write(output, graphs.ids, z, ("graph", "graphs"), reporter)
        return
    if extend:
        graph, new = extended(trained, source, reading, reporter)
    else:
        graph = open_source(source, reading, data_root, encoded_as=model.chosen_.encoding).graph
        new = np.arange(graph.num_nodes)
        describe(graph, reporter)
    with reporter.warnings():
        prepared = assemble(model, graph, model.chosen_)  # refuses what does not fit before work is told of
    with reporter.busy("computing the vectors"):
        z = model.transform(prepared)[new]
    _write(output, [graph.ids[i] for i in new], z, ("node", "nodes"), reporter)


def _fitting(model: FDMVGCL, graphs: GraphSet, reading: ReadOptions, source: str) -> NDArray[np.float32]:
    """Vectors of the graphs; features that do not fit the model name their file."""
    try:
        return model.transform(graphs)
    except UserError as error:
        raise InputError(reading.features or source, str(error)) from None


def _write(
    output: Path, ids: Sequence[str], z: NDArray[np.float32], words: tuple[str, str], reporter: Reporter
) -> None:
    files = " and ".join(map(str, save_vectors(output, ids, z)))
    reporter.say(f"embeddings of {counted(len(z), *words)} in {z.shape[1]} dimensions: {files}")


def extended(trained: Graph, source: str, reading: ReadOptions, reporter: Reporter) -> tuple[Graph, NDArray[np.int64]]:
    """The training graph with the edges of SOURCE added, and the numbers of the nodes that it did not have.

    An edge in both takes its new weight. A node of the training graph keeps its features from there.
    """
    table = None if reading.features is None else read_features(reading.features, reading.encoding)
    addition = open_source(source, replace(reading, features=None)).graph
    describe(addition, reporter)
    old = set(trained.ids)
    tell_unknown(trained, table, reporter)
    known = 0 if table is None else sum(node in old for node in table.ids)
    if known:
        told = counted(known, "row of features is", "rows of features are")
        reporter.say(f"  {told} of nodes known from training, whose features from there are used")
    graph = grown_by_files(trained, addition, table, reading, keep_known=True)
    new = np.array([number for number, node in enumerate(graph.ids) if node not in old], dtype=np.int64)
    if not len(new):
        raise InputError(
            source, "must name nodes that the training graph does not have, got none (leave out --extend?)"
        )
    return graph, new


def tell_unknown(graph: Graph, table: FeatureTable | None, reporter: Reporter) -> None:
    """Say what rows of features have that the graph's had not."""
    if graph.encoding is not None and table is not None and table.columns is not None:
        for sentence in graph.encoding.unknown(table.columns):
            reporter.say(f"  {sentence}")


def grown_by_files(
    graph: Graph, addition: Graph | None, table: FeatureTable | None, reading: ReadOptions, *, keep_known: bool = False
) -> Graph:
    """:func:`~fdmvgcl.graphs.growth.grown`; what is wrong with features names their file."""
    try:
        return grown(graph, addition, table, fill_missing=reading.fill_missing, keep_known=keep_known)
    except InputError:
        raise
    except UserError as error:
        if reading.features is None:
            raise
        raise InputError(reading.features, str(error)) from None
