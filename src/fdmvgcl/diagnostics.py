"""What tells, without labels, whether an embedding is healthy."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from fdmvgcl.losses import unit_rows

SAMPLE = 512


@contextmanager
def one_thread() -> Iterator[None]:
    """For small decompositions, which threads slow down (a hundredfold where the machine is shared)."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def sample_rows(x: Tensor, limit: int = SAMPLE) -> Tensor:
    """At most ``limit`` rows of x (…, N, d), evenly spaced; the same rows every time."""
    count = x.shape[-2]
    if count <= limit:
        return x
    return x[..., torch.linspace(0, count - 1, limit, device=x.device).round().long(), :]


def effective_rank(x: Tensor) -> float:
    """RankMe: ``exp(-Σ p_i log p_i)`` with ``p_i = σ_i / Σ σ``, of the rows (N, d); on a sample of 512 of them.

    From 1 (all rows on one line) to min(N, d, 512) (all directions used alike).
    """
    rows = sample_rows(x)
    gram = rows @ rows.T if rows.shape[0] < rows.shape[1] else rows.T @ rows
    with one_thread():
        singular = torch.linalg.eigvalsh(gram).clamp(min=0).sqrt()
    share = singular / singular.sum().clamp(min=torch.finfo(singular.dtype).tiny)
    share = share[share > 0]
    return float(torch.exp(-(share * share.log()).sum())) if len(share) else 0.0


def view_similarity(views: Tensor) -> list[float]:
    """Mean cosine between each view and the next, for views (K, N, d); on a sample of nodes."""
    rows = unit_rows(sample_rows(views))
    return (rows * rows.roll(-1, 0)).sum(-1).mean(-1).tolist()
