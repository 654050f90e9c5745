"""Diffused features for every order at once: the Chebyshev terms that all responses are sums of."""

import torch
from torch import Tensor

from fdmvgcl.diffusion.kernels import CHEBYSHEV, sparse_product
from fdmvgcl.diffusion.linear import TOLERANCE
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients
from fdmvgcl.graphs.operators import Operator


def diffusion_basis(x: Tensor, operator: Operator, spec: Filter, *, smallest_alpha: float) -> Tensor:
    """``T_j(-Ā) X`` of X (N, F) for as many j as any order in [ε, 1] needs at the filter's times, shape (J, N, F)."""
    orders = torch.linspace(smallest_alpha, 1.0, 33, dtype=torch.float64)
    widest = max(
        chebyshev_coefficients(
            Filter(orders, torch.as_tensor(time), spec.scheme, spec.step, spec.skip, spec.skip_weight),
            TOLERANCE[x.dtype],
        ).shape[1]
        for time in set(spec.time.detach().flatten().tolist())
    )
    if operator.similarity is not None:
        x = x * operator.similarity[:, None]
    terms = x.new_empty(widest, *x.shape)
    terms[0] = x
    for j in range(1, widest):
        product = sparse_product(operator.csr, terms[j - 1])
        terms[j] = CHEBYSHEV.first * product if j == 1 else CHEBYSHEV.factor * product - CHEBYSHEV.back * terms[j - 2]
    return terms
