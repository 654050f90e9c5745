"""``fdmvgcl links``: edges that are most likely missing."""

from collections.abc import Sequence
from pathlib import Path

from fdmvgcl.analysis.links import check_links, links_near, top_links
from fdmvgcl.cli.answers import Wanted, deliver
from fdmvgcl.cli.checks import checked
from fdmvgcl.cli.console import Reporter
from fdmvgcl.evaluation.standing import Standing
from fdmvgcl.graphs.edit import numbers_of
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.vectors import VectorFile


def links(
    folder: ResultFolder,
    nodes: Sequence[str],
    ids: Path | None,
    count: int,
    wanted: Wanted,
    reporter: Reporter,
    *,
    check: bool = True,
) -> None:
    """Give source, target and score, and how well such scores found hidden edges."""
    wanted.check([*folder.require().path.iterdir(), *([ids] if ids else [])])
    graph = Graph.load(folder.graph)
    asked = list(nodes)
    if ids is not None:
        from fdmvgcl.graphs.readers.ids import read_ids  # late: its room brings what one node does not need

        asked += read_ids(ids)
    numbers = numbers_of(graph, dict.fromkeys(asked))

    def measure() -> list[Standing]:
        from fdmvgcl.learning.model import FDMVGCL  # late: torch is not needed where this is on record

        return [check_links(FDMVGCL.load(folder.model, device="cpu"), graph)]

    doing = "hiding edges to see how well they are found"
    standings = checked(folder, "links", doing, measure, reporter, only_on_record=not check)
    with VectorFile(folder.embeddings) as file:
        if asked:
            found = links_near(file.blocks("z"), file.rows("z", numbers), graph, numbers, count)
        else:
            with reporter.busy("comparing all pairs of nodes"):
                found = top_links(file.read("z"), graph, count)
    if not len(found.pairs):
        reporter.remark("no pair without an edge points the same way: none has a positive cosine")
    table = {
        "source": [graph.ids[i] for i in found.pairs[:, 0]],
        "target": [graph.ids[i] for i in found.pairs[:, 1]],
        "score": found.scores.astype(float).round(6).tolist(),
    }
    deliver(table, {"checks": [each.record() for each in standings]}, wanted, reporter, text_columns=(0, 1))
