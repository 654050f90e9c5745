"""What a right-hand side F of the fractional equation is."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from fdmvgcl.graphs.operators import Normalisation, Operator


class Dynamics(nn.Module):
    """The right-hand side F of a view's equation ``D^α S = F(t, S)``, with what it learns.

    A subclass writes :meth:`forward`. The state S is the projected features Y themselves, shape (N, d), unless it
    also writes :meth:`start` and :meth:`readout`. Every view has parameters of its own; they learn at the rate of the
    projections.

    Attributes:
        normalisation: the one of the adjacency that F is defined for; None if any will do.
        self_loops: weight of the self-loops that F is defined with, where the user names none.
    """

    normalisation: Normalisation | None = None
    self_loops: float = 0.0

    def start(self, y: Tensor) -> Tensor:
        """The state at t = 0 of projected features y (N, d), any shape."""
        return y

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        """``F(t, S)``, of the state's shape.

        It must be deterministic: it is evaluated again in the backward pass.

        Args:
            time: t, a scalar.
            state: S.
            operator: the normalised adjacency Ā; ``fdmvgcl.dynamics.propagate`` multiplies by it.
        """
        raise NotImplementedError(f"{type(self).__name__} must write forward(time, state, operator)")

    def readout(self, state: Tensor) -> Tensor:
        """The features Y (N, d) of a state."""
        return state


Factory = Callable[[int, torch.Generator], Dynamics]
