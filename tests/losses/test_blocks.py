"""Losses taken in blocks of rows: the terms and the gradients of all rows at once."""

import pytest
import torch
from torch import Tensor

from fdmvgcl.losses import LOSSES, Loss, make_loss
from fdmvgcl.losses.direction import dominant_direction, gram_direction

ROWS, TERMS, COLUMNS, WIDTH, VIEWS = 97, 3, 6, 5, 3
NAMES = tuple(LOSSES)


class Scene:
    """Views ``σ(Σ_j α_k^j M_j W_k)``, whose weights and orders are learnt, as an encoder over a basis makes them."""

    def __init__(self, dtype: torch.dtype, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        rows = torch.randn(TERMS, ROWS, COLUMNS, generator=generator, dtype=torch.float64)
        self.basis = (rows * torch.linspace(0.3, 2, COLUMNS) + torch.linspace(0, 1, COLUMNS)).to(dtype)
        self.basis[:, 11] = 0  # a node without features
        self.weight = torch.randn(VIEWS, COLUMNS, WIDTH, generator=generator, dtype=torch.float64).to(dtype)
        self.weight.requires_grad_()
        self.alpha = torch.linspace(0.2, 0.9, VIEWS, dtype=torch.float64).requires_grad_()

    def views(self, low: int = 0, high: int = ROWS) -> Tensor:
        mix = self.alpha[:, None] ** torch.arange(TERMS)
        diffused = torch.einsum("kj,jnf->knf", mix.to(self.basis), self.basis[:, low:high])
        return torch.nn.functional.leaky_relu(diffused @ self.weight, 0.25)

    def gradients(self, value: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad(value, (self.weight, self.alpha))


def in_blocks(loss: Loss, scene: Scene, size: int) -> tuple[dict[str, Tensor], list[Tensor]]:
    """Terms and gradients by two passes over blocks of ``size`` rows."""
    blocks = [(low, min(low + size, ROWS)) for low in range(0, ROWS, size)]
    with torch.no_grad():
        each = [loss.statistics(scene.views(*block)) for block in blocks]
    assert all(value.dtype == torch.float64 for value in each[0].values())
    terms, slopes = loss.slopes({name: sum(sums[name] for sums in each) for name in each[0]}, ROWS)  # type: ignore
    found = [scene.gradients(loss.rows(scene.views(*block), slopes)) for block in blocks]
    return terms, [torch.stack([part.double() for part in parts]).sum(0) for parts in zip(*found, strict=True)]


@pytest.mark.parametrize("size", [1, 16, ROWS])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_blocks_give_the_loss_and_the_gradients_of_all_rows(name: str, dtype: torch.dtype, size: int) -> None:
    loss, scene = make_loss(name), Scene(dtype)
    expected = loss(scene.views())
    wanted = scene.gradients(loss.total(expected))
    terms, found = in_blocks(loss, scene, size)
    assert set(terms) == set(expected)
    for term, value in expected.items():
        assert terms[term].item() == pytest.approx(value.item(), rel=1e-6, abs=1e-6), term
    for got, want in zip(found, wanted, strict=True):
        assert (got - want).norm() <= 1e-5 * want.norm()


@pytest.mark.parametrize("name", ["barlow-twins", "cca-ssg", "vicreg"])
def test_columns_that_are_constant_add_what_they_add_to_all_rows(name: str) -> None:
    loss, scene = make_loss(name), Scene(torch.float32)
    with torch.no_grad():
        scene.weight[..., 1] = 0
    expected = loss(scene.views())
    terms, found = in_blocks(loss, scene, 16)
    for term, value in expected.items():
        assert terms[term].item() == pytest.approx(value.item(), rel=1e-6)
    for got, want in zip(found, scene.gradients(loss.total(expected)), strict=True):
        assert bool(got.isfinite().all())
        assert (got - want).norm() <= 1e-5 * want.norm()


def test_means_far_above_the_deviations_cost_no_digits() -> None:
    """Where a covariance is the small difference of large sums."""
    views = 300 + torch.randn(2, 400, 3, generator=torch.Generator().manual_seed(0))
    for name in ("barlow-twins", "cca-ssg", "vicreg"):
        loss = make_loss(name)
        terms = loss.finish(loss.statistics(views), 400)
        for term, value in loss(views.double()).items():
            assert terms[term].item() == pytest.approx(value.item(), rel=1e-6), (name, term)


def test_a_weight_of_zero_leaves_the_direction_out() -> None:
    loss, scene = make_loss("regularised-cosmean", eta=0.0), Scene(torch.float64)
    terms, found = in_blocks(loss, scene, 16)
    assert set(terms) == {"cosmean"}
    for got, want in zip(found, scene.gradients(loss(scene.views())["cosmean"]), strict=True):
        assert torch.allclose(got, want)


@pytest.mark.parametrize(
    "x",
    [
        torch.zeros(4, 3),
        torch.tensor([[1.0, 0.0], [-1.0, 0.0]]),
        torch.randn(9, 4, generator=torch.Generator().manual_seed(0)),
    ],
)
def test_the_direction_by_the_gram_matrix_is_that_of_the_rows(x: Tensor) -> None:
    x = x.double().requires_grad_()
    found = gram_direction(x.T @ x, x.detach().sum(0), tolerance=1e-12)
    expected = dominant_direction(x, tolerance=1e-12)
    assert torch.allclose(found, expected)
    slopes = [torch.autograd.grad(each[1], x)[0] for each in (found, expected)]
    assert torch.allclose(slopes[0], slopes[1], atol=1e-9)


def test_a_loss_of_ones_own_need_not_take_blocks() -> None:
    class Own(Loss):
        def forward(self, views: Tensor) -> dict[str, Tensor]:
            return {"own": views.square().sum()}

    assert not Own().takes_blocks
    assert all(make_loss(name).takes_blocks for name in NAMES)
