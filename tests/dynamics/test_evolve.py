"""Time stepping of dynamics: against the spectral filter, closed solutions and invariants, with gradients."""

import math
from functools import partial
from itertools import pairwise

import pytest
import torch
from pymittagleffler import mittag_leffler
from torch import Tensor

from fdmvgcl.diffusion.linear import diffuse, make_filter
from fdmvgcl.dynamics import DYNAMICS, Cde, Dynamics, Factory, Grand, GrandAttention, GraphCON, evolve, stepping
from fdmvgcl.fractional import fdeint, response
from fdmvgcl.graphs.operators import Operator

NODES, DIM = 8, 3


def make_operator(normalisation: str = "rw", self_loops: float = 0.0, nodes: int = NODES) -> Operator:
    """A ring with a chord."""
    ring = torch.arange(nodes)
    source, target = torch.cat([ring, torch.tensor([0])]), torch.cat([ring.roll(-1), torch.tensor([2])])
    index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    return Operator.from_edges(index, None, nodes, normalisation=normalisation, self_loops=self_loops)  # type: ignore[arg-type]


def make_state(nodes: int = NODES, dim: int = DIM) -> Tensor:
    return torch.randn(nodes, dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def make(factory: Factory, dim: int = DIM) -> Dynamics:
    return factory(dim, torch.Generator().manual_seed(2)).double()


class TestLinearDynamics:
    @pytest.mark.parametrize("scheme", ["trapezoid", "l1", "predictor"])
    @pytest.mark.parametrize("skip", [0, 2])
    def test_steps_are_the_filter_of_the_same_scheme(self, scheme: str, skip: int) -> None:
        operator, y = make_operator("sym", 1.0), make_state()
        settings = {"scheme": scheme, "step": 0.25, "skip": skip, "skip_weight": 0.6}
        stepped = evolve(make(Grand), operator, y, 0.8, 2.0, **settings)  # type: ignore[arg-type]
        assert torch.allclose(stepped, diffuse(operator, y, 0.8, 2.0, **settings), atol=1e-9)  # type: ignore[arg-type]

    def test_they_converge_to_the_exact_solution_at_the_declared_order(self) -> None:
        operator, y, alpha = make_operator(), make_state(), 0.5
        exact = diffuse(operator, y, alpha, 2.0)
        errors = [
            float((evolve(make(Grand), operator, y, alpha, 2.0, scheme="trapezoid", step=h) - exact).abs().max())
            for h in (1 / 16, 1 / 32, 1 / 64)
        ]
        orders = [math.log2(coarse / fine) for coarse, fine in pairwise(errors)]
        assert orders == pytest.approx([1 + alpha] * 2, abs=0.15)

    def test_the_default_grid_is_within_one_percent(self) -> None:
        frequency = torch.linspace(0, 2, 81, dtype=torch.float64)
        alphas = torch.linspace(0.01, 1, 12, dtype=torch.float64)
        for time in (1.0, 2.5, 4.0, 10.0, 30.0):
            scheme, step = stepping("exact", None, time)
            exact, stepped = (
                response(frequency, make_filter(alphas, time, **chosen))
                for chosen in ({}, {"scheme": scheme, "step": step})
            )
            assert float((stepped - exact).abs().max()) < 0.01

    def test_the_degree_weighted_mean_is_conserved(self) -> None:
        operator, y = make_operator(), make_state()
        degree = operator.similarity.square()
        after = evolve(make(Grand), operator, y, 0.6, 3.0, scheme="trapezoid", step=0.5)
        assert torch.allclose(degree @ after, degree @ y, atol=1e-9)
        assert not torch.allclose(after, y, atol=0.1)


def test_defaults_give_way_to_what_is_named() -> None:
    assert stepping("exact", None, 10.0) == ("trapezoid", 1.0)
    assert stepping("exact", None, 1.0) == ("trapezoid", 0.25)
    assert stepping("l1", 0.5, 10.0) == ("l1", 0.5)
    with pytest.raises(ValueError, match="time must be finite and greater than 0"):
        stepping("exact", None, math.nan)


def test_attention_keeps_features_within_their_range() -> None:
    """Rows that sum to one, and a scheme of positive weights: each step is a mean of what was before."""
    operator, y = make_operator(self_loops=1.0), make_state()
    after = evolve(make(GrandAttention), operator, y, 0.7, 4.0, scheme="l1", step=0.5)
    assert (after <= y.amax(0) + 1e-9).all()
    assert (after >= y.amin(0) - 1e-9).all()


class TestOscillators:
    """Without coupling and damping, ``D^α Z = -γ Y``, ``D^α Y = Z``: one oscillator for each number."""

    gamma = 2.0

    def free(self) -> Dynamics:
        graphcon = make(partial(GraphCON, gamma=self.gamma, nu=0.0))
        torch.nn.init.zeros_(graphcon.weight)
        return graphcon

    @pytest.mark.parametrize("alpha", [0.4, 0.8, 1.0])
    def test_closed_solution(self, alpha: float) -> None:
        """``Y(T) = (E_2α(x) + T^α E_{2α,1+α}(x)) Y(0)`` at ``x = -γ T^2α``; cosine and sine for α = 1."""
        time, y = 1.5, make_state()
        x = -self.gamma * time ** (2 * alpha)
        factor = mittag_leffler(x, 2 * alpha, 1.0) + time**alpha * mittag_leffler(x, 2 * alpha, 1 + alpha)
        if alpha == 1:
            root = math.sqrt(self.gamma)
            assert factor == pytest.approx(math.cos(root * time) + math.sin(root * time) / root)
        after = evolve(self.free(), make_operator(), y, alpha, time, scheme="trapezoid", step=time / 128)
        assert torch.allclose(after, factor.real * y, atol=4e-3)

    def test_energy_is_conserved_at_order_one_and_lost_below_or_with_damping(self) -> None:
        operator, y = make_operator(), make_state()

        def energies(dynamics: Dynamics, alpha: float) -> Tensor:
            start = dynamics.start(y)
            _, states = fdeint(lambda t, s: dynamics(t, s, operator), start, alpha, 4.0, steps=16, trajectory=True)
            return self.gamma * states[:, 0].square().sum((1, 2)) + states[:, 1].square().sum((1, 2))

        free = energies(self.free(), 1.0)
        assert torch.allclose(free, free[:1].expand_as(free), rtol=1e-9)
        damped = self.free()
        damped.nu = 0.5
        assert energies(damped, 1.0)[-1] < 0.5 * free[0]
        assert energies(self.free(), 0.7)[-1] < 0.5 * free[0]


@pytest.mark.parametrize(
    "factory",
    [partial(GrandAttention, hidden=1, heads=1), DYNAMICS["gread-bs"], DYNAMICS["gread-fisher"], Cde, GraphCON],
)
def test_gradients_in_all_that_is_learned(factory: Factory) -> None:
    dynamics = make(factory, dim=2)
    operator = make_operator(self_loops=1.0, nodes=4)
    names, values = zip(*dynamics.named_parameters(), strict=True)

    def solution(y: Tensor, alpha: Tensor, time: Tensor, weight: Tensor, rate: Tensor, *parameters: Tensor) -> Tensor:
        for each, parameter in zip(names, parameters, strict=True):
            _set(dynamics, each, parameter)
        run = partial(evolve, scheme="trapezoid", step=0.75, skip=1, skip_weight=weight, rate=rate)
        return run(dynamics, operator, y, alpha, time)

    learned = [torch.tensor(v, dtype=torch.float64) for v in (0.6, 1.5, 0.8, 0.7)]
    inputs = [make_state(4, 2), *learned, *(v.detach() for v in values)]
    inputs = [v.clone().requires_grad_() for v in inputs]
    assert torch.autograd.gradcheck(solution, inputs, atol=1e-6, rtol=1e-4, fast_mode=True)


def _set(module: torch.nn.Module, name: str, value: Tensor) -> None:
    """Make a parameter an ordinary tensor, which gradcheck can follow back to its input."""
    module._parameters.pop(name, None)
    setattr(module, name, value)


def test_a_step_keeps_three_states() -> None:
    """What F makes inside is recomputed: without that, attention alone would keep a dozen more."""
    operator, y = make_operator(self_loops=1.0), make_state().requires_grad_()
    kept: set[int] = set()
    steps = 12

    def pack(tensor: Tensor) -> Tensor:
        if tensor.shape == y.shape:
            kept.add(tensor.untyped_storage().data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        alpha = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        out = evolve(make(GrandAttention), operator, y, alpha, 3.0, scheme="trapezoid", step=3.0 / steps)
    assert out.requires_grad
    assert steps <= len(kept) <= 3 * steps + 2
