"""One line on whether an embedding has collapsed, told without labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from numpy.typing import NDArray

from fdmvgcl.learning.diagnostics import SAMPLE, effective_rank

Health = Literal["healthy", "narrowed", "collapsed"]

# Shares of the directions at the start of training below which an embedding has lost some, or most of them. The first
# is not counted: it is there even if all nodes are alike, and on a small graph it would be most of the rank.
NARROWED, COLLAPSED = 0.25, 0.1
_FEW = 1 / 8  # of the directions that there could be: fewer are a collapse, but one beside the first is always enough
_REMEDY = "try fewer epochs, a lower schedule.lr or, with the default loss, a higher loss.eta"

_NOT_TRAINING = "it was so before training: the features hardly tell nodes apart"


@dataclass(frozen=True)
class Verdict:
    """How many directions an embedding uses.

    Args:
        rank: effective rank of the embedding.
        most: what it can be at most for this many nodes and dimensions.
        start: effective rank at the start of the last phase of training; None if there was no training.
    """

    rank: float
    most: int
    start: float | None

    @property
    def kept(self) -> float:
        """Share of the directions at the start that are left."""
        return (self.rank - 1) / (self.start - 1) if self.start is not None and self.start > 1 else 1.0

    @property
    def health(self) -> Health:
        if self.rank - 1 < min(1, _FEW * (self.most - 1)) or self.kept < COLLAPSED:
            return "collapsed"
        return "narrowed" if self.kept < NARROWED else "healthy"

    def __str__(self) -> str:
        before = "" if self.start is None else f", {_shown(self.start)} before training"
        told = f"{self.health}: effective rank {_shown(self.rank)} of at most {self.most}{before}"
        if self.health == "healthy":
            return told
        return f"{told}; {_REMEDY if self.kept < NARROWED else _NOT_TRAINING}"


def _shown(rank: float) -> str:
    return f"{rank:.1f}" if rank < 10 else f"{rank:.0f}"


def judge(z: NDArray[Any], history: Sequence[dict[str, Any]]) -> Verdict:
    """The verdict on an embedding (N, d) and the history of its training."""
    last = history[-1]["phase"] if history else None
    start = next((record["effective_rank"] for record in history if record["phase"] == last), None)
    return Verdict(effective_rank(torch.from_numpy(z)), min(*z.shape, SAMPLE), start)
