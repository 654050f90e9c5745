"""One line on an embedding, told without labels: whether it has collapsed, and whether a control does better."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from numpy.typing import NDArray

from fdmvgcl.learning.diagnostics import SAMPLE, effective_rank
from fdmvgcl.learning.knowledge import Knowledge

# From the best to the worst; "not collapsed" is all that can be said where nothing is known of hidden edges.
Health = Literal["healthy", "not collapsed", "behind", "narrowed", "collapsed"]

# Shares of the directions at the start of training below which an embedding has lost some, or most of them. The first
# is not counted: it is there even if all nodes are alike, and on a small graph it would be most of the rank.
NARROWED, COLLAPSED = 0.25, 0.1
_FEW = 1 / 8  # of the directions that there could be: fewer are a collapse, but one beside the first is always enough
_REMEDY = "try fewer epochs, a lower schedule.lr or, with the default loss, a higher loss.eta"

_NOT_TRAINING = "it was so before training: the features hardly tell nodes apart"


@dataclass(frozen=True)
class Verdict:
    """How many directions an embedding uses, and what it knows beside its controls.

    Args:
        rank: effective rank of the embedding.
        most: what it can be at most for this many nodes and dimensions.
        start: effective rank at the start of the last phase of training; None if there was no training.
        knowledge: of hidden edges; None where it was not measured.
        unmeasured: why it was not, perhaps.
    """

    rank: float
    most: int
    start: float | None
    knowledge: Knowledge | None = None
    unmeasured: str = ""

    @property
    def kept(self) -> float:
        """Share of the directions at the start that are left."""
        return (self.rank - 1) / (self.start - 1) if self.start is not None and self.start > 1 else 1.0

    @property
    def health(self) -> Health:
        if self.rank - 1 < min(1, _FEW * (self.most - 1)) or self.kept < COLLAPSED:
            return "collapsed"
        if self.kept < NARROWED:
            return "narrowed"
        if self.knowledge is not None and self.knowledge.behind:
            return "behind"
        return "healthy" if self.knowledge is not None and self.knowledge.any else "not collapsed"

    def __str__(self) -> str:
        before = "" if self.start is None else f", {_shown(self.start)} before training"
        told = [f"{self.health}: effective rank {_shown(self.rank)} of at most {self.most}{before}"]
        if self.health in ("collapsed", "narrowed"):
            told.append(_REMEDY if self.kept < NARROWED else _NOT_TRAINING)
        if self.knowledge is not None:
            told.append(str(self.knowledge))
        else:
            why = f" ({self.unmeasured})" if self.unmeasured else ""
            told.append(f"what they know of hidden edges was not measured{why}")
        return "; ".join(told)


def _shown(rank: float) -> str:
    return f"{rank:.1f}" if rank < 10 else f"{rank:.0f}"


def judge(
    z: NDArray[Any], history: Sequence[dict[str, Any]], knowledge: Knowledge | None = None, unmeasured: str = ""
) -> Verdict:
    """The verdict on an embedding (N, d), the history of its training, and what :func:`measure_knowledge` found."""
    last = history[-1]["phase"] if history else None
    start = next((record["effective_rank"] for record in history if record["phase"] == last), None)
    return Verdict(effective_rank(torch.from_numpy(z)), min(*z.shape, SAMPLE), start, knowledge, unmeasured)
