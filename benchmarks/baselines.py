"""The other side of the comparisons: diffusion by time stepping inside the training loop.

Made as fast as that approach allows: one compiled sparse product a step (its gradient is the same product, the operator
being symmetric), the history held by reference and summed without copies, and gradients in α that are right. Of the
variants tried (views side by side, a stacked history, plain autograd, PyTorch's sparse product) this one, view after
view, was the fastest. It is the explicit predictor that the paper trains with.
"""

from collections import deque

import torch
from FDEint import FDEint
from torch import Tensor

from fdmvgcl.fractional.schemes import PREDICTOR, Scheme, march
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.methods.layers import propagate


def in_loop(
    operator: Operator, x: Tensor, alpha: Tensor, time: float, step: float, scheme: Scheme = PREDICTOR
) -> Tensor:
    """(K, N, d) features diffused by time stepping with K orders."""
    h, steps = torch.tensor(step, dtype=torch.float64), round(time / step)

    def rhs(n: int, y: Tensor) -> Tensor:
        return propagate(operator, y) - y

    views = [deque(march(scheme, rhs, *view, h, steps), maxlen=1)[0] for view in zip(x, alpha.double(), strict=True)]
    return torch.stack(views)


def fdeint_pece(operator: Operator, x: Tensor, alpha: Tensor, time: float, step: float) -> Tensor:
    """FDEint from PyPI (predictor-corrector) on (N, d) features with one order."""

    def rhs(t: Tensor, y: Tensor) -> Tensor:
        flat = y.reshape(x.shape)
        return (propagate(operator, flat) - flat).reshape(1, -1)

    times = torch.linspace(0, time, round(time / step) + 1)
    return FDEint(rhs, times, x.reshape(1, -1), alpha, h=step)[:, -1].reshape(x.shape)
