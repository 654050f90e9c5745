"""What tells whether an embedding is healthy: without labels, and, where there are some, with them.

Pure functions of tensors. Those whose cost grows with the square of the nodes take at most ``rows`` of them, evenly
spaced, the same every time.
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.errors import ArgumentError
from fdmvgcl.losses import cosmean, ring, unit_rows
from fdmvgcl.machine import one_thread

SAMPLE = 512
# Rows that training looks at in every epoch. On SAMPLE rows effective_rank takes 3.5 % of one (Cora, 5 views of 512
# columns, one core), and K spectra would take 15 %; on these all else takes 4.5 % together, none above 2 %.
PAIR_ROWS, VIEW_ROWS, SPECTRUM_LENGTH = 256, 128, 16


def sample_rows(x: Tensor, limit: int = SAMPLE) -> Tensor:
    """At most ``limit`` rows of x (…, N, d), evenly spaced; the same rows every time."""
    count = x.shape[-2]
    if count <= limit:
        return x
    return x[..., torch.linspace(0, count - 1, limit, device=x.device).round().long(), :]


def significant(values: Any, digits: int = 6) -> Any:
    """A number, or nested lists of them, to so many significant digits, None for what JSON has no number for.

    Six digits are what float32 has.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim:
        return [significant(each, digits) for each in array]
    return float(f"{array.item():.{digits}g}") if np.isfinite(array) else None


# -- directions that are used -----------------------------------------------------------------------------------------


def effective_rank(x: Tensor) -> float:
    """RankMe: ``exp(-Σ p_i log p_i)`` with ``p_i = σ_i / Σ σ``, of the rows (N, d); on a sample of 512 of them.

    From 1 (all rows on one line) to min(N, d, 512) (all directions used alike).
    """
    rows = sample_rows(x)
    with one_thread():
        singular = torch.linalg.eigvalsh(_smaller_gram(rows)).clamp(min=0).sqrt()
    share = singular / singular.sum().clamp(min=torch.finfo(singular.dtype).tiny)
    share = share[share > 0]
    return float(torch.exp(-(share * share.log()).sum())) if len(share) else 0.0


def component_spectrum(x: Tensor, *, rows: int = SAMPLE) -> Tensor:
    """Shares of the variance along the principal components, ``σ_i² / Σ σ²`` of the centred rows, descending.

    Args:
        x: shape (…, N, d); of each matrix at most ``rows`` rows are used. The fewer, the larger the first shares.

    Returns:
        Shape (…, min(n, d)) for n rows used; adds up to 1, or all 0 if the rows are equal.
    """
    gram = _smaller_gram(_levelled(sample_rows(x, rows)))
    with one_thread():
        variance: Tensor = torch.linalg.eigvalsh(gram).flip(-1).clamp(min=0)
    return variance / variance.sum(-1, keepdim=True).clamp(min=torch.finfo(variance.dtype).tiny)


# -- views compared ---------------------------------------------------------------------------------------------------


def view_similarity(views: Tensor) -> list[float]:
    """Mean cosine of a node's rows in each view and the next, in [-1, 1], for views (K, N, d); on a sample of nodes.

    One number for each pair of the ring: K, or 1 if K = 2.
    """
    rows = sample_rows(views)
    return [1 - cosmean(rows[a], rows[b]).item() for a, b in ring(len(views))]


def cka(first: Tensor, second: Tensor, *, rows: int = SAMPLE) -> float:
    """Linear centred kernel alignment ``‖AᵀB‖² / (‖AᵀA‖ ‖BᵀB‖)`` (Kornblith et al. 2019), columns centred.

    In [0, 1]; 1 if the two are the same up to a rotation and a scale, 0 if a column of one tells nothing linear of any
    of the other, or if all rows of one are equal. With n rows and d columns, unrelated matrices have about d / (d + n)
    rather than 0: compare numbers with the same n and d only.

    Args:
        first, second: shapes (N, d) and (N, e); at most ``rows`` nodes are used.
    """
    a, b = (_levelled(sample_rows(x, rows)) for x in (first, second))
    if len(a) < max(a.shape[1], b.shape[1]):
        return _gram_cosine(a @ a.T, b @ b.T)
    across, norms = (a.T @ b).square().sum(), (a.T @ a).norm() * (b.T @ b).norm()
    return float(across / norms) if norms > 0 else 0.0


def alignment(first: Tensor, second: Tensor) -> float:
    """``(1/N) Σ_i ‖u_i - v_i‖²`` of the rows of two views (N, d), each scaled to length 1 (Wang & Isola 2020).

    In [0, 4]: 0 if every node points the same way in both, 2 if at right angles.
    """
    return (unit_rows(first) - unit_rows(second)).square().sum(-1).mean().item()


def uniformity(x: Tensor, *, rows: int = SAMPLE) -> float:
    """``log mean exp(-2 ‖u_i - u_j‖²)`` over pairs of rows of x (N, d), scaled to length 1 (Wang & Isola 2020).

    In [-8, 0]: 0 if all rows point the same way (or there is but one), about -4 if they are spread evenly in many
    dimensions. At most ``rows`` rows are used.
    """
    unit = unit_rows(sample_rows(x, rows))
    count = len(unit)
    if count < 2:
        return 0.0
    squared = _squared_distances(unit).fill_diagonal_(math.inf)
    return math.log(squared.mul_(-2).exp_().sum().item() / (count * (count - 1)))


def describe_views(views: Tensor) -> dict[str, Any]:
    """What an epoch's record tells of the views (K, N, d) without labels, as JSON can hold it.

    ``view_similarity``, ``cka`` and ``alignment`` have a number for each pair of the ring, ``uniformity`` one for each
    view, ``spectrum`` the first 16 of :func:`component_spectrum` for each view. On 512, 256, 256, 128 and 128 rows.
    """
    pairs = ring(len(views))
    with one_thread():
        rows = sample_rows(views, PAIR_ROWS)
        fewer = sample_rows(rows, VIEW_ROWS)
        shifted, unit = _levelled(rows), unit_rows(rows)
        grams = shifted @ shifted.mT  # one for each view, where cka() would take two for each pair
        spectrum = component_spectrum(fewer)[:, :SPECTRUM_LENGTH]
        return {
            "view_similarity": view_similarity(views),
            "cka": [_gram_cosine(grams[a], grams[b]) for a, b in pairs],
            "alignment": [(unit[a] - unit[b]).square().sum(-1).mean().item() for a, b in pairs],
            "uniformity": [uniformity(view) for view in fewer],
            "spectrum": significant(spectrum.tolist()),
        }


# -- with labels ------------------------------------------------------------------------------------------------------


def class_ratio(x: Tensor, labels: Tensor, *, classes: int | None = None, rows: int = SAMPLE) -> Tensor:
    """FD-MVGCL's ``r_c = d_c^inter / d_c^intra``: how far nodes of class c are from others, beside from each other.

    d_c^intra is the mean Euclidean distance of pairs of different nodes of class c, d_c^inter that of a node of class c
    and one of another class. Above 1 where the class keeps together; about 1 where it cannot be told by distance.

    Args:
        x: shape (…, N, d).
        labels: class of each node, -1 for none, shape (N,); at most ``rows`` of the labelled nodes are used.
        classes: number C of classes; without it, the highest label and one.

    Returns:
        Shape (…, C); NaN for a class with fewer than two of the nodes used, or all of them; infinite for one whose
        nodes coincide.
    """
    known = sample_rows(labels.ge(0).nonzero(), rows)[:, 0]
    count = classes if classes is not None else int(labels.max()) + 1
    members = torch.nn.functional.one_hot(labels[known], count).to(x)
    distance = _squared_distances(_levelled(x[..., known, :])).sqrt_()
    distance.diagonal(dim1=-2, dim2=-1).zero_()
    sums = members.T @ (distance @ members)  # (…, C, C), a pair within a class twice
    within = sums.diagonal(dim1=-2, dim2=-1)
    size = members.sum(0)
    intra = within / (size * (size - 1)).clamp(min=0)
    return (sums.sum(-1) - within) / (size * (len(known) - size)) / intra


def neighbour_homophily(z: Tensor, labels: Tensor, k: int = 10, *, rows: int = SAMPLE) -> float:
    """Share of a node's k nearest neighbours by cosine that have its label, in [0, 1], mean over nodes.

    Args:
        z: shape (N, d).
        labels: class of each node, -1 for none, shape (N,). Neighbours are sought among all labelled nodes, of at most
            ``rows`` of them; a node is not its own neighbour.
        k: how many neighbours, fewer than there are labelled nodes.
    """
    known = labels.ge(0).nonzero()[:, 0]
    if not 1 <= k < len(known):
        raise ArgumentError("k", f"must lie in [1, {len(known) - 1}] for {len(known)} labelled nodes, got {k}")
    unit, label = unit_rows(z[known]), labels[known]
    asked = sample_rows(torch.arange(len(known), device=z.device)[:, None], rows)[:, 0]
    cosine = unit[asked] @ unit.T
    cosine[torch.arange(len(asked), device=z.device), asked] = -math.inf
    nearest = cosine.topk(k).indices
    return (label[nearest] == label[asked][:, None]).float().mean().item()


# -- parts ------------------------------------------------------------------------------------------------------------


def _levelled(x: Tensor) -> Tensor:
    """Rows of x (…, n, d) centred, over their largest entry: for what is blind to both, so that no digits are lost to a
    shift common to all rows, and squares neither overflow nor vanish."""
    shifted = x - x.mean(-2, keepdim=True)
    largest = torch.linalg.vector_norm(shifted, math.inf, (-2, -1), keepdim=True)
    return shifted / torch.where(largest > 0, largest, 1.0)


def _smaller_gram(x: Tensor) -> Tensor:
    """``x xᵀ`` or ``xᵀ x``, which have the same eigenvalues but for zeros."""
    return x @ x.mT if x.shape[-2] < x.shape[-1] else x.mT @ x


def _gram_cosine(first: Tensor, second: Tensor) -> float:
    norms = first.norm() * second.norm()
    return float((first * second).sum() / norms) if norms > 0 else 0.0


def _squared_distances(x: Tensor) -> Tensor:
    """Between the rows of x (…, n, d), shape (…, n, n). In place, as its time is all memory traffic."""
    square = x.square().sum(-1)
    return (x @ x.mT).mul_(-2).add_(square[..., :, None]).add_(square[..., None, :]).clamp_(min=0)
