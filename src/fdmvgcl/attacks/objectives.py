"""What a white-box attack makes large, as functions of decision values."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.attacks.victim import Loss, Victim
from fdmvgcl.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Aim:
    """Nodes whose prediction is to be changed, and the columns of what they should be.

    Args:
        nodes: shape (n,).
        columns: of each node's label in the victim's decision, shape (n,).
    """

    nodes: Tensor
    columns: Tensor

    @classmethod
    def of(cls, victim: Victim, labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> "Aim":
        """At these nodes; one whose label the victim does not know is wrong already, and left out."""
        classes = victim.classes
        wanted = labels[nodes]
        columns = np.minimum(np.searchsorted(classes, wanted), len(classes) - 1)
        known = classes[columns] == wanted
        if not known.any():
            raise ArgumentError("nodes", "must hold a node with a label that the victim knows, got none")
        return cls(torch.from_numpy(np.asarray(nodes)[known]), torch.from_numpy(columns[known]))

    def margins(self, decision: Tensor) -> Tensor:
        """Largest other log-probability minus that of the label, shape (n,); above 0 where the prediction is wrong."""
        scores = torch.log_softmax(decision[self.nodes], dim=1)
        own = scores.gather(1, self.columns[:, None])[:, 0]
        return scores.scatter(1, self.columns[:, None], -torch.inf).amax(1) - own


def tanh_margin(aim: Aim) -> Loss:
    """Mean of the margins' tanh: nodes far from the border, right or wrong, do not count (Geisler et al. 2021)."""
    return lambda decision: aim.margins(decision).tanh().mean()


def masked_cross_entropy(aim: Aim) -> Loss:
    """Cross-entropy of the nodes that are still right: no flip is spent on one that is wrong (Geisler et al. 2021)."""
    return partial(_masked, aim)


def _masked(aim: Aim, decision: Tensor) -> Tensor:
    margins = aim.margins(decision)
    right = margins.detach() < 0
    scores = torch.log_softmax(decision[aim.nodes], dim=1).gather(1, aim.columns[:, None])[:, 0]
    return -(scores * right).sum() / len(right)


OBJECTIVES: dict[str, Callable[[Aim], Loss]] = {
    "tanh-margin": tanh_margin,
    "masked-cross-entropy": masked_cross_entropy,
}
