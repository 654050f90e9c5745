"""``fdmvgcl embed``: a graph in, a folder with embeddings, model and history out."""

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter, gigabytes
from fdmvgcl.cli.graphs import GraphLabels, assess_graphs, check_folds, open_graphs, read_graph_labels
from fdmvgcl.cli.plan import foretell, heed, room_of
from fdmvgcl.cli.report import report, run_record
from fdmvgcl.cli.sources import Reader, ReadOptions, check_one_graph, names_data_set, open_source
from fdmvgcl.cli.verdict import conclude
from fdmvgcl.diffusion.cost import Order
from fdmvgcl.diffusion.group import Group, joined
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.evaluation.labelled import Labelled
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.controls import CONTROLS, Control, control
from fdmvgcl.learning.diagnostics import (
    PAIR_ROWS,
    class_ratio,
    neighbour_homophily,
    sample_rows,
    significant,
)
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.plan import plan_exactly
from fdmvgcl.learning.prepare import Prepared, assemble
from fdmvgcl.learning.settings import dotted
from fdmvgcl.learning.training import Observer, Trainer
from fdmvgcl.losses import unit_rows
from fdmvgcl.machine import freed_blocks_kept, memory_share, one_thread
from fdmvgcl.results.checkpoints import (
    Checkpointer,
    Interrupted,
    deferred_interrupt,
    graph_fingerprint,
    is_finished,
    refuse_other,
    resumed_order,
)
from fdmvgcl.results.outputs import KNOWLEDGE, Piece, ResultFolder, default_folder, write_pieces
from fdmvgcl.results.vectors import VectorFile

HOMOPHILY_NEIGHBOURS = 10


@dataclass(frozen=True)
class EmbedOptions:
    """What the command line says besides the model's settings and how to read the files."""

    output: Path | None = None
    labels: Path | None = None
    keep_views: bool = False
    resume: bool = False
    data_root: Path | None = None
    report: bool = True
    level: Literal["node", "graph"] = "node"
    force: bool = False
    memory: int | None = None
    scratch: Path | None = None
    reader: Reader = "auto"
    control: Control | None = None


def embed(source: str, model: FDMVGCL, reading: ReadOptions, options: EmbedOptions, reporter: Reporter) -> None:
    """Read, train, write, and tell of it; of several processes the first does so, and the others help it train."""
    model.check_parameters()
    _check_control(options)
    folder = ResultFolder(options.output or default_folder(source))
    folder.refuse_inputs(source, reading.features, options.labels)
    options = replace(options, scratch=options.scratch or folder.scratch)
    with joined(model.device) as group:
        if group.size > 1 and options.level == "graph":
            raise ArgumentError("level", "must be node where several processes share in the work, got 'graph'")
        if group.size > 1 and options.control is not None:
            raise ArgumentError("control", f"must be left out for several processes, got {options.control!r}")
        if group.rank == 0:
            with folder.claimed(None if options.force or options.resume else source):
                _lead(source, model, reading, options, folder, group, reporter)
        elif not (options.resume and is_finished(folder, views=options.keep_views)):
            _follow(source, model, reading, options, folder, group)


def _follow(
    source: str, model: FDMVGCL, reading: ReadOptions, options: EmbedOptions, folder: ResultFolder, group: Group
) -> None:
    """Take the same decisions as the first process, silently, and share in training."""
    silent, resources = Reporter(quiet=True), _resources(options, folder, group)
    graph, _ = _read(source, reading, options, resources, silent)
    resumed = options.resume and folder.checkpoint.exists()
    order = resumed_order(folder.checkpoint, graph_fingerprint(graph)) if resumed else None
    prepared = _prepare(model, graph, order, resources, silent)
    with silent.warnings(), deferred_interrupt(quiet=True) as stop:

        def on_epoch(*_: Any) -> None:
            if stop.is_set():
                raise Interrupted

        model.fit(prepared, on_epoch=on_epoch, resume=folder.checkpoint if resumed else None)


def _lead(
    source: str,
    model: FDMVGCL,
    reading: ReadOptions,
    options: EmbedOptions,
    folder: ResultFolder,
    group: Group,
    reporter: Reporter,
) -> None:
    began = time.perf_counter()
    if options.level == "node" and not (options.resume and is_finished(folder, views=options.keep_views)):
        foretell(source, model, reading, options, reporter, group)
    resources = _resources(options, folder, group)
    graph: Graph | GraphSet
    labelled: Labelled | GraphLabels | None
    if options.level == "node":
        graph, labelled = _read(source, reading, options, resources, reporter)
    else:
        graph, labelled = _read_many(source, reading, options, reporter)
    fingerprint = graph_fingerprint(graph)
    if options.resume and is_finished(folder, views=options.keep_views):
        refuse_other(folder, model.settings, fingerprint)
        reporter.say(f"{folder.path} is finished: there is nothing to resume")
        if isinstance(graph, Graph) and KNOWLEDGE not in folder.read_checks():
            conclude(FDMVGCL.load(folder.model), graph, folder, reporter)
        if options.report and not folder.report.exists():
            report(folder, reporter, resources)
        _forget_scratch(resources, folder)
        return
    checkpoint = _checkpoint(folder, reporter) if options.resume else None
    order = None if checkpoint is None else resumed_order(checkpoint, fingerprint)
    prepared = _prepare(model, graph, order, resources, reporter)
    if options.control is not None:
        with reporter.busy(f"making {CONTROLS[options.control]}, in place of training"):
            model = control(model, prepared, options.control)
            prepared = assemble(model, prepared.graph, model.chosen_, resources=resources)
            pieces = model.transform_pieces(prepared)
    else:
        observe = None
        if isinstance(labelled, Labelled) and labelled.classes:
            observe = _label_diagnostics(labelled, prepared.seen(model.trained_rows(prepared.graph)))
        pieces = _train(model, prepared, folder, fingerprint, reporter, observe, checkpoint)
    if isinstance(graph, GraphSet):
        with reporter.busy("reading out all graphs"):
            views = model.transform_views(graph) if options.keep_views else None
            written = iter([(views, model.transform(graph))])
    else:
        written = ((each if options.keep_views else None, model.combine(each)) for each in pieces)
    run = run_record(source, graph, reading, options, time.perf_counter() - began)
    _write(model, graph, written, folder, run)
    if labelled is not None:
        if labelled.classes:
            folder.write_labels(graph.ids, labelled.labels, labelled.classes)
        _assess(graph, labelled, prepared, model, folder, reporter)
    del prepared, pieces, written  # what comes takes memory of its own
    conclude(model, graph, folder, reporter)
    if options.report:
        report(folder, reporter, resources)
    _forget_scratch(resources, folder)


def _assess(
    graph: Graph | GraphSet,
    labelled: Labelled | GraphLabels,
    prepared: Prepared,
    model: FDMVGCL,
    folder: ResultFolder,
    reporter: Reporter,
) -> None:
    with VectorFile(folder.embeddings) as file:
        z = file.read("z")
    if isinstance(graph, GraphSet) and isinstance(labelled, GraphLabels):
        assess_graphs(graph, z, labelled, model, folder, reporter)
    elif isinstance(labelled, Labelled):
        from fdmvgcl.cli.scoring import assess  # late: most graphs come without labels

        assess([z], labelled, prepared, model, folder, reporter, tune=False)


def describe(graph: Graph | GraphSet, reporter: Reporter) -> None:
    """Echo what was understood."""
    reporter.say(graph.describe(), "bold")
    for note in graph.notes:
        reporter.say(f"  {note}")


def _read(
    source: str, reading: ReadOptions, options: EmbedOptions, resources: Resources, reporter: Reporter
) -> tuple[Graph, Labelled | None]:
    check_one_graph(source)
    room = room_of(options, reporter.remark)
    with resources.group.one_first(names_data_set(source) or room.wants_store(source, reading)):
        opened = open_source(source, reading, options.data_root, room)
    graph, dataset = opened.graph, opened.dataset
    describe(graph, reporter)
    if graph.origin is not None and "graph" in map(str.lower, graph.origin.ignored):
        reporter.warn("all edges are one graph, as the column `graph` is not used; --level graph takes it")
    if dataset is not None and Path(source).is_file():
        reporter.say(f"  {source} is taken as the data set; write ./{source} for the file of that name")
    if options.labels is not None:
        labelled = Labelled.read(graph, options.labels, encoding=reading.encoding)
    elif dataset is not None:
        labelled = Labelled.of_data_set(dataset)
    else:
        return graph, None
    for remark in labelled.remarks:
        reporter.say(f"  {remark}")
    return graph, labelled


def _read_many(
    source: str, reading: ReadOptions, options: EmbedOptions, reporter: Reporter
) -> tuple[GraphSet, GraphLabels | None]:
    opened = open_graphs(source, reading, options.data_root)
    describe(opened.graphs, reporter)
    if options.labels is None:
        if opened.labels is not None:
            check_folds(source, opened.labels)
        return opened.graphs, opened.labels
    labelled = read_graph_labels(options.labels, opened.graphs, reading.encoding)
    without = int((labelled.labels < 0).sum())
    if without:
        reporter.say(f"  {counted(without, 'graph has', 'graphs have')} no label")
    return opened.graphs, labelled


def _checkpoint(folder: ResultFolder, reporter: Reporter) -> Path | None:
    found = folder.checkpoint if folder.checkpoint.exists() else None
    reporter.say("  no checkpoint here: starting from the beginning" if found is None else f"  resuming {found}")
    return found


def _prepare(
    model: FDMVGCL, graph: Graph | GraphSet, order: Order | None, resources: Resources, reporter: Reporter
) -> Prepared:
    """What the graph decides, told; refused where this machine is far too small for it.

    The order of work of a run that is resumed is kept: another machine's memory must not change it.
    """
    with reporter.warnings():
        prepared = model.prepare(graph, order_of_work=order, resources=resources)
    if resources.group.size > 1 and not prepared.in_blocks:
        raise UserError(
            "several processes share in linear diffusion on undirected graphs, with times that are not learnt "
            "and a loss that is made of sums over rows; run this in one"
        )
    reporter.say("chosen for this graph, where nothing was said")
    for sentence in prepared.sentences:
        reporter.say(f"  {sentence}")
    if model.feature_settings.initialisation == "whitened":
        reporter.say("  whitening what neighbours differ in: eigenvectors of a matrix as wide as the features")
    plan = plan_exactly(model, prepared, memory_share())
    reporter.say(f"  training takes about {gigabytes(plan.memory)} of memory")
    if model.device.startswith("cpu"):
        heed(plan, reporter)
    return prepared


def _label_diagnostics(labelled: Labelled, seen: torch.Tensor | None) -> Observer:
    """Adds what only labels can tell to the records, and nowhere else.

    ``class_ratio`` is a list for each view of a number for each class, null where it has none; ``neighbour_homophily``
    is that of the views' sum, among 512 nodes.

    Args:
        seen: nodes that the views observed are of, None for all.
    """
    labels = torch.from_numpy(labelled.labels)
    labels = labels if seen is None else labels[seen]

    def observe(views: torch.Tensor) -> dict[str, Any]:
        known = labels.to(views.device)
        with one_thread():
            found = class_ratio(views, known, classes=len(labelled.classes), rows=PAIR_ROWS)
            record: dict[str, Any] = {"class_ratio": significant(found.tolist())}
            seen = sample_rows(known[:, None])[:, 0]
            neighbours = min(HOMOPHILY_NEIGHBOURS, int(seen.ge(0).sum()) - 1)
            if neighbours > 0:
                summed = unit_rows(sample_rows(views)).mean(0)
                record["neighbour_homophily"] = significant(neighbour_homophily(summed, seen, neighbours))
        return record

    return observe


def _resources(options: EmbedOptions, folder: ResultFolder, group: Group) -> Resources:
    """A folder of its own within the scratch folder, where others may work too."""
    assert options.scratch is not None
    memory = memory_share() // 2 if options.memory is None else options.memory
    own = re.sub(r"\W", "-", str(folder.path.resolve())).strip("-")[-100:]
    return Resources(memory, options.scratch / own, group)


def _forget_scratch(resources: Resources, folder: ResultFolder) -> None:
    """What was kept for a run that is finished now; a scratch folder that the user named keeps the graph."""
    if resources.scratch is not None:
        shutil.rmtree(resources.scratch, ignore_errors=True)
    shutil.rmtree(folder.scratch, ignore_errors=True)


def _train(
    model: FDMVGCL,
    prepared: Prepared,
    folder: ResultFolder,
    fingerprint: str,
    reporter: Reporter,
    observe: Observer | None,
    checkpoint: Path | None,
) -> Iterator[NDArray[np.float32]]:
    """Fit, saving the state on the way; the views in pieces (K, n, d). The path taken must stay the same."""
    kept = dotted(model.settings) | {"graph": fingerprint, "order_of_work": prepared.chosen.order_of_work}
    with (
        reporter.warnings(),
        deferred_interrupt(reporter.quiet) as stop,
        freed_blocks_kept(prepared.memory) as limit_gaps,
        reporter.progress(model.epochs) as listener,
    ):
        saver = Checkpointer(folder.checkpoint, kept, stop)

        def on_epoch(trainer: Trainer, record: dict[str, Any]) -> None:
            limit_gaps()
            last = trainer.epoch >= model.epochs
            listener(record, last=last)
            saver(trainer, last=last)

        return model.fit_transform_pieces(prepared, on_epoch=on_epoch, observe=observe, resume=checkpoint)


def _write(
    model: FDMVGCL,
    graph: Graph | GraphSet,
    pieces: Iterator[Piece],
    folder: ResultFolder,
    run: dict[str, Any],
) -> None:
    """Every file aside and renamed; the checkpoint goes last, so that a run killed here can be resumed."""
    model.save(folder.model)
    graph.save(folder.graph)
    folder.write_history(model.history_)
    folder.write_run(run)
    folder.forget_labels()
    write_pieces(folder, graph.ids, pieces, model.alphas_.tolist(), model.betas_.tolist())
    folder.checkpoint.unlink(missing_ok=True)


def _check_control(options: EmbedOptions) -> None:
    if options.control is None:
        return
    if options.level == "graph":
        raise ArgumentError("control", "is for the nodes of one graph; evaluate has the controls of many")
    if options.resume:
        raise ArgumentError("control", "trains nothing, so there is nothing to go on with by --resume")


__all__ = ["EmbedOptions", "Interrupted", "describe", "embed"]
