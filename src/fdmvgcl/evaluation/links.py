"""How well vectors know edges that they were made without, beside their controls."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.held_out import SHARE, Pairs, cosines, hide_edges, joined_pairs

from .standing import Standing, standing_of

if TYPE_CHECKING:
    from fdmvgcl.learning.controls import Step
    from fdmvgcl.learning.model import FDMVGCL

DRAWS = 3
# With more nodes than this there is one draw, as each trains a copy, and no interval.
MANY_NODES = 50_000


def compare_links(
    model: "FDMVGCL", graph: Graph, *, draws: int | None = None, seed: int = 0, step: "Step" = lambda _: None
) -> tuple[Standing, Standing]:
    """Area under the ROC curve and average precision of hidden edges against pairs without one, by cosine.

    In each draw a tenth of the edges is hidden, and a copy of the model is trained on what is left: the weights, the
    choices and the columns made of edges know none of them. The pairs without an edge have the same degrees as the
    hidden edges: their ends are the same, mixed. The controls are made of the same graph: the untrained encoder,
    features that were diffused (order 0.7, the model's time) and raw, or the columns made of the edges, and the indices
    of common neighbours and of Adamic and Adar. No label is looked at.

    Args:
        model: with the settings to be judged; it need not be fitted.
        graph: of which edges are hidden.
        draws: how many times; without it three, or one where there are more than 50 000 nodes.
        seed: of the draws.
        step: told what is done next.

    Raises:
        TooSmall: if there are too few edges, or pairs without one.
    """
    count = draws or (DRAWS if graph.num_nodes <= MANY_NODES else 1)
    areas: dict[str, list[float]] = {}
    precisions: dict[str, list[float]] = {}
    for draw in range(count):
        rest, hidden, others = hide_edges(graph, seed + draw)
        pairs = np.concatenate([hidden, others])
        numbered = partial(_numbered, step, f"{draw + 1} of {count}")
        for name, scores in _scores(model, rest, pairs, numbered):
            area, precision = told_apart(scores, len(hidden))
            areas.setdefault(name, []).append(area)
            precisions.setdefault(name, []).append(precision)
    told = f"{SHARE:.0%} of the edges, hidden from a copy, against pairs of the same degrees"
    told += f", mean of {count} draws" if count > 1 else ", one draw"
    return standing_of("AUC", told, areas), standing_of("average precision", told, precisions)


def _numbered(step: "Step", number: str, doing: str) -> None:
    step(f"hiding edges, {number}: {doing}")


def _scores(model: "FDMVGCL", rest: Graph, pairs: Pairs, step: "Step") -> Iterator[tuple[str, NDArray[np.floating]]]:
    from fdmvgcl.learning.controls import refitted  # late: what else this room does needs no torch

    for name, rows in refitted(model, rest, step):
        yield name, cosines(rows, pairs)
    yield from neighbour_indices(rest, pairs).items()


def told_apart(scores: Sequence[float] | NDArray[np.floating], hidden: int) -> tuple[float, float]:
    """Area under the ROC curve and average precision of scores (n,), the first so many being those of hidden edges."""
    from sklearn.metrics import average_precision_score, roc_auc_score  # late: slow to import

    truth = np.arange(len(scores)) < hidden
    return float(roc_auc_score(truth, scores)), float(average_precision_score(truth, scores))


def neighbour_indices(rest: Graph, pairs: Pairs) -> dict[str, NDArray[np.floating]]:
    """The indices of common neighbours and of Adamic and Adar for pairs (n, 2), which need no vectors."""
    joined = joined_pairs(rest)
    common = joined[pairs[:, 0]].multiply(joined[pairs[:, 1]])
    degrees = np.asarray(joined.sum(axis=1)).ravel()
    rarity = 1 / np.log(np.maximum(degrees, 2))  # a common neighbour has two
    return {
        "common neighbours": np.asarray(common.sum(axis=1)).ravel(),
        "Adamic-Adar": np.asarray(common @ rarity).ravel(),
    }
