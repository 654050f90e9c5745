"""Starts for projections that a graph itself suggests."""

import torch
from torch import Tensor

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.machine import one_thread

# Of the diffusion whose loss is whitened.
ALPHA = 0.5

# The F × F matrix and its eigenvectors take 1.5 GB at this width, and minutes.
LARGEST_WIDTH = 8192

# Rounds of subspace iteration, and how many rows are taken to float64 at once.
_ROUNDS, _BLOCK = 8, 1 << 14


def whitening(operator: Operator, x: Tensor, time: float) -> Tensor:
    """``M = c (S + ρ I)^(-1/2)`` with ``S = (X - H)ᵀ(X - H) / N`` and ``H = φ(L) X``, shape (F, F).

    S is the scatter of what diffusion takes away: where nodes resemble their neighbours it stands for the scatter
    within classes, which a linear classifier would like to have whitened, without a label. The ridge ρ is the mean of
    S's diagonal, so that directions with next to no scatter are not blown up, and c keeps the mean square length of X's
    rows. The identity where diffusion changes nothing.

    Args:
        operator: Ā.
        x: features X, shape (N, F).
        time: of the diffusion, whose order is 1/2.

    Raises:
        ValueError: if X has more than 8192 columns; the eigenvectors of an F × F matrix are needed.
    """
    if x.shape[1] > LARGEST_WIDTH:
        raise UserError(f"initialisation 'whitened' takes at most {LARGEST_WIDTH} feature columns, got {x.shape[1]}")
    full = x.double()
    lost = full - diffuse(operator, x, ALPHA, time).detach()
    scatter = lost.T @ lost / len(x)
    ridge = scatter.diagonal().mean()
    rounding = (16 * torch.finfo(x.dtype).eps) ** 2
    if ridge <= rounding * full.square().mean():
        return torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
    variances, directions = torch.linalg.eigh(scatter)
    root = (directions / (variances.clamp_min(0.0) + ridge).sqrt()) @ directions.T
    return torch.mul(root, full.norm() / (full @ root).norm()).to(x.dtype)


def principal_axes(features: FeatureMatrix, count: int) -> Tensor:
    """Orthonormal directions that span those along which X (N, F) is longest, shape (F, m), m = min(count, N, F).

    By subspace iteration from the same draw always, in float64 and one thread, so that neither how X is stored nor the
    number of threads shows.
    """
    width = features.matrix.shape[1]
    drawn = torch.randn(width, min(count, *features.matrix.shape), generator=torch.Generator().manual_seed(0))
    axes = drawn.double().to(features.matrix.device)
    with one_thread():
        for _ in range(_ROUNDS):
            axes = torch.linalg.qr(_scattered(features, axes))[0]
    return axes.float()


def _scattered(features: FeatureMatrix, axes: Tensor) -> Tensor:
    """``Xᵀ X A`` for directions A (F, m) in float64."""
    if features.transpose is None:
        found = torch.zeros_like(axes)
        for rows in features.matrix.split(_BLOCK):
            part = rows.double()
            found += part.T @ (part @ axes)
        return found
    along = features.matrix.double() @ axes
    if features.centre is None:
        return features.transpose.double() @ along
    centre = features.centre.double()
    along -= centre @ axes
    return features.transpose.double() @ along - torch.outer(centre, along.sum(0))
