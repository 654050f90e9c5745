"""Starts for projections that a graph itself suggests."""

import torch
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from torch import Tensor

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.encoder import FeatureMatrix

# Of the diffusion whose loss is whitened.
ALPHA = 0.5

# The F × F matrix and its eigenvectors take 1.5 GB at this width, and minutes.
LARGEST_WIDTH = 8192

# Rounds of the randomised decomposition.
_ROUNDS = 4


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
    """Orthonormal directions along which X (N, F) is longest, shape (F, m), m = min(count, N, F); always the same ones.

    Of a sparse table that has a centre they are those of the table before it is subtracted: one more, for the centre.
    """
    table = features.matrix.detach().cpu()
    if table.layout == torch.strided:
        rows = table.numpy()
    else:
        parts = (table.values().numpy(), table.col_indices().numpy(), table.crow_indices().numpy())
        rows = sparse.csr_array(parts, tuple(table.shape))
    axes = randomized_svd(rows, min(count, *rows.shape), n_iter=_ROUNDS, random_state=0)[2]
    return torch.from_numpy(axes.T.astype("float32")).to(features.matrix.device)
