"""The Mittag-Leffler function against independent high-precision values, and its derivatives."""

import math
from collections.abc import Callable
from functools import cache

import mpmath
import pytest
import torch
from pymittagleffler import mittag_leffler as reference
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from fdmvgcl.fractional import mittag_leffler

ALPHAS = (1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1.0)
ARGUMENTS = (0.0, 1e-8, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def grid() -> tuple[Tensor, Tensor]:
    alpha = torch.tensor(ALPHAS, dtype=torch.float64)[:, None].expand(-1, len(ARGUMENTS))
    x = torch.tensor(ARGUMENTS, dtype=torch.float64).expand(len(ALPHAS), -1)
    return alpha.clone().requires_grad_(), x.clone().requires_grad_()


def by_laplace(transform: Callable[[mpmath.mpc, mpmath.mpf, mpmath.mpf], mpmath.mpc]) -> Tensor:
    """Invert ``transform(s, α, x)`` at t = 1 on Talbot's contour with 16 digits, over the whole grid."""
    with mpmath.workdps(16):

        def invert(alpha: float, x: float) -> float:
            a, b = mpmath.mpf(alpha), mpmath.mpf(x)
            return float(mpmath.invertlaplace(lambda s: transform(s, a, b), 1, method="talbot"))

        return torch.tensor([[invert(a, x) for x in ARGUMENTS] for a in ALPHAS], dtype=torch.float64)


@cache
def oracle(which: str) -> Tensor:
    transforms = {
        "value": lambda s, a, x: s ** (a - 1) / (s**a + x),
        "alpha": lambda s, a, x: x * s ** (a - 1) * mpmath.log(s) / (s**a + x) ** 2,
        "x": lambda s, a, x: -(s ** (a - 1)) / (s**a + x) ** 2,
    }
    return by_laplace(transforms[which])


def by_series(alpha: float, x: float) -> tuple[float, float]:
    """E_α(-x) and its derivative in α by the power series, with digits to spare for its cancellation."""
    largest_term = x ** (1 / alpha) / math.log(10)
    with mpmath.workdps(40 + int(2 * largest_term)):
        a, z = mpmath.mpf(alpha), -mpmath.mpf(x)
        terms = range(int(20 * (10 + x ** (1 / alpha)) / alpha))
        value = mpmath.fsum(z**k * mpmath.rgamma(a * k + 1) for k in terms)
        slope = mpmath.fsum(-k * z**k * mpmath.rgamma(a * k + 1) * mpmath.digamma(a * k + 1) for k in terms[1:])
        return float(value), float(slope)


def assert_close(actual: Tensor, expected: Tensor, *, relative: float, absolute: float) -> None:
    error = (actual.detach() - expected).abs()
    worst = (error / (relative * expected.abs()).clamp(min=absolute)).max()
    assert worst <= 1, f"{worst:.3g} times the allowed error"


@pytest.mark.parametrize(("alpha", "x"), [(0.1, 0.5), (0.3, 1.2), (0.5, 3.0), (0.8, 9.0), (1 - 1e-6, 5.0), (1.0, 20.0)])
def test_the_oracle_agrees_with_the_power_series(alpha: float, x: float) -> None:
    """Contour and series share nothing, so where both hold they vouch for each other, and for us."""
    value, slope = by_series(alpha, x)
    order = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    ours = mittag_leffler(order, x)
    ours.backward()
    assert ours.item() == pytest.approx(value, rel=1e-11, abs=1e-14)
    assert order.grad.item() == pytest.approx(slope, rel=1e-9, abs=1e-13)


def test_values_agree_with_mpmath() -> None:
    assert_close(mittag_leffler(*grid()), oracle("value"), relative=1e-10, absolute=1e-12)


def test_values_agree_with_pymittagleffler() -> None:
    expected = [[complex(reference(-x, alpha, 1.0)).real for x in ARGUMENTS] for alpha in ALPHAS]
    expected = torch.tensor(expected, dtype=torch.float64)
    assert_close(mittag_leffler(*grid()), expected, relative=1e-10, absolute=1e-12)


@pytest.mark.parametrize("which", ["alpha", "x"])
def test_derivatives_agree_with_mpmath(which: str) -> None:
    alpha, x = grid()
    mittag_leffler(alpha, x).sum().backward()
    gradient = {"alpha": alpha, "x": x}[which].grad
    assert_close(gradient, oracle(which), relative=1e-6, absolute=1e-9)


def test_special_cases() -> None:
    x = torch.linspace(0, 5, 21, dtype=torch.float64)
    torch.testing.assert_close(mittag_leffler(0.5, x), torch.special.erfcx(x), rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(mittag_leffler(1.0, x), torch.exp(-x), rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(mittag_leffler(1e-9, x), 1 / (1 + x), rtol=0, atol=1e-8)
    torch.testing.assert_close(
        mittag_leffler(torch.tensor(ALPHAS, dtype=torch.float64), 0.0), torch.ones(len(ALPHAS), dtype=torch.float64)
    )


def test_gradcheck() -> None:
    alpha = torch.tensor([0.05, 0.4, 0.75, 0.999], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([[0.01], [1.0], [7.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(mittag_leffler, (alpha, x))
    assert gradgradcheck(mittag_leffler, (alpha, x))


def test_gradients_are_finite_on_the_whole_domain() -> None:
    alpha, x = grid()
    mittag_leffler(alpha, x).sum().backward()
    assert alpha.grad.isfinite().all()
    assert x.grad.isfinite().all()


def test_single_precision_is_rounded_double_precision() -> None:
    alpha, x = (v.detach().float() for v in grid())
    value = mittag_leffler(alpha, x)
    assert value.dtype == torch.float32
    assert torch.equal(value, mittag_leffler(alpha.double(), x.double()).float())


def test_arguments_broadcast_and_numbers_take_the_others_dtype() -> None:
    alpha, x = torch.rand(3, 1), torch.rand(4)
    value = mittag_leffler(alpha, x)
    assert value.shape == (3, 4)
    torch.testing.assert_close(value[1, 2], mittag_leffler(alpha[1, 0], x[2]))
    assert mittag_leffler(0.5, x).dtype == torch.float32
    assert mittag_leffler(0.5, 2.0).dtype == torch.float64
    assert mittag_leffler(1, torch.tensor([1, 2])).dtype == torch.float64


@pytest.mark.parametrize(
    ("alpha", "x", "message"),
    [
        (1.3, 1.0, r"alpha must lie in \(0, 1\], got 1.3"),
        (1 + 1e-9, 1.0, r"alpha must lie in \(0, 1\], got 1.000000001"),
        (0.0, 1.0, r"alpha must lie in \(0, 1\], got 0.0"),
        (math.nan, 1.0, r"alpha must lie in \(0, 1\], got nan"),
        (0.5, -2.0, "x must be finite and not negative, got -2.0"),
        (0.5, math.inf, "x must be finite and not negative, got inf"),
    ],
)
def test_bad_input(alpha: float, x: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mittag_leffler(alpha, torch.tensor([0.5, x], dtype=torch.float64))
