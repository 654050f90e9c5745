"""What the schemes declare, their orders and stability limits, is measured; at α = 1 they are the known ODE methods."""

from collections import deque
from collections.abc import Callable, Iterator

import pytest
import torch
from scipy.special import binom
from torch import Tensor

from fdmvgcl.fractional import (
    GRUNWALD_LETNIKOV,
    L1,
    PECE,
    PREDICTOR,
    SCHEMES,
    TRAPEZOID,
    Scheme,
    find_scheme,
    mittag_leffler,
)
from fdmvgcl.fractional.history import History
from fdmvgcl.fractional.schemes import march

ALPHAS = torch.tensor([0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0], dtype=torch.float64)
EXPLICIT = [scheme for scheme in SCHEMES.values() if not scheme.implicit]

every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES.keys())


def march_linear(
    scheme: Scheme,
    alpha: Tensor,
    step: Tensor,
    steps: int,
    *,
    rate: Tensor | float = 1.0,
    source: Callable[[Tensor], Tensor] = torch.zeros_like,
    history: History | None = None,
) -> Iterator[Tensor]:
    """``D^α y = source(t) - rate · y``, y(0) = 1, its implicit steps solved in closed form."""

    def rhs(n: int, y: Tensor) -> Tensor:
        return source(n * step) - rate * y

    def solve(n: int, known: Tensor, gain: Tensor) -> Tensor:
        return (known + gain * source(n * step)) / (1 + gain * rate)

    return march(scheme, rhs, torch.ones_like(alpha), alpha, step, steps, solve=solve, history=history)


def last(states: Iterator[Tensor]) -> Tensor:
    return deque(states, maxlen=1)[0]


def cubic_source(t: Tensor) -> Tensor:
    """Makes y = 1 + t³ the solution."""
    return 6 / torch.exp(torch.lgamma(4 - ALPHAS)) * t ** (3 - ALPHAS) + 1 + t**3


def observed_order(scheme: Scheme, source: Callable[[Tensor], Tensor], exact: Tensor) -> Tensor:
    errors = []
    for steps in (160, 320):
        step = torch.tensor(1 / steps, dtype=torch.float64)
        errors.append((last(march_linear(scheme, ALPHAS, step, steps, source=source)) - exact).abs())
    return torch.log2(errors[0] / errors[1])


def assert_order(scheme: Scheme, observed: Tensor, declared: Callable[[float], float]) -> None:
    expected = torch.tensor([declared(alpha) for alpha in ALPHAS.tolist()], dtype=torch.float64)
    # At small α the predictor-corrector nears its order from above, and slowly.
    excess = 0.25 if scheme is PECE else 0.1
    assert (observed >= expected - 0.1).all(), observed
    assert (observed <= expected + excess).all(), observed


@every_scheme
@torch.no_grad()
def test_order_on_a_smooth_solution(scheme: Scheme) -> None:
    observed = observed_order(scheme, cubic_source, torch.tensor(2.0, dtype=torch.float64))
    assert_order(scheme, observed, scheme.order)


@every_scheme
@torch.no_grad()
def test_order_on_a_solution_that_starts_like_t_to_the_alpha(scheme: Scheme) -> None:
    observed = observed_order(scheme, lambda t: torch.zeros_like(ALPHAS), mittag_leffler(ALPHAS, 1.0))
    assert_order(scheme, observed, scheme.singular_order)


@every_scheme
def test_at_order_one_a_scheme_is_its_ode_method(scheme: Scheme) -> None:
    z = 0.15
    factor = {
        PREDICTOR: 1 - z,
        PECE: 1 - z + z**2 / 2,
        L1: 1 / (1 + z),
        GRUNWALD_LETNIKOV: 1 / (1 + z),
        TRAPEZOID: (1 - z / 2) / (1 + z / 2),
    }[scheme]
    one, step = torch.ones((), dtype=torch.float64), torch.tensor(z, dtype=torch.float64)
    states = torch.stack(list(march_linear(scheme, one, step, 40)))
    torch.testing.assert_close(states, factor ** torch.arange(1, 41, dtype=torch.float64), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scheme", EXPLICIT, ids=lambda scheme: scheme.name)
@torch.no_grad()
def test_stability_limit(scheme: Scheme) -> None:
    assert scheme.stability_limit is not None
    limits = torch.tensor([scheme.stability_limit(alpha) for alpha in ALPHAS.tolist()], dtype=torch.float64)
    rates = torch.stack([0.97 * limits, 1.03 * limits])
    step = torch.ones((), dtype=torch.float64)
    sizes = torch.stack(list(march_linear(scheme, ALPHAS.expand(2, -1), step, 400, rate=rates))).abs()
    early, late = sizes[180:200].amax(0), sizes[380:].amax(0)
    assert (early[0] <= 1).all()
    assert (late[0] <= early[0]).all()
    assert (late[1] > 2 * early[1]).all()


@pytest.mark.parametrize("scheme", [s for s in SCHEMES.values() if s.implicit], ids=lambda scheme: scheme.name)
@torch.no_grad()
def test_implicit_schemes_are_stable_at_any_step(scheme: Scheme) -> None:
    states = torch.stack(list(march_linear(scheme, ALPHAS, torch.tensor(50.0, dtype=torch.float64), 100, rate=2.0)))
    assert (states.abs() <= 1).all()


@every_scheme
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_gradients_are_finite_at_the_ends(scheme: Scheme, alpha: float) -> None:
    order = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    step = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
    gradients = torch.autograd.grad(last(march_linear(scheme, order, step, 20)), (order, step))
    assert all(gradient.isfinite() for gradient in gradients)


@every_scheme
def test_orders_side_by_side_are_orders_one_by_one(scheme: Scheme) -> None:
    step = torch.tensor(0.1, dtype=torch.float64)
    together = last(march_linear(scheme, ALPHAS, step, 10))
    apart = torch.stack([last(march_linear(scheme, alpha, step, 10)) for alpha in ALPHAS])
    torch.testing.assert_close(together, apart, rtol=1e-14, atol=0)


def test_grunwald_letnikov_weights_are_binomial() -> None:
    weights = GRUNWALD_LETNIKOV.weights(ALPHAS, torch.tensor(0.1, dtype=torch.float64), 30)
    k = torch.arange(1, 31, dtype=torch.float64)[:, None]
    expected = -((-1) ** k) * torch.from_numpy(binom(ALPHAS.numpy(), k.numpy()))
    torch.testing.assert_close(weights.past, expected, rtol=1e-12, atol=1e-15)


def test_quadrature_weights_integrate_what_they_should() -> None:
    """The fractional integral of 1 is t^α/Γ(α+1), of t is t^(α+1)/Γ(α+2); the trapezoid has both exactly."""
    step, steps = torch.tensor(0.1, dtype=torch.float64), 12
    integral_of_one = (steps * step) ** ALPHAS / torch.exp(torch.lgamma(ALPHAS + 1))
    integral_of_time = (steps * step) ** (ALPHAS + 1) / torch.exp(torch.lgamma(ALPHAS + 2))
    torch.testing.assert_close(PREDICTOR.weights(ALPHAS, step, steps).past.sum(0), integral_of_one)
    past, now, first = TRAPEZOID.weights(ALPHAS, step, steps)
    assert first is not None
    torch.testing.assert_close(first[-1] + past[:-1].sum(0) + now, integral_of_one)
    times = step * torch.arange(steps - 1, 0, -1, dtype=torch.float64)[:, None]
    torch.testing.assert_close((past[:-1] * times).sum(0) + now * steps * step, integral_of_time)


@every_scheme
def test_a_window_as_long_as_the_run_drops_nothing(scheme: Scheme) -> None:
    step, history = torch.tensor(0.1, dtype=torch.float64), History(12)
    windowed = last(march_linear(scheme, ALPHAS, step, 12, history=history))
    torch.testing.assert_close(windowed, last(march_linear(scheme, ALPHAS, step, 12)), rtol=0, atol=0)
    assert history.dropped == 0


def test_find_scheme() -> None:
    assert find_scheme("gl") is GRUNWALD_LETNIKOV
    assert find_scheme(L1) is L1
    with pytest.raises(ValueError, match="scheme must be one of predictor, pece, l1, gl, trapezoid, got 'rk4'"):
        find_scheme("rk4")
