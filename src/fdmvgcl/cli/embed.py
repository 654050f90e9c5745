"""``fdmvgcl embed``: a graph in, a folder with embeddings, model and history out."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.cli.console import Reporter, gigabytes
from fdmvgcl.cli.report import report, run_record
from fdmvgcl.cli.sources import Labelled, ReadOptions, data_set_labels, default_folder, file_labels, open_source
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.diagnostics import (
    PAIR_ROWS,
    class_ratio,
    neighbour_homophily,
    sample_rows,
    significant,
)
from fdmvgcl.learning.features import SUBSTITUTE_COLUMNS
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.training import Observer, Trainer
from fdmvgcl.learning.verdict import judge
from fdmvgcl.losses import unit_rows
from fdmvgcl.machine import freed_blocks_kept, machine_memory, one_thread
from fdmvgcl.results.checkpoints import (
    Checkpointer,
    Interrupted,
    deferred_interrupt,
    graph_fingerprint,
    is_finished,
    resumed_order,
)
from fdmvgcl.results.outputs import ResultFolder, write_views
from fdmvgcl.results.vectors import write_vectors

HOMOPHILY_NEIGHBOURS = 10
# The estimate is rough, so only what is far beyond the machine is refused.
_REFUSED, _CLOSE = 1.5, 0.7
_ORDERS = {"project": "project features, then diffuse", "diffuse": "diffuse features once, then project"}


@dataclass(frozen=True)
class EmbedOptions:
    """What the command line says besides the model's parameters and how to read the files."""

    output: Path | None = None
    labels: Path | None = None
    evaluate: bool = True
    keep_views: bool = True
    resume: bool = False
    data_root: Path | None = None
    report: bool = True


def embed(source: str, model: FDMVGCL, reading: ReadOptions, options: EmbedOptions, reporter: Reporter) -> None:
    """Read, train, write, and tell of it."""
    model.check_parameters()
    check_device(model.device)
    folder = ResultFolder(options.output or default_folder(source))
    with folder.claimed():
        graph, labelled = _read(source, reading, options, reporter)
        fingerprint = graph_fingerprint(graph)
        if options.resume and is_finished(folder, model.settings, fingerprint, views=options.keep_views):
            reporter.say(f"{folder.path} is complete: there is nothing to resume")
            if options.report and not folder.report.exists():
                report(folder, reporter)
            return
        _check_memory(model, graph, reporter)
        observe = None if labelled is None else _label_diagnostics(labelled)
        _train(model, graph, folder, fingerprint, reporter, observe, resume=options.resume)
        _tell_choices(model, reporter)
        z = _write(model, graph, folder, keep_views=options.keep_views, run=run_record(source, graph, reading, options))
    if labelled is not None:
        folder.write_labels(graph.ids, labelled.labels, labelled.classes)
        from fdmvgcl.cli.scoring import assess  # late: most graphs come without labels

        assess([z], labelled, graph, model, folder, reporter, tune=False)
    _conclude(model, z, folder, reporter)
    if options.report:
        report(folder, reporter)


def check_device(device: str) -> None:
    """Refuse a device that does not exist or does not compute, before any work."""
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"device {device!r} cannot be used here ({reason[:120]})") from None


def describe(graph: Graph, reporter: Reporter) -> None:
    """Echo what was understood."""
    reporter.say(graph.describe(), "bold")
    for note in graph.notes:
        reporter.say(f"  {note}")


def _read(
    source: str, reading: ReadOptions, options: EmbedOptions, reporter: Reporter
) -> tuple[Graph, Labelled | None]:
    opened = open_source(source, reading, options.data_root)
    graph, dataset = opened.graph, opened.dataset
    describe(graph, reporter)
    if dataset is not None and Path(source).is_file():
        reporter.say(f"  {source} is taken as the data set; write ./{source} for the file of that name")
    if graph.features is None:
        reporter.say(f"  no features: {SUBSTITUTE_COLUMNS} random signs drawn from each node's id stand in for them")
    if not options.evaluate:
        return graph, None
    if options.labels is not None:
        labelled = file_labels(options.labels, graph)
    elif dataset is not None:
        labelled = data_set_labels(dataset)
    else:
        return graph, None
    for remark in labelled.remarks:
        reporter.say(f"  {remark}")
    return graph, labelled


def _check_memory(model: FDMVGCL, graph: Graph, reporter: Reporter) -> None:
    needed, present = model.memory_estimate(graph), machine_memory()
    reporter.say(
        f"  training takes about {gigabytes(needed)} of memory; order of work: {_ORDERS[model.choose_order(graph)]}"
    )
    if not model.device.startswith("cpu"):
        return
    if needed > _REFUSED * present:
        raise ValueError(
            f"training needs about {gigabytes(needed)} of memory and this machine has {gigabytes(present)}; "
            "use a smaller --dim or fewer --views"
        )
    if needed > _CLOSE * present:
        reporter.warn(f"that is close to all that this machine has ({gigabytes(present)})")


def _tell_choices(model: FDMVGCL, reporter: Reporter) -> None:
    """What the graph itself decided, where a setting left it open."""
    features = {"rows": "rows of features divided by their sums", "columns": "columns of features standardised"}
    chosen = []
    if model.feature_scaling == "auto" and not model.features_in_.substitute:
        chosen.append(
            features.get(model.features_in_.scaling, "features as they are, since neighbours' sums are alike")
        )
    if model.skip == "auto" and model.skip_:
        chosen.append("a skip-connection, since neighbours' features hardly are")
    if chosen:
        reporter.say(f"  chosen by the graph: {'; '.join(chosen)}")


def _label_diagnostics(labelled: Labelled) -> Observer:
    """Adds what only labels can tell to the records, and nowhere else.

    ``class_ratio`` is a list for each view of a number for each class, null where it has none; ``neighbour_homophily``
    is that of the views' sum, among 512 nodes.
    """
    labels = torch.from_numpy(labelled.labels)

    def observe(views: torch.Tensor) -> dict[str, Any]:
        known = labels.to(views.device)
        with one_thread():
            found = class_ratio(views, known, classes=len(labelled.classes), rows=PAIR_ROWS)
            record: dict[str, Any] = {
                "class_ratio": [[significant(r) if math.isfinite(r) else None for r in view] for view in found.tolist()]
            }
            seen = sample_rows(known[:, None])[:, 0]
            neighbours = min(HOMOPHILY_NEIGHBOURS, int(seen.ge(0).sum()) - 1)
            if neighbours > 0:
                summed = unit_rows(sample_rows(views)).mean(0)
                record["neighbour_homophily"] = significant(neighbour_homophily(summed, seen, neighbours))
        return record

    return observe


def _train(
    model: FDMVGCL,
    graph: Graph,
    folder: ResultFolder,
    fingerprint: str,
    reporter: Reporter,
    observe: Observer | None,
    *,
    resume: bool,
) -> None:
    """Fit, saving the state on the way. The path taken is part of it: another machine's memory must not change it."""
    if model.like_edges:
        reporter.say(f"  linking every node to the {model.like_edges} most like it: all pairs of nodes are compared")
    if model.initialisation == "whitened":
        reporter.say("  whitening what neighbours differ in: eigenvectors of a matrix as wide as the features")
    checkpoint = folder.checkpoint if resume and folder.checkpoint.exists() else None
    if resume:
        begun = "no checkpoint here: starting from the beginning" if checkpoint is None else f"resuming {checkpoint}"
        reporter.say(f"  {begun}")
    asked = model.order_of_work
    order = model.choose_order(graph) if checkpoint is None else resumed_order(checkpoint, fingerprint)
    model.set_params(order_of_work=asked or order)
    with (
        reporter.warnings(),
        deferred_interrupt(reporter.quiet) as stop,
        freed_blocks_kept(model.memory_estimate(graph)) as limit_gaps,
        reporter.progress(model.epochs) as listener,
    ):
        saver = Checkpointer(folder.checkpoint, model.settings | {"graph": fingerprint}, stop)

        def on_epoch(trainer: Trainer, record: dict[str, Any]) -> None:
            limit_gaps()
            last = trainer.epoch >= model.epochs
            listener(record, last=last)
            saver(trainer, last=last)

        model.fit(graph, on_epoch=on_epoch, observe=observe, resume=checkpoint)
    model.set_params(order_of_work=asked)


def _write(
    model: FDMVGCL, graph: Graph, folder: ResultFolder, *, keep_views: bool, run: dict[str, Any]
) -> NDArray[np.float32]:
    """Every file aside and renamed; the checkpoint goes last, so that a run killed here can be resumed."""
    views = model.transform_views(graph)
    z = model.combine(views)
    model.save(folder.model)
    graph.save(folder.graph)
    folder.write_history(model.history_)
    folder.write_run(run)
    folder.forget_labels()
    if keep_views:
        write_views(folder.views, graph.ids, views, model.alphas_.tolist(), model.betas_.tolist())
    else:
        folder.views.unlink(missing_ok=True)
    write_vectors(folder.embeddings, graph.ids, {"z": z})
    folder.checkpoint.unlink(missing_ok=True)
    return z


def _conclude(model: FDMVGCL, z: NDArray[np.float32], folder: ResultFolder, reporter: Reporter) -> None:
    verdict = judge(z, model.history_)
    colour = {"healthy": "green", "narrowed": "yellow", "collapsed": "red"}[verdict.health]
    reporter.say("")
    reporter.say(str(verdict), colour)
    last = model.history_[-1] if model.history_ else None
    if last is not None and last["epoch"] + 1 < model.epochs:
        reporter.say(
            f"training ended after {last['epoch'] + 1} of {model.epochs} epochs, when the rank had fallen to "
            f"{model.min_rank:.0%} of its start (--min-rank)"
        )
    reporter.say(f"embeddings of {z.shape[0]} nodes in {z.shape[1]} dimensions: {folder.embeddings}")
    reporter.say(f"the rest beside it; try: fdmvgcl similar {folder.path} --id ID")


__all__ = ["EmbedOptions", "Interrupted", "check_device", "describe", "embed"]
