"""How well vectors know edges that they were made without, beside the controls: told without labels, by one copy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from fdmvgcl.errors import TooSmall
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.held_out import SHARE, cosines, hide_edges
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.controls import CONTROLS, VECTORS, Control, Step, refitted

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

# Of the copy and its controls: a verdict should cost much less than what it is about.
WIDEST = 128
# Larger graphs, and those with fewer edges to hide, are not judged so: it would take too long, or tell nothing.
MOST_NODES, MOST_EDGES, FEWEST_HIDDEN = 50_000, 1_000_000, 20

# A difference counts where it is clear, by its 95 % interval, and large enough to be worth anybody's while.
_SURE, LEAST = 1.96, 0.01


@dataclass(frozen=True)
class Rival:
    """A control's area under the ROC curve, how far it is above the embedding's, and that difference's deviation."""

    area: float
    above: float
    deviation: float

    @property
    def wins(self) -> bool:
        """Whether it clearly knows more."""
        return self.above > max(LEAST, _SURE * self.deviation)


@dataclass(frozen=True)
class Knowledge:
    """What vectors know of hidden edges, by cosine against pairs of the same degrees that have no edge.

    Args:
        area: area under the ROC curve of a copy of the model.
        deviation: of that area, by the draw of pairs.
        rivals: the controls.
        hidden: how many edges were hidden.
    """

    area: float
    deviation: float
    rivals: Mapping[Control, Rival]
    hidden: int

    @property
    def best(self) -> Control:
        """The control that knows most."""
        return max(self.rivals, key=lambda name: self.rivals[name].area)

    @property
    def any(self) -> bool:
        """Whether the vectors clearly know more than chance does."""
        return self.area - 0.5 > max(LEAST, _SURE * self.deviation)

    @property
    def behind(self) -> bool:
        """Whether a control clearly knows more than the vectors do."""
        return self.rivals[self.best].wins

    def __str__(self) -> str:
        best = self.rivals[self.best]
        how = f"{counted(self.hidden, 'edge', 'edges')} hidden from a copy"
        if best.wins:
            numbers = f"AUC {best.area:.3f} against {self.area:.3f}, {how}"
            advice = f"where edges are what counts, take --control {self.best}"
            return f"of hidden edges they know less than {CONTROLS[self.best]}: {numbers}; {advice}"
        if not self.any:
            return f"of hidden edges they know no more than chance, as do all controls: AUC {self.area:.3f}, {how}"
        word = "more than" if -best.above > max(LEAST, _SURE * best.deviation) else "as much as"
        numbers = f"AUC {self.area:.3f} against {best.area:.3f}, {how}"
        return f"of hidden edges they know {word} {CONTROLS[self.best]}: {numbers}"

    def record(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        own = {"area": self.area, "deviation": self.deviation, "hidden": self.hidden}
        return own | {"rivals": {name: vars(rival) for name, rival in self.rivals.items()}}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Knowledge":
        """What :meth:`record` gave; KeyError, TypeError or ValueError for anything else."""
        rivals = {
            name: Rival(*(float(record["rivals"][name][part]) for part in ("area", "above", "deviation")))
            for name in CONTROLS
            if name in record["rivals"]
        }
        if not rivals:
            raise ValueError("there must be a control to compare with")
        return cls(float(record["area"]), float(record["deviation"]), rivals, int(record["hidden"]))


def left_out(model: "FDMVGCL", graph: Graph) -> str:
    """Why knowledge is not measured, told before any work; "" where it is."""
    if not model.epochs:
        return "nothing is trained"
    if graph.num_nodes > MOST_NODES or graph.num_edges > MOST_EDGES:
        return "on a graph this large a command of its own does it, fdmvgcl links"
    if SHARE * graph.num_edges < FEWEST_HIDDEN:
        return f"{counted(graph.num_edges, 'edge is', 'edges are')} too few to hide some"
    return ""


def measure_knowledge(model: "FDMVGCL", graph: Graph, *, step: Step = lambda _: None) -> tuple[Knowledge | None, str]:
    """What a copy of the model, of at most 128 columns, and its controls know of a tenth of the edges, hidden from all.

    Args:
        model: whose settings count; it need not be fitted.
        graph: of which edges are hidden.
        step: told what is done next.

    Returns:
        The knowledge, or None and why it was not measured.
    """
    reason = left_out(model, graph)
    if reason:
        return None, reason
    try:
        rest, hidden, others = hide_edges(graph, int(model.seed))
    except TooSmall as error:
        return None, str(error)
    fewest = min(len(hidden), len(others))
    if fewest < FEWEST_HIDDEN:
        return None, f"there would be only {counted(fewest, 'pair', 'pairs')} to tell by"
    copy = clone(model).set_params(dim=min(model.dim, WIDEST))
    placed = {
        name: placements(cosines(rows, hidden), cosines(rows, others)) for name, rows in refitted(copy, rest, step)
    }
    ours = placed.pop(VECTORS)
    names = {told: name for name, told in CONTROLS.items()}
    rivals = {names[told]: _rival(ours, theirs) for told, theirs in placed.items()}
    return Knowledge(float(ours[0].mean()), _deviation(*ours), rivals, len(hidden)), ""


Placements = tuple[NDArray[np.float64], NDArray[np.float64]]


def placements(edges: NDArray[np.float64], others: NDArray[np.float64]) -> Placements:
    """Of each edge's score the share of the others below it, of each other's the share of edges above; ties half.

    Both means are the area under the ROC curve, and their spread tells how sure a difference is (DeLong et al., 1988).
    """
    return _share_below(edges, others), 1 - _share_below(others, edges)


def _share_below(scores: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    ordered = np.sort(others)
    below, up_to = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2 * len(ordered)))


def _rival(ours: Placements, theirs: Placements) -> Rival:
    edges, others = (their - our for their, our in zip(theirs, ours, strict=True))
    return Rival(float(theirs[0].mean()), float(edges.mean()), _deviation(edges, others))


def _deviation(edges: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    return float(np.sqrt(edges.var(ddof=1) / len(edges) + others.var(ddof=1) / len(others)))
