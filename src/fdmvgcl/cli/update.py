"""``fdmvgcl update``: a result folder for a graph that has changed, by the same encoder."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.analysis.movement import Movement, movement
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.embed import describe
from fdmvgcl.cli.report import report
from fdmvgcl.cli.sources import ReadOptions, open_source
from fdmvgcl.cli.transform import grown_by_files, tell_unknown
from fdmvgcl.errors import ArgumentError, InputError, UserError, shown
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.edit import at_least, scaled
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.graph_file import load_either
from fdmvgcl.graphs.growth import shrunk
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers import read_features, read_ids
from fdmvgcl.graphs.readers.ids import lists_ids
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.results.outputs import ResultFolder, write_views
from fdmvgcl.results.replacing import replacement
from fdmvgcl.results.vectors import VectorFile, write_vectors

Clock = tuple[float, float]  # a time, and a half-life


@dataclass(frozen=True)
class UpdateOptions:
    """What the command line says besides how to read the files.

    Args:
        removed: files of edges, or of ids below a line ``id``, that go.
        train: train on, from the weights that there are.
        device: where to compute.
        report: write ``report.html``.
        as_json: give the record of the update as JSON, too.
    """

    removed: Sequence[Path] = ()
    train: bool = False
    device: str = "cpu"
    report: bool = True
    as_json: bool = False


def update(
    folder: ResultFolder, edges: str | None, reading: ReadOptions, options: UpdateOptions, reporter: Reporter
) -> None:
    """Read, change the graph, compute or train, and replace the folder's files together."""
    if edges is None and reading.features is None and not options.removed:
        raise UserError("name a file of new edges, --features or --removed")
    folder.refuse_inputs(edges, reading.features, *options.removed)
    FDMVGCL(device=options.device).check_parameters()
    model = FDMVGCL.load(folder.require().model, options.device)
    graph = load_either(folder.graph)
    if isinstance(graph, GraphSet):
        raise InputError(folder.graph, "holds many graphs, and update is for one; embed them anew")
    if options.train and not model.epochs:
        raise ArgumentError("train", f"has nothing to go on with: the model in {folder.path} was not trained")
    clock = _clock(folder.read_run())
    changed, clock = _changed(graph, edges, reading, options, clock, reporter)
    with VectorFile(folder.embeddings) as file:
        before = file.read("z")
    if options.train:
        phase = model.history_[-1]["phase"] if model.history_ else 0
        epochs = model.epochs + sum(record["phase"] == phase for record in model.history_)
        with reporter.warnings(), reporter.progress(epochs) as listener:
            model.partial_fit(changed, on_epoch=lambda trainer, record: listener(record, last=trainer.epoch >= epochs))
    with reporter.busy("computing the vectors"), reporter.warnings():
        views = model.transform_views(changed)
    z = model.combine(views)
    moved = movement(graph.ids, before, changed.ids, z)
    record = _record(edges, reading, options, changed, moved) | {"clock": clock}
    _write(folder, model, changed, views, z, record, trained=options.train)
    _tell(folder, changed, moved, reporter)
    if options.report:
        report(folder, reporter)
    if options.as_json:
        reporter.json(record)


def _changed(
    graph: Graph,
    edges: str | None,
    reading: ReadOptions,
    options: UpdateOptions,
    clock: Clock | None,
    reporter: Reporter,
) -> tuple[Graph, Clock | None]:
    """The graph as the files change it: first what goes, then what comes."""
    reading = replace(reading, directed=graph.directed)
    without_features = replace(reading, features=None)
    any_time = replace(without_features, since=None, until=None, half_life=None)
    changed = graph
    for path in options.removed:
        try:
            nodes = lists_ids(path)
            changed = shrunk(changed, read_ids(path)) if nodes else shrunk(changed, edges=any_time.read(path))
        except InputError:
            raise
        except UserError as error:
            raise InputError(path, str(error)) from None
    addition = None if edges is None else open_source(edges, without_features).graph
    if addition is not None:
        describe(addition, reporter)
        changed, addition = _aged(changed, addition, clock, reporter)
    table = None if reading.features is None else read_features(reading.features, reading.encoding)
    tell_unknown(graph, table, reporter)
    changed = grown_by_files(changed, addition, table, reading)
    known = set(graph.ids)
    if changed.num_nodes > graph.num_nodes and known.isdisjoint(addition.ids if addition is not None else ()):
        reporter.warn("no new edge has an end at a node that was there: is it the same graph?")
    later = None if addition is None or addition.origin is None else addition.origin.clock
    if clock is None or later is None or clock[1] != later[1]:
        return changed, later or clock
    return changed, max(clock, later)


def _aged(graph: Graph, addition: Graph, clock: Clock | None, reporter: Reporter) -> tuple[Graph, Graph]:
    """Both with weights as of the later of their two times: exponential decay goes on from where it was.

    An edge in both has the larger weight, as one that a file lists at several times: what comes late may be older.
    """
    later = None if addition.origin is None else addition.origin.clock
    if later is None:
        if clock is not None:
            reporter.warn("new edges count in full, though those that are there halve with age: --half-life lets them")
        return graph, addition
    if clock is None or clock[1] != later[1]:
        reporter.warn("the weights of old edges stay: they did not halve with the same age so far")
        return graph, addition
    share = 0.5 ** (abs(later[0] - clock[0]) / clock[1])
    if share <= 0:
        reporter.warn("the weights of old edges stay: they are too old to count at all")
        return graph, addition
    if later[0] > clock[0]:
        graph = scaled(graph, share)
    else:
        addition = scaled(addition, share)
    return graph, at_least(addition, graph)


def _clock(run: dict[str, Any]) -> Clock | None:
    """The time as of which a folder's weights are, and their half-life."""
    updates = run.get("updates")
    for record in [*reversed(updates if isinstance(updates, list) else []), run]:
        found = record.get("clock") if isinstance(record, dict) else None
        if isinstance(found, list) and len(found) == 2 and all(isinstance(each, int | float) for each in found):
            return float(found[0]), float(found[1])
    return None


def _record(
    edges: str | None, reading: ReadOptions, options: UpdateOptions, changed: Graph, moved: Movement
) -> dict[str, Any]:
    """What was asked for, in the words of the command, and what came of it."""
    return {
        "edges": edges,
        **reading.words,
        "removed": [str(path) for path in options.removed],
        "train": options.train,
        "graph": changed.describe(),
        "moved": asdict(moved),
    }


def _write(
    folder: ResultFolder,
    model: FDMVGCL,
    graph: Graph,
    views: NDArray[np.float32],
    z: NDArray[np.float32],
    record: dict[str, Any],
    *,
    trained: bool,
) -> None:
    """All files that change, together; what tells of the old vectors goes, the labels stay."""
    run = folder.read_run()
    earlier = run.get("updates")
    stale = [path.name for path in (folder.evaluation, folder.checks, folder.report, folder.checkpoint)]
    with replacement(folder.path, stale) as path:
        new = ResultFolder(path)
        graph.save(new.graph)
        write_vectors(new.embeddings, graph.ids, {"z": z})
        if folder.views.exists():
            write_views(new.views, graph.ids, views, model.alphas_.tolist(), model.betas_.tolist())
        if trained:
            model.save(new.model)
            new.write_history(model.history_)
        new.write_run(run | {"updates": [*(earlier if isinstance(earlier, list) else []), record]})


def _tell(folder: ResultFolder, graph: Graph, moved: Movement, reporter: Reporter) -> None:
    reporter.say(f"now {graph.describe()}", "bold")
    if moved.mean is not None:
        furthest = ", ".join(f"{shown(node)} {cosine:.3f}" for node, cosine in moved.furthest)
        most = f"; most of all {furthest}" if furthest else ""
        nodes = counted(moved.nodes, "node", "nodes")
        reporter.say(f"mean cosine of {nodes} with their vectors before: {moved.mean:.4f}{most}")
    reporter.say(f"embeddings of {counted(graph.num_nodes, 'node', 'nodes')}: {folder.embeddings}")
