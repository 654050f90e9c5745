"""Time stepping of any right-hand side: its gradients, forms of state, memory and errors."""

import math
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from fdmvgcl.fractional import SCHEMES, ShortMemoryWarning, fdeint, mittag_leffler

every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def double(*values: Any, grad: bool = True) -> tuple[Tensor, ...]:
    return tuple(torch.tensor(value, dtype=torch.float64, requires_grad=grad) for value in values)


def decay(t: Tensor, y: Tensor) -> Tensor:
    return -y


def brusselator(t: Tensor, y: Tensor) -> Tensor:
    """A non-linear system of two."""
    u, v = y.unbind()
    return torch.stack([1 - 2.5 * u + u * u * v, 1.5 * u - u * u * v])


@pytest.mark.parametrize(
    ("scheme", "accuracy"), [("predictor", 3e-3), ("pece", 1e-4), ("l1", 3e-3), ("gl", 3e-3), ("trapezoid", 1e-4)]
)
def test_gradient_in_the_order_nears_the_exact_one(scheme: str, accuracy: float) -> None:
    (exact_order,) = double(0.6)
    mittag_leffler(exact_order, 1.0).backward()
    assert exact_order.grad.item() == pytest.approx(-0.1405, abs=5e-5)
    errors = []
    for step in (0.02, 0.01):
        alpha, y0 = double(0.6, 1.0)
        fdeint(decay, y0, alpha, 1.0, step=step, scheme=scheme).backward()
        errors.append(abs(alpha.grad.item() - exact_order.grad.item()))
    assert errors[1] < accuracy
    # Below the order of the values: what h^(1+α) leaves has a derivative in α with a factor log h.
    assert math.log2(errors[0] / errors[1]) > SCHEMES[scheme].singular_order(0.6) - 0.35


@every_scheme
@pytest.mark.parametrize("alpha", [0.7, [[0.4], [0.9]], 0.02])
def test_gradcheck(scheme: str, alpha: Any) -> None:
    def solve(weight: Tensor, y0: Tensor, alpha: Tensor, time: Tensor) -> Tensor:
        return fdeint(
            lambda t, y: torch.cos(t) * torch.tanh(weight * y.flip(-1)) - y, y0, alpha, time, steps=4, scheme=scheme
        )

    assert gradcheck(solve, double([0.8, -1.2], [[0.5, -1.0], [2.0, 0.3]], alpha, 1.3))


@every_scheme
def test_gradcheck_at_the_ordinary_equation(scheme: str) -> None:
    """α cannot be moved past 1, so its gradient there is compared with a one-sided difference."""

    def solve(weight: Tensor, y0: Tensor, alpha: Tensor | float = 1.0) -> Tensor:
        return fdeint(lambda t, y: torch.sin(weight * y) - y, y0, alpha, 1.0, steps=5, scheme=scheme)

    assert gradcheck(solve, double(0.8, [0.5, -1.0]))
    weight, y0, alpha = double(0.8, [0.5, -1.0], 1.0)
    (slope,) = torch.autograd.grad(solve(weight, y0, alpha).sum(), alpha)
    h = 1e-5
    difference = (3 * solve(weight, y0) - 4 * solve(weight, y0, 1 - h) + solve(weight, y0, 1 - 2 * h)).sum() / (2 * h)
    assert slope.item() == pytest.approx(difference.item(), rel=1e-6)


@pytest.mark.parametrize("scheme", ["pece", "trapezoid"])
def test_gradient_where_the_right_hand_side_ignores_the_state(scheme: str) -> None:
    """∫ weight · cos: linear in the weight, and nothing for the adjoint equation of an implicit step to solve."""
    weight, y0 = double(2.0, [1.0, 3.0])
    y = fdeint(lambda t, y: (weight * torch.cos(t)).expand(2), y0, 0.5, 1.0, steps=8, scheme=scheme)
    y.sum().backward()
    torch.testing.assert_close(y0.grad, torch.ones_like(y0))
    torch.testing.assert_close(weight.grad, ((y - y0).sum() / weight).detach())


def test_a_learned_time_keeps_its_number_of_steps() -> None:
    (time,) = double(1.03)
    times, _ = fdeint(decay, torch.ones(2).double(), 0.5, time, step=0.1, scheme="pece", trajectory=True)
    assert len(times) == 11
    assert times[-1] == time
    y = fdeint(decay, torch.ones((), dtype=torch.float64), 0.5, time, steps=200)
    (slope,) = torch.autograd.grad(y, time)
    (exact,) = torch.autograd.grad(mittag_leffler(0.5, time**0.5), time)
    assert slope.item() == pytest.approx(exact.item(), rel=1e-2)


@every_scheme
def test_tuple_states(scheme: str) -> None:
    """An oscillator as (position, velocity) is the same as in one tensor."""
    torch.manual_seed(0)
    x, v = torch.rand(3, 2).double(), torch.rand(3, 2).double()
    packed = fdeint(
        lambda t, y: torch.stack([y[1], -y[0] - y[1]]), torch.stack([x, v]), 0.8, 1.0, steps=6, scheme=scheme
    )
    x1, v1 = fdeint(lambda t, y: (y[1], -y[0] - y[1]), (x, v), 0.8, 1.0, steps=6, scheme=scheme)
    torch.testing.assert_close(torch.stack([x1, v1]), packed, rtol=1e-10, atol=1e-10)


def test_tuple_trajectory_and_gradient() -> None:
    x, v = double([[1.0, 2.0]], [0.5])
    alpha = double(0.7)[0]
    times, (xs, vs) = fdeint(
        lambda t, y: (-y[0] * y[1], -y[1]), (x, v), alpha, 2.0, steps=4, scheme="pece", trajectory=True
    )
    assert times.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert xs.shape == (5, 1, 2)
    assert vs.shape == (5, 1)
    assert torch.equal(xs[0], x)
    assert all(g.isfinite().all() for g in torch.autograd.grad(xs[-1].sum(), (x, v, alpha)))


@every_scheme
def test_trajectory_passes_through_the_shorter_runs(scheme: str) -> None:
    y0 = double([1.0, -0.5], grad=False)[0]
    times, states = fdeint(brusselator, y0, 0.6, 1.0, step=0.1, scheme=scheme, trajectory=True)
    assert states.shape == (11, 2)
    for n in (1, 4, 10):
        alone = fdeint(brusselator, y0, 0.6, times[n], step=0.1, scheme=scheme)
        torch.testing.assert_close(states[n], alone, rtol=1e-10, atol=1e-10)


@every_scheme
def test_single_precision(scheme: str) -> None:
    """Weights come in double precision, so 200 steps lose no more than rounding of the state."""
    seen = set()

    def func(t: Tensor, y: Tensor) -> Tensor:
        seen.update((t.dtype, y.dtype))
        return -y

    for alpha in (0.05, 0.9):
        single = fdeint(func, torch.ones(2), alpha, 1.0, steps=200, scheme=scheme)
        exact = fdeint(decay, torch.ones(2).double(), alpha, 1.0, steps=200, scheme=scheme)
        torch.testing.assert_close(single.double(), exact, rtol=0, atol=2e-5)
    assert seen == {torch.float32}
    assert single.dtype == torch.float32


@contextmanager
def saved_bytes() -> Iterator[Callable[[], int]]:
    """Counts what autograd holds for the backward pass, every storage once."""
    storages: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: Tensor) -> Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield lambda: sum(storage.nbytes() for storage in storages.values())


def deep(weight: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """A right-hand side with insides worth recomputing."""

    def func(t: Tensor, y: Tensor) -> Tensor:
        inner = y
        for _ in range(10):
            inner = torch.tanh(inner * weight)
        return inner - y

    return func


@every_scheme
@pytest.mark.parametrize("shape", [(), (400,)])
def test_memory_is_linear_in_the_steps_and_smaller_with_checkpoints(scheme: str, shape: tuple[int, ...]) -> None:
    weight, y0 = double(0.7, [1.0] * 400)
    alpha = torch.full(shape, 0.5, dtype=torch.float64, requires_grad=True)

    def held(steps: int, checkpoint: bool) -> int:
        with saved_bytes() as total:
            fdeint(deep(weight), y0, alpha, 1.0, steps=steps, scheme=scheme, checkpoint=checkpoint)
            return total()

    assert held(32, True) < 2.1 * held(16, True)
    assert held(32, True) < 0.6 * held(32, False)
    if not shape:
        assert held(32, True) <= 32 * 8 * y0.nbytes


@every_scheme
def test_checkpoints_change_nothing(scheme: str) -> None:
    results = []
    for checkpoint in (False, True):
        weight, y0, alpha, time = double(0.7, [0.4, -1.0], 0.6, 1.2)
        y = fdeint(deep(weight), y0, alpha, time, steps=6, scheme=scheme, checkpoint=checkpoint)
        results.append([y, *torch.autograd.grad(y.sum(), (weight, y0, alpha, time))])
    for plain, recomputed in zip(*results, strict=True):
        torch.testing.assert_close(plain, recomputed, rtol=0, atol=0)


def stated_error(func: Callable[..., Tensor], y0: Tensor, alpha: Any, **options: Any) -> tuple[float, float]:
    """The bound that the warning states, and the true difference to the run with full memory."""
    full = fdeint(func, y0, alpha, 2.0, steps=20, **options)
    with pytest.warns(ShortMemoryWarning, match="memory=5 left at most") as caught:
        short = fdeint(func, y0, alpha, 2.0, steps=20, memory=5, **options)
    bound = float(str(caught[0].message).split("at most ")[1].split()[0])
    return bound, (full - short).abs().max().item()


@pytest.mark.parametrize("scheme", ["predictor", "pece", "trapezoid"])
def test_short_memory_states_its_error(scheme: str) -> None:
    """With F free of y the error is what was left out; of one sign, the bound is attained."""
    y0 = torch.zeros(3, dtype=torch.float64)
    bound, error = stated_error(lambda t, y: (1 + t).expand(3), y0, 0.4, scheme=scheme)
    # The predictor-corrector leaves out of two sums, and states the larger: here the predictor's.
    assert bound / (1.05 if scheme == "pece" else 1.005) <= error <= bound * 1.005
    orders = torch.tensor([0.2, 0.5, 0.9], dtype=torch.float64)
    bound, error = stated_error(lambda t, y: torch.cos(9 * t).expand(3), y0, orders, scheme=scheme)
    assert 0 < error <= bound * 1.005


@every_scheme
def test_short_memory_of_the_whole_run_is_silent_and_exact(scheme: str) -> None:
    y0 = double([1.0, 0.5], grad=False)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short = fdeint(brusselator, y0, 0.5, 1.0, steps=8, memory=8, scheme=scheme)
    torch.testing.assert_close(short, fdeint(brusselator, y0, 0.5, 1.0, steps=8, scheme=scheme), rtol=0, atol=0)


@torch.no_grad()
def test_short_memory_lets_go_of_what_it_dropped() -> None:
    values: list[weakref.ref[Tensor]] = []
    alive: list[int] = []

    def func(t: Tensor, y: Tensor) -> Tensor:
        values.append(weakref.ref(value := -y))
        alive.append(sum(value() is not None for value in values))
        return value

    with pytest.warns(ShortMemoryWarning):
        fdeint(func, torch.ones(2), 0.5, 1.0, steps=30, scheme="predictor", memory=3)
    assert max(alive) == 4


GOOD: dict[str, Any] = {"func": decay, "y0": torch.ones(3), "alpha": 0.5, "time": 1.0, "steps": 4}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.3}, r"alpha must lie in \(0, 1\], got 1.3"),
        ({"alpha": 0}, r"alpha must lie in \(0, 1\], got 0.0"),
        ({"alpha": torch.tensor([0.5, math.nan, 1.0])}, r"alpha must lie in \(0, 1\], got nan"),
        ({"alpha": torch.full((2,), 0.5)}, r"alpha must broadcast to y0's shape \(3,\), got shape \(2,\)"),
        ({"alpha": torch.full((2, 3), 0.5)}, r"alpha must broadcast to y0's shape \(3,\), got shape \(2, 3\)"),
        ({"time": 0.0}, "time must be finite and greater than 0, got 0.0"),
        ({"time": -2.0}, "time must be finite and greater than 0, got -2.0"),
        ({"time": math.inf}, "time must be finite and greater than 0, got inf"),
        ({"time": torch.ones(2)}, r"time must be a scalar, got shape \(2,\)"),
        ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
        ({"steps": 2.5}, "steps must be a whole number of at least 1, got 2.5"),
        ({"steps": None}, "exactly one of step and steps must be given, got step=None and steps=None"),
        ({"step": 0.5}, "exactly one of step and steps must be given, got step=0.5 and steps=4"),
        ({"step": 0.3, "steps": None}, "step must divide the time 1 into whole steps, got 0.3"),
        ({"step": -0.5, "steps": None}, "step must be finite and greater than 0, got -0.5"),
        ({"step": 2.0, "steps": None}, "step must divide the time 1 into whole steps, got 2"),
        ({"memory": 0}, "memory must be a whole number of at least 1, got 0"),
        ({"tolerance": -1.0}, "tolerance must be finite and greater than 0, got -1.0"),
        ({"scheme": "rk4"}, "scheme must be one of predictor, pece, l1, gl, trapezoid, got 'rk4'"),
        ({"y0": torch.tensor([1.0, math.nan, 0.0])}, "y0 must be finite, got nan"),
        (
            {"y0": torch.ones(3).int()},
            r"y0 must be a floating tensor or a tuple of such, got a int32 tensor of shape \(3,\)",
        ),
        ({"y0": [1.0, 2.0]}, "y0 must be a floating tensor or a tuple of such, got a list"),
        ({"y0": ()}, r"y0 must be a floating tensor or a tuple of such, got \(\)"),
        ({"y0": (torch.ones(2), torch.ones(2).double())}, "y0 must have one dtype and device"),
        ({"y0": (torch.ones(2),), "alpha": torch.full((2,), 0.5)}, "alpha must be a scalar for a tuple of states"),
        ({"func": lambda t, y: y[:2]}, r"func must return what y0 is, .* of shape \(3,\), got .* of shape \(2,\)"),
        ({"func": lambda t, y: (y,)}, r"func must return what y0 is, a float32 tensor .*, got \(a float32 tensor"),
        ({"func": lambda t, y: None}, "func must return what y0 is, .*, got a NoneType"),
        (
            {"y0": (torch.ones(2), torch.ones(3)), "func": lambda t, y: y[0]},
            r"func must return what y0 is, \(.*\), got a",
        ),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fdeint(**(GOOD | change))
