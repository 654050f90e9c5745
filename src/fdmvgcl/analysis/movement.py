"""How far nodes moved from one embedding to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.results.vectors import unit_rows


@dataclass(frozen=True)
class Movement:
    """Cosines of nodes' vectors before and after.

    Args:
        nodes: how many are in both.
        mean: mean cosine; None where no node is in both.
        furthest: id and cosine of those that moved most.
    """

    nodes: int
    mean: float | None
    furthest: tuple[tuple[str, float], ...] = ()


def movement(
    ids: Sequence[str],
    before: NDArray[np.float32],
    later_ids: Sequence[str],
    after: NDArray[np.float32],
    *,
    named: int = 3,
) -> Movement:
    """Compare rows of the same ids in vectors of one width; a node whose vector is zero in both has not moved."""
    number = {node: i for i, node in enumerate(later_ids)}
    pairs = np.array([(i, number[node]) for i, node in enumerate(ids) if node in number], dtype=np.int64)
    if not len(pairs):
        return Movement(0, None)
    old, new = unit_rows(before)[pairs[:, 0]], unit_rows(after)[pairs[:, 1]]
    cosines = np.einsum("ij,ij->i", old, new).astype(np.float64)
    cosines[~(old.any(axis=1) | new.any(axis=1))] = 1.0
    cosines = np.clip(cosines, -1, 1).round(6)
    order = np.argsort(cosines, kind="stable")[:named]
    furthest = tuple((ids[pairs[i, 0]], float(cosines[i])) for i in order if cosines[i] < 1)
    return Movement(len(pairs), float(cosines.mean()), furthest)
