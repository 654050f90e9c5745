"""How views are scaled before they are summed: diffused for long they shrink by orders, and β would mean little."""

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.settings import ViewScaling
from fdmvgcl.losses import unit_rows


def suggested_view_scaling(transform: FeatureTransform) -> ViewScaling:
    """``"view"`` where the features' magnitudes are kept, else ``"rows"``."""
    return "view" if transform.scaling == "none" and transform.columns else "rows"


def view_norms(views: Tensor) -> Tensor:
    """Root of the mean squared row length of each view, (K, N, d) -> (K,)."""
    return views.square().sum(-1).mean(-1).sqrt()


def norms_of_pieces(pieces: Iterable[Tensor]) -> Tensor:
    """The same of views that come in pieces (K, n, d)."""
    each = [(views.square().sum((1, 2), dtype=torch.float64), views.shape[1]) for views in pieces]
    return (torch.stack([square for square, _ in each]).sum(0) / sum(rows for _, rows in each)).sqrt().float()


def scale_views(views: Tensor, scaling: ViewScaling, norms: Tensor | NDArray[np.float32], anchored: int = 0) -> Tensor:
    """Views (K, N, d) with unit rows, or divided by one number each (``norms``, shape (K,)), or as they are.

    The last columns, those that are anchored, are a row of unit length by themselves: they count as much as the rest.
    """
    if scaling == "rows":
        parts = views.split([views.shape[-1] - anchored, anchored], dim=-1)
        return torch.cat([unit_rows(part) for part in parts], -1) if anchored else unit_rows(views)
    if scaling == "none":
        return views
    norms = torch.as_tensor(norms).to(views)
    return views / torch.where(norms > 0, norms, torch.ones_like(norms))[:, None, None]
