"""What a fractional time-stepping scheme remembers, and the weighted sums that it takes of it."""

from typing import Any, NamedTuple

import torch
from torch import Tensor


class Weights(NamedTuple):
    """Weights of a scheme for given order, step and number of steps N; the trailing shape is that of the order α.

    ``past[k - 1]`` multiplies ``m_{n-k}`` and ``now`` is the gain g. ``first[n - 1]``, if any, replaces ``past[n - 1]``
    as the weight of ``m_0`` at step n.
    """

    past: Tensor
    now: Tensor
    first: Tensor | None = None

    def to(self, dtype: torch.dtype) -> "Weights":
        return Weights(self.past.to(dtype), self.now.to(dtype), None if self.first is None else self.first.to(dtype))


class History:
    """The memory ``m_0, m_1, …`` of a run.

    Args:
        window: keep only so many latest values (short memory); all by default.

    Attributes:
        dropped: a bound on what the window cut from the sum of any step so far, in any entry of the state:
            ``max_n Σ_{j dropped} |w_{n,j}| max|m_j|``.
    """

    def __init__(self, window: int | None = None) -> None:
        self.dropped = 0.0
        self._window = window
        self._values: list[Tensor] = []
        self._sizes: list[Tensor] = []

    def append(self, value: Tensor) -> None:
        self._values.append(value)
        if self._window is not None:
            self._sizes.append(value.detach().abs().max().double())
            if len(self._values) > self._window:
                self._values.pop(0)

    def recall(self, weights: Weights, n: int) -> Tensor:
        """``Σ_j w_{n,j} m_j`` over the values kept."""
        kept = len(self._values)
        if kept < n:
            self._note_dropped(weights, n)
        if weights.first is None or kept < n:
            return _combine(weights.past[:kept], self._values)
        start = weights.first[n - 1] * self._values[0]
        return start if n == 1 else start + _combine(weights.past[: n - 1], self._values[1:])

    def _note_dropped(self, weights: Weights, n: int) -> None:
        kept = len(self._values)
        lost = weights.past[kept:n].detach().double().abs().reshape(n - kept, -1).amax(1)
        if weights.first is not None:
            lost[-1] = weights.first[n - 1].detach().abs().max()
        sizes = torch.stack(self._sizes[: n - kept]).flip(0)
        self.dropped = max(self.dropped, float(lost @ sizes))


class _Combine(torch.autograd.Function):
    """``Σ_k w_k m_{n-k}`` that keeps references to the memory, so that N steps hold N states and not N²/2."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, *memory: Tensor) -> Tensor:
        ctx.save_for_backward(weights, *memory)
        total = weights[0] * memory[-1]
        for w, m in zip(weights[1:], memory[-2::-1], strict=True):
            total.addcmul_(w, m)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        weights, *memory = ctx.saved_tensors
        grad_weights = None
        if ctx.needs_input_grad[0]:
            grad_weights = torch.stack([_inner(grad, m, weights.shape[1:]) for m in reversed(memory)])
        needed = ctx.needs_input_grad[1:]
        return grad_weights, *(w * grad if need else None for w, need in zip(weights.flip(0), needed, strict=True))


def _inner(grad: Tensor, value: Tensor, shape: torch.Size) -> Tensor:
    """``grad · value`` summed to the shape of a weight; for a scalar weight in one pass, without the product's copy."""
    return (grad * value).sum_to_size(shape) if shape else torch.dot(grad.reshape(-1), value.reshape(-1))


def _combine(weights: Tensor, memory: list[Tensor]) -> Tensor:
    """``weights`` (k, …), latest first, is a view of the whole run's: saving it for the backward pass costs nothing."""
    return _Combine.apply(weights, *memory)  # type: ignore[no-any-return, no-untyped-call]
