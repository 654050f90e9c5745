"""What an epoch's gradient is taken of: all rows at once, or one block of rows after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from fdmvgcl.diffusion.basis import Basis, DiffusionBasis, basis_weights, blocks
from fdmvgcl.diffusion.group import ALONE, Group, Sums, add, doubled
from fdmvgcl.errors import ArgumentError
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.diagnostics import sample_rows
from fdmvgcl.learning.encoder import FeatureMatrix, MultiViewEncoder
from fdmvgcl.losses import Loss

# Parts that rows are shared out in: what a part's blocks add up to is added to the others' in a fixed order, so that
# the sum does not depend on who made it. As many processes can share in an epoch; 24 is even for most small numbers.
SHARES = 24


@dataclass(frozen=True, eq=False)
class Pass:
    """What an epoch's pass over the rows tells.

    Args:
        total: of the loss.
        terms: of it.
        views: detached, (K, n, d): of all rows, or of those that are looked at.
    """

    total: Tensor
    terms: dict[str, Tensor]
    views: Tensor


class Batch(Protocol):
    """What a trainer trains on."""

    def __call__(self, encoder: MultiViewEncoder, loss: Loss) -> Pass:
        """One pass; the loss's gradient is left in the encoder's parameters."""


@dataclass(frozen=True, eq=False)
class FullBatch:
    """All rows at once.

    Args:
        features, operator, basis: see :class:`~fdmvgcl.learning.encoder.MultiViewEncoder`.
        rows: of the views, those that the loss is taken of; None for all.
    """

    features: FeatureMatrix
    operator: Operator
    basis: DiffusionBasis | None = None
    rows: Tensor | None = None

    def __call__(self, encoder: MultiViewEncoder, loss: Loss) -> Pass:
        views = encoder(self.features, self.operator, self.basis)
        if self.rows is not None:
            views = views[:, self.rows]
        terms = loss(encoder.trained(views))
        total = loss.total(terms)
        total.backward()
        return Pass(total, terms, views.detach())


class Blocks:
    """Blocks of rows of a basis, each read, used and let go; the gradient is that of all rows, by two passes.

    Sums over blocks are in float64. Of the views, 512 evenly spaced rows are looked at.

    Args:
        basis: in memory or on disk.
        group: the processes that share in the rows.
    """

    def __init__(self, basis: Basis, group: Group = ALONE) -> None:
        self.basis, self.group = basis, group
        self._blocks = blocks(basis.shape[1])
        self._seen = basis.at(seen_rows(basis.shape[1]))

    def __call__(self, encoder: MultiViewEncoder, loss: Loss) -> Pass:
        if not loss.takes_blocks:
            raise ArgumentError("loss", f"must be sums over rows to be taken in blocks, got {type(loss).__name__}")
        weights = basis_weights(self.basis, encoder.filter)
        mix = weights.detach().to(self.basis.dtype).requires_grad_()

        def views(low: int, high: int) -> Tensor:
            return encoder.project(self.basis.rows(low, high).mixed(mix))

        def gradient(low: int, high: int) -> Sums:
            value = loss.rows(encoder.trained(views(low, high)), slopes)
            by_weight, by_mix = torch.autograd.grad(value, (encoder.weight, mix))
            return {"weight": by_weight, "mix": by_mix}

        with torch.no_grad():
            sums = self._summed(lambda low, high: loss.statistics(encoder.trained(views(low, high))))
            seen = encoder.project(self._seen.mixed(mix))
        terms, slopes = loss.slopes(sums, self.basis.shape[1])
        found = self._summed(gradient)
        encoder.weight.grad = found["weight"].to(encoder.weight)
        if weights.requires_grad:
            weights.backward(found["mix"].to(weights))
        return Pass(loss.total(terms), terms, seen)

    def _summed(self, part: Callable[[int, int], Sums]) -> Sums:
        """Over all blocks, each share of them by one process."""
        count = min(SHARES, len(self._blocks))

        def share(number: int) -> Sums:
            ends = [len(self._blocks) * each // count for each in (number, number + 1)]
            first, *rest = self._blocks[slice(*ends)]
            total = doubled(part(*first))
            for block in rest:
                add(total, part(*block))
            return total

        return self.group.summed(count, share)


def drawn_rows(rows: int, count: int | Literal["all"], seed: int) -> Tensor | None:
    """Numbers of so many rows, drawn by a seed, ascending; None where all are wanted."""
    if count == "all" or count >= rows:
        return None
    return torch.randperm(rows, generator=torch.Generator().manual_seed(seed))[:count].sort().values


def seen_rows(rows: int) -> Tensor:
    """Numbers of the rows that are looked at where not all views are there at once."""
    return sample_rows(torch.arange(rows)[:, None])[:, 0]


def view_pieces(encoder: MultiViewEncoder, basis: Basis) -> Iterator[Tensor]:
    """The views of all rows, a block (K, n, d) at a time."""
    with torch.no_grad():
        mix = basis_weights(basis, encoder.filter).to(basis.dtype)
        for low, high in blocks(basis.shape[1]):
            yield encoder.project(basis.rows(low, high).mixed(mix))
