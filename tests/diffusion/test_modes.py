"""Interpolated orders against the responses themselves, and their gradients against the full expansion."""

import pytest
import torch
from torch import Tensor

from fdmvgcl.diffusion.basis import DiffusionBasis, diffusion_basis
from fdmvgcl.diffusion.linear import diffuse, make_filter
from fdmvgcl.diffusion.modes import Modes, choose_modes
from fdmvgcl.fractional.response import Filter, chebyshev_coefficients, response
from fdmvgcl.graphs.operators import Operator

D = torch.float64
LEAST = 1e-4
KINDS = [
    ("exact", 0.5, 0, 1.0),
    ("exact", 3.0, 0, 1.0),
    ("exact", 30.0, 0, 1.0),
    ("exact", 3.0, 3, 1.0),
    ("exact", 3.0, 0, 2.5),
    ("l1", 3.0, 2, 1.0),
    ("l1", 3.0, 0, 0.3),
    ("gl", 3.0, 0, 1.0),
    ("trapezoid", 3.0, 0, 1.0),
    ("predictor", 3.0, 0, 1.0),
    ("pece", 3.0, 2, 1.0),
]


def spec_of(
    scheme: str = "exact", time: float = 3.0, skip: int = 0, rate: float = 1.0, alpha: Tensor | float = 0.5
) -> Filter:
    step = None if scheme == "exact" else 0.25
    return make_filter(alpha, time, scheme=scheme, step=step, skip=skip, skip_weight=0.7, rate=rate)


def modes_of(spec: Filter, tolerance: float = 1e-7) -> Modes:
    found = choose_modes(spec, smallest_alpha=LEAST, tolerance=tolerance)
    assert found is not None
    return found


def random_orders(count: int) -> Tensor:
    """From the whole range, half of them spread by their logarithm."""
    drawn = torch.rand(count, dtype=D, generator=torch.Generator().manual_seed(0))
    low = LEAST ** drawn[: count // 2]
    return torch.cat([torch.tensor([LEAST, 1.0], dtype=D), low, drawn[count // 2 :].clamp(min=LEAST)])


def path_graph(nodes: int, normalisation: str = "sym") -> Operator:
    ends = torch.stack([torch.arange(nodes - 2), torch.arange(1, nodes - 1)])  # the last node is isolated
    return Operator.from_edges(torch.cat([ends, ends.flip(0)], 1), None, nodes, normalisation=normalisation)


def values_of(modes: Modes, frequency: Tensor) -> Tensor:
    """The modes' responses, (r, M)."""
    angle = torch.acos(frequency - 1)
    return modes.functions @ torch.cos(torch.arange(modes.functions.shape[1])[:, None] * angle)


@pytest.mark.parametrize("kind", KINDS)
def test_every_order_is_an_interpolation_within_the_stated_error(kind: tuple[str, float, int, float]) -> None:
    modes, spec = modes_of(spec_of(*kind)), spec_of(*kind, random_orders(60))
    frequency = torch.linspace(0, 2, 257, dtype=D)
    found, truth = modes.weights(spec) @ values_of(modes, frequency), response(frequency, spec)
    size = chebyshev_coefficients(spec, 1e-12).abs().sum(1, keepdim=True).clamp(min=1)
    assert modes.error <= 1e-7
    assert ((found - truth).abs() / size).max() <= 1.2 * modes.error


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_in_alpha_are_those_of_the_responses(kind: tuple[str, float, int, float]) -> None:
    modes, frequency, slopes = modes_of(spec_of(*kind)), torch.linspace(0, 2, 33, dtype=D), []
    values = values_of(modes, frequency)
    for run in (lambda spec: modes.weights(spec) @ values, lambda spec: response(frequency, spec)):
        alpha = random_orders(20).clamp(min=0.01).requires_grad_()
        made = run(spec_of(*kind, alpha))
        slopes.append(torch.stack([torch.autograd.grad(each.sum(), alpha, retain_graph=True)[0] for each in made.T]))
    assert modes.slope_error <= 1e-4
    assert (slopes[0] - slopes[1]).abs().max() <= 2e-4 * slopes[1].abs().max().clamp(min=1)


@pytest.mark.parametrize("kind", KINDS)
def test_orders_are_fewer_than_terms_and_weights_are_tame(kind: tuple[str, float, int, float]) -> None:
    modes = modes_of(spec_of(*kind))
    assert len(modes) < chebyshev_coefficients(spec_of(*kind, random_orders(30)), 1e-7).shape[1]
    assert modes.largest_weight < 10
    assert modes.functions.abs().max() <= 1


def test_a_chosen_order_is_its_own_mode() -> None:
    modes = modes_of(spec_of())
    weights = modes.weights(modes.spec)
    assert torch.allclose(weights, torch.eye(len(modes), dtype=D), atol=1e-5)


@pytest.mark.parametrize("normalisation", ["sym", "rw"])
@pytest.mark.parametrize("columns", [1, 37])
def test_diffused_features_and_their_gradients_equal_the_full_expansion(normalisation: str, columns: int) -> None:
    operator = path_graph(40, normalisation)
    x = torch.randn(40, columns, dtype=D, generator=torch.Generator().manual_seed(1))
    alpha = torch.tensor([LEAST, 0.05, 0.4, 0.83, 1.0], dtype=D)
    probe = torch.randn(5, 40, columns, dtype=D, generator=torch.Generator().manual_seed(2))

    def value_and_slope(run) -> tuple[Tensor, Tensor]:
        orders = alpha.clone().requires_grad_()
        y = run(orders)
        return y.detach(), torch.autograd.grad((y * probe).sum(), orders)[0]

    truth, slope = value_and_slope(lambda a: diffuse(operator, x, a, 3.0, skip=1, skip_weight=0.7))
    for tolerance, least, slope_least in ((1e-7, 1e-6, 1e-4), (1e-9, 1e-8, 1e-5)):
        modes = modes_of(spec_of(skip=1), tolerance)
        basis = diffusion_basis(x, operator, modes.spec, smallest_alpha=LEAST, modes=modes)
        assert basis.values.shape == (len(modes), 40, columns)
        found, found_slope = value_and_slope(lambda a, basis=basis: basis.diffused(spec_of(skip=1, alpha=a)))
        assert (found - truth).abs().max() < least * truth.abs().max()
        assert (found_slope - slope).abs().max() < slope_least * slope.abs().max()


def test_single_precision_costs_no_more_than_rounding_times_weights() -> None:
    operator, modes = path_graph(40), modes_of(spec_of())
    x = torch.randn(40, 16, generator=torch.Generator().manual_seed(1))
    basis = diffusion_basis(x, operator.to(dtype=x.dtype), modes.spec, smallest_alpha=LEAST, modes=modes)
    spec = spec_of(alpha=random_orders(20))
    truth = diffuse(operator, x.double(), spec.alpha, 3.0)
    allowed = modes.error + 16 * modes.largest_weight * torch.finfo(x.dtype).eps
    assert (basis.diffused(spec) - truth).abs().max() < allowed * x.abs().max()


def test_where_terms_are_as_few_there_are_no_modes() -> None:
    assert choose_modes(spec_of(time=1e-6), smallest_alpha=0.9, tolerance=1e-3) is None


def test_modes_serve_the_filter_that_they_were_made_for() -> None:
    modes = modes_of(spec_of(time=3.0))
    for other, told in (
        (spec_of(time=4.0), "time must be 3.0, which the modes were made for, got 4.0"),
        (spec_of(skip=1), "skip must be 0"),
        (spec_of(rate=2.0), "rate must be 1.0, which the modes were made for, got 2.0"),
        (spec_of("l1"), "scheme must be 'exact'"),
        (spec_of(alpha=1e-5), "alpha must be at least 0.0001, got 1e-05"),
    ):
        with pytest.raises(ValueError, match=told):
            modes.weights(other)
    with pytest.raises(ValueError, match="time must be one number"):
        choose_modes(spec_of(time=torch.tensor([1.0]), alpha=torch.tensor([0.5])), smallest_alpha=0.1, tolerance=1e-7)


def test_too_few_terms_are_refused() -> None:
    basis = DiffusionBasis(torch.zeros(2, 5, 3))
    with pytest.raises(ValueError, match="basis must have at least"):
        basis.diffused(spec_of(alpha=torch.tensor([0.5])))
