"""Golden values of the cosine losses, and the dominant direction against an SVD."""

import math

import pytest
import torch
from torch import Tensor

from fdmvgcl.losses import Cosmean, RegularisedCosmean, cosmean, dominant_direction, ring, unit_rows

D = torch.float64


def spread(nodes: int = 12, width: int = 5, seed: int = 0) -> Tensor:
    """A matrix with well separated singular values."""
    generator = torch.Generator().manual_seed(seed)
    u = torch.linalg.qr(torch.randn(nodes, width, dtype=D, generator=generator)).Q
    v = torch.linalg.qr(torch.randn(width, width, dtype=D, generator=generator)).Q
    return u @ torch.diag(torch.tensor([4.0, 2.0, 1.0, 0.5, 0.1], dtype=D)) @ v.T


def by_svd(x: Tensor) -> Tensor:
    return torch.linalg.svd(x, full_matrices=False).Vh[0]


def test_cosmean_golden_values() -> None:
    a = torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    b = torch.tensor([[2.0, 0.0], [4.0, 3.0], [0.0, -1.0]])
    assert cosmean(a, b).item() == pytest.approx(1 - (1 + 24 / 25 - 1) / 3)
    assert cosmean(a, a).item() == pytest.approx(0, abs=1e-6)
    assert cosmean(a, -a).item() == pytest.approx(2)


def test_zero_rows_have_cosine_zero_and_no_gradient() -> None:
    a = torch.tensor([[0.0, 0.0], [1.0, 1.0]], requires_grad=True)
    b = torch.tensor([[1.0, 2.0], [1.0, 0.0]], requires_grad=True)
    loss = cosmean(a, b)
    loss.backward()
    assert loss.item() == pytest.approx(1 - math.sqrt(0.5) / 2)
    assert a.grad is not None
    assert torch.equal(a.grad[0], torch.zeros(2))
    assert torch.equal(b.grad[0], torch.zeros(2))
    x = torch.zeros(2, 3, requires_grad=True)
    unit_rows(x).sum().backward()
    assert torch.equal(x.grad, torch.zeros(2, 3))


def test_dominant_direction_equals_svd() -> None:
    x = spread()
    found = dominant_direction(x, tolerance=1e-12)
    assert (found @ by_svd(x)).abs().item() == pytest.approx(1, abs=1e-12)
    assert found.norm().item() == pytest.approx(1)


def test_dominant_direction_gradient_equals_svd() -> None:
    aim = torch.randn(5, dtype=D, generator=torch.Generator().manual_seed(3))
    slopes = []
    for direction in (lambda x: dominant_direction(x, tolerance=1e-12), by_svd):
        x = spread().requires_grad_()
        slopes.append(torch.autograd.grad((direction(x) @ aim).abs(), x)[0])
    assert torch.allclose(slopes[0], slopes[1], atol=1e-9)
    x = spread().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: (dominant_direction(x, tolerance=1e-13) @ aim).abs(), (x,), atol=1e-5)


@pytest.mark.parametrize("x", [torch.zeros(4, 3), torch.ones(1, 1), torch.tensor([[1.0, 0.0], [-1.0, 0.0]])])
def test_dominant_direction_of_degenerate_matrices(x: Tensor) -> None:
    x = x.clone().requires_grad_()
    found = dominant_direction(x)
    found.sum().backward()
    assert found.norm().item() == pytest.approx(1)
    assert x.grad is not None
    assert bool(x.grad.isfinite().all())


def test_regularised_cosmean_adds_the_pairs_and_the_directions() -> None:
    views = torch.stack([spread(seed=s) for s in range(3)])
    terms = RegularisedCosmean(0.3)(views)
    assert terms["cosmean"].item() == pytest.approx(sum(cosmean(views[a], views[b]).item() for a, b in ring(3)))
    directions = [by_svd(v) for v in views]
    expected = sum((directions[a] @ directions[b]).abs().item() for a, b in ring(3))
    assert terms["direction"].item() == pytest.approx(expected, abs=1e-4)
    assert RegularisedCosmean(0.3).weights == {"cosmean": 1.0, "direction": 0.3}
    assert set(RegularisedCosmean(0.0)(views)) == {"cosmean"}


def test_plain_cosmean_is_the_regularised_one_without_its_penalty() -> None:
    views = torch.stack([spread(seed=s) for s in range(4)])
    assert Cosmean()(views)["cosmean"].item() == RegularisedCosmean(0.5)(views)["cosmean"].item()
    assert Cosmean().weights == {"cosmean": 1.0}
