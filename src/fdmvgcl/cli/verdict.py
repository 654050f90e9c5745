"""How a run ends: the verdict on its vectors, made and told."""

import shlex
import warnings

from fdmvgcl.cli.console import Reporter
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.batches import seen_rows
from fdmvgcl.learning.knowledge import Knowledge, left_out, measure_knowledge
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.verdict import Health, judge
from fdmvgcl.results.outputs import KNOWLEDGE, ResultFolder
from fdmvgcl.results.vectors import VectorFile

_COLOURS: dict[Health, str] = {"healthy": "green", "behind": "yellow", "narrowed": "yellow", "collapsed": "red"}


def conclude(model: FDMVGCL, graph: Graph | GraphSet, folder: ResultFolder, reporter: Reporter) -> None:
    """Judge the vectors that were written, and say where they are."""
    with VectorFile(folder.embeddings) as file:
        count, rows = file.num_rows, file.rows("z", seen_rows(file.num_rows).numpy())
    verdict = judge(rows, model.history_, *_knowledge(model, graph, folder, reporter))
    reporter.say("")
    reporter.say(str(verdict), _COLOURS.get(verdict.health, ""))
    last = model.history_[-1] if model.history_ else None
    if last is not None and last["epoch"] + 1 < model.epochs:
        reporter.say(
            f"training ended after {last['epoch'] + 1} of {model.epochs} epochs, when the rank had fallen to "
            f"{model.schedule.min_rank:.0%} of its start (schedule.min_rank)"
        )
    what = "nodes" if isinstance(graph, Graph) else "graphs"
    reporter.say(f"embeddings of {count} {what} in {rows.shape[1]} dimensions: {folder.embeddings}")
    reporter.say(f"the rest beside it; try: fdmvgcl similar {shlex.quote(str(folder.path))} --id ID")


def _knowledge(
    model: FDMVGCL, graph: Graph | GraphSet, folder: ResultFolder, reporter: Reporter
) -> tuple[Knowledge | None, str]:
    """What such vectors know of hidden edges, kept in the folder for the report; None and the reason where not."""
    if isinstance(graph, GraphSet):
        return None, "there are many graphs"
    found, why = None, left_out(model, graph)
    if not why:
        with reporter.busy("hiding edges to see how well such vectors know them") as step, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a copy warns of was told when the model was trained
            found, why = measure_knowledge(model, graph, step=step)
    folder.write_checks(KNOWLEDGE, {"unmeasured": why} if found is None else found.record())
    return found, why
