"""Implicit steps: the equation solved, against closed forms, and differentiated."""

from collections import deque

import pytest
import torch

from fdmvgcl.fractional import SCHEMES, fdeint
from fdmvgcl.fractional.implicit import fixed_point
from fdmvgcl.fractional.schemes import march

every_implicit_scheme = pytest.mark.parametrize("scheme", [s.name for s in SCHEMES.values() if s.implicit])


@every_implicit_scheme
@pytest.mark.parametrize("rate", [0.5, 2.0, 40.0])
def test_implicit_steps_equal_the_closed_form(scheme: str, rate: float) -> None:
    """At step 1 the fixed-point iteration itself would diverge at the larger rates."""
    rates = torch.linspace(0, rate, 12, dtype=torch.float64)
    alpha = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
    one = torch.ones((), dtype=torch.float64)
    (exact,) = deque(
        march(
            SCHEMES[scheme],
            lambda n, y: -rates * y,
            torch.ones_like(rates),
            alpha,
            one,
            6,
            solve=lambda n, known, gain: known / (1 + gain * rates),
        ),
        maxlen=1,
    )
    ours = fdeint(lambda t, y: -rates * y, torch.ones_like(rates), alpha, 6.0, steps=6, scheme=scheme)
    torch.testing.assert_close(ours, exact, rtol=0, atol=1e-11)
    slope, exact_slope = (torch.autograd.grad(y.sum(), alpha)[0] for y in (ours, exact))
    torch.testing.assert_close(slope, exact_slope, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
@pytest.mark.parametrize("gain", [0.5, 2.0, 10.0, 60.0])
def test_fixed_point_of_a_linear_map_that_need_not_contract(gain: float, dtype: torch.dtype, tolerance: float) -> None:
    rates = torch.linspace(0, gain, 300, dtype=dtype)
    known = torch.cos(torch.arange(300, dtype=dtype))
    y = fixed_point(lambda y: known - rates * y, known, tolerance=tolerance, scale=1.0)
    torch.testing.assert_close(y, known / (1 + rates), rtol=0, atol=2 * tolerance)


@pytest.mark.parametrize("known", [[0.3], [10.0, 2.0, 0.5], [1000.0, 1.0], list(range(100))])
def test_fixed_point_far_from_linear(known: list[float]) -> None:
    """``y + y³ = known``: where the accelerated iteration gives up, Newton's method takes over."""
    target = torch.tensor(known, dtype=torch.float64)
    y = fixed_point(lambda y: target - y**3, target, tolerance=1e-12, scale=max(known))
    torch.testing.assert_close(y + y**3, target, rtol=1e-10, atol=1e-10)


def test_fixed_point_at_zero() -> None:
    zero = torch.zeros(3)
    assert torch.equal(fixed_point(lambda y: -2 * y, zero, tolerance=1e-6, scale=0.0), zero)


def test_an_implicit_step_without_solution_says_what_is_left() -> None:
    with pytest.raises(RuntimeError, match=r"tolerance of 1e-12: a residual of .* use a smaller step"):
        fdeint(lambda t, y: 1 + y * y, torch.ones(1, dtype=torch.float64), 0.9, 4.0, steps=1, scheme="l1")


def test_implicit_schemes_refuse_second_derivatives() -> None:
    y0, alpha = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (1.0, 0.5))
    y = fdeint(lambda t, y: -y, y0, alpha, 1.0, steps=3, scheme="l1")
    (slope,) = torch.autograd.grad(y, alpha, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.backward()
