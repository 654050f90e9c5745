"""Second moments of a view's columns, which the redundancy-reducing losses are made of."""

import torch
from torch import Tensor


def centred(x: Tensor) -> Tensor:
    """Columns of x (N, d) minus their means."""
    return x - x.mean(0)


def standardised(x: Tensor) -> Tensor:
    """Columns of x (N, d) with mean 0 and *biased* variance ``(1/N) Σ_i x_ij² = 1``.

    No constant is added to the variance: the entries of a view may be as small as 1e-3, where the usual 1e-5 would be
    most of it. Instead a column that is constant but for rounding (all are, if N = 1) becomes zero, without a gradient.
    """
    shifted = centred(x)
    variance = shifted.square().mean(0)
    return shifted * scales(variance, x.square().mean(0), x.dtype)


def off_diagonal_square(first: Tensor, second: Tensor) -> Tensor:
    """``Σ_{i≠j} (AᵀB)_ij²`` for A and B (N, d), by d×d or N×N matrices, whichever takes fewer products.

    The latter from ``‖AᵀB‖² = ⟨AAᵀ, BBᵀ⟩``. It subtracts the diagonal, which is safe there: AᵀB has a rank below d, so
    its off-diagonal part is not small beside its diagonal.
    """
    nodes, width = first.shape
    grams = 1 if first is second else 2
    if grams * nodes < width:
        gram = first @ first.T
        other = gram if first is second else second @ second.T
        return (gram * other).sum() - (first * second).sum(0).square().sum()
    return off_diagonal(first.T @ second).square().sum()


def off_diagonal(matrix: Tensor) -> Tensor:
    """Matrices (…, d, d) with a diagonal of zeros."""
    return matrix - torch.diag_embed(matrix.diagonal(dim1=-2, dim2=-1))


# -- of all rows, from sums over blocks of them -----------------------------------------------------------------------


def moment_sums(views: Tensor) -> dict[str, Tensor]:
    """Of views (K, n, d), the sum of their rows, (K, d), and of these' outer products, (K, d, d), in float64.

    As a covariance is the difference of two such sums, float32 would leave little of it where means are large.
    """
    x = views.double()
    return {"row": x.sum(1), "gram": x.mT @ x}


def covariances(sums: dict[str, Tensor], rows: int) -> Tensor:
    """Biased covariances (K, d, d) from the sums of all rows."""
    mean = sums["row"] / rows
    return sums["gram"] / rows - mean[:, :, None] * mean[:, None, :]


def scales(variance: Tensor, square: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """``1 / √variance``, 0 for a column that is constant but for rounding.

    Args:
        variance: of columns.
        square: mean squares of the same, not centred.
        dtype: that they were rounded to. Differences of sums in float64 tell no more than float32 does.
    """
    varies = variance > (16 * torch.finfo(dtype).eps) ** 2 * square
    return torch.where(varies, torch.where(varies, variance, 1.0).rsqrt(), 0.0)
