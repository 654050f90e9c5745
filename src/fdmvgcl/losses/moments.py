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
    rounding = (16 * torch.finfo(x.dtype).eps) ** 2 * x.square().mean(0)
    varies = variance > rounding
    scale = torch.where(varies, torch.where(varies, variance, 1.0).rsqrt(), 0.0)
    return shifted * scale


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
    product = first.T @ second
    return (product - torch.diag(product.diagonal())).square().sum()
