"""The filter against the dense truth, against step-by-step solving, and its gradients against finite differences."""

import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import fdmvgcl.diffusion.kernels as kernels
from fdmvgcl.diffusion.linear import diffuse, make_filter
from fdmvgcl.diffusion.recurrence import CHEBYSHEV, POWERS, Basis
from fdmvgcl.fractional import fdeint, mittag_leffler
from fdmvgcl.fractional.response import Filter, StabilityWarning, chebyshev_coefficients, response
from fdmvgcl.graphs.operators import Operator

D = torch.float64


def random_edges(nodes: int, edges: int, seed: int, *, weighted: bool = True, both_ways: bool = True):
    """Edges among the first ``nodes - 2`` nodes, in two components; the last two nodes are isolated."""
    generator = torch.Generator().manual_seed(seed)
    half = (nodes - 2) // 2
    pairs = torch.randint(0, half, (2, edges), generator=generator)
    pairs[:, ::2] += half
    pairs = torch.unique(pairs.sort(dim=0).values[:, pairs[0] != pairs[1]], dim=1)
    weight = (
        torch.rand(pairs.shape[1], dtype=D, generator=generator) + 0.1
        if weighted
        else torch.ones(pairs.shape[1], dtype=D)
    )
    if not both_ways:
        return pairs, weight
    return torch.cat([pairs, pairs.flip(0)], dim=1), torch.cat([weight, weight])


def make_operator(seed: int = 0, *, normalisation: str = "sym", self_loops: float = 0.0, nodes: int = 30) -> Operator:
    index, weight = random_edges(nodes, 3 * nodes, seed)
    return Operator.from_edges(index, weight, nodes, normalisation=normalisation, self_loops=self_loops)


def dense_truth(operator: Operator, x: Tensor, phi: Callable[[Tensor], Tensor]) -> Tensor:
    """``φ(L) x`` by eigendecomposition of the symmetric (or similar) matrix."""
    scale = operator.similarity if operator.similarity is not None else torch.ones(operator.num_nodes, dtype=D)
    symmetric = scale[:, None] * (torch.eye(operator.num_nodes, dtype=D) - operator.dense()) / scale
    values, vectors = torch.linalg.eigh((symmetric + symmetric.T) / 2)
    return (vectors @ (phi(values.clamp(0, 2))[:, None] * (vectors.T @ (scale[:, None] * x)))) / scale[:, None]


def features(nodes: int, width: int, dtype: torch.dtype = D, blocks: int | None = None) -> Tensor:
    shape = (nodes, width) if blocks is None else (blocks, nodes, width)
    return torch.randn(shape, dtype=D, generator=torch.Generator().manual_seed(5)).to(dtype)


@pytest.mark.parametrize("normalisation", ["sym", "rw"])
@pytest.mark.parametrize("self_loops", [0.0, 1.0])
@pytest.mark.parametrize("alpha", [1e-3, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("time", [0.5, 20.0])
def test_exact_filter_equals_dense_truth(normalisation: str, self_loops: float, alpha: float, time: float) -> None:
    operator = make_operator(normalisation=normalisation, self_loops=self_loops)
    x = features(operator.num_nodes, 7)
    truth = dense_truth(operator, x, lambda lam: mittag_leffler(alpha, lam * time**alpha))
    assert (diffuse(operator, x, alpha, time) - truth).abs().max() < 1e-9
    single = diffuse(operator, x.float(), alpha, time)
    assert single.dtype == torch.float32
    assert (single - truth).abs().max() < 1e-5


@pytest.mark.parametrize("skip", [1, 3])
@pytest.mark.parametrize("skip_weight", [1.0, 3.0])
def test_skip_connection_is_the_stated_sum(skip: int, skip_weight: float) -> None:
    operator, alpha, time = make_operator(), 0.6, 2.0
    x = features(operator.num_nodes, 4)

    def phi(lam: Tensor) -> Tensor:
        e = mittag_leffler(alpha, lam * time**alpha)
        return skip_weight * sum(e**j for j in range(skip)) + e**skip

    y = diffuse(operator, x, alpha, time, skip=skip, skip_weight=skip_weight)
    assert (y - dense_truth(operator, x, phi)).abs().max() < 1e-9 * max(1, skip_weight * skip + 1)


@pytest.mark.parametrize("scheme", ["predictor", "pece", "l1", "gl", "trapezoid"])
@pytest.mark.parametrize("alpha", [0.4, 0.9, 1.0])
def test_schemes_equal_step_by_step_solving(scheme: str, alpha: float) -> None:
    operator = make_operator()
    x = features(operator.num_nodes, 3)
    stepped = fdeint(lambda t, y: 0.7 * (operator.matmul(y) - y), x, alpha, 2.0, step=0.1, scheme=scheme)
    assert (diffuse(operator, x, alpha, 2.0, scheme=scheme, step=0.1, rate=0.7) - stepped).abs().max() < 1e-9


def test_schemes_gradient_in_order_equals_step_by_step_solving() -> None:
    operator = make_operator()
    x = features(operator.num_nodes, 3)
    slopes = []
    for solve in (
        lambda a: diffuse(operator, x, a, 2.0, scheme="predictor", step=0.25),
        lambda a: fdeint(lambda t, y: operator.matmul(y) - y, x, a, 2.0, step=0.25, scheme="predictor"),
    ):
        alpha = torch.tensor(0.7, dtype=D, requires_grad=True)
        slopes.append(torch.autograd.grad(solve(alpha).square().sum(), alpha)[0])
    assert torch.allclose(slopes[0], slopes[1], rtol=1e-9)


def test_isolated_nodes_keep_their_features() -> None:
    for normalisation in ("sym", "rw"):
        operator = make_operator(normalisation=normalisation)
        x = features(operator.num_nodes, 4)
        y = diffuse(operator, x, torch.tensor([0.2, 1.0]), 10.0)
        assert torch.allclose(y[:, -2:], x[-2:].expand(2, -1, -1), atol=1e-9)


def test_random_walk_keeps_constants() -> None:
    operator = make_operator(normalisation="rw")
    ones = torch.ones(operator.num_nodes, 1, dtype=D)
    assert torch.allclose(diffuse(operator, ones, 0.5, 7.0), ones, atol=1e-9)


def test_vector_of_orders_equals_each_order_alone() -> None:
    operator, alphas = make_operator(), torch.tensor([0.01, 0.5, 1.0], dtype=D)
    shared, apart = features(operator.num_nodes, 5), features(operator.num_nodes, 5, blocks=3)
    together = diffuse(operator, shared, alphas, 5.0)
    blocks = diffuse(operator, apart, alphas, torch.tensor([1.0, 5.0, 9.0]))
    for k, alpha in enumerate(alphas):
        assert torch.allclose(together[k], diffuse(operator, shared, alpha, 5.0), atol=1e-9)
        assert torch.allclose(blocks[k], diffuse(operator, apart[k], alpha, [1.0, 5.0, 9.0][k]), atol=1e-9)


@pytest.mark.parametrize("kernel", ["panels", "torch"])
@pytest.mark.parametrize("normalisation", ["sym", "rw"])
def test_gradcheck(kernel: kernels.Kernel, normalisation: str) -> None:
    operator = make_operator(nodes=10, normalisation=normalisation)
    alpha = torch.tensor([0.3, 0.9], dtype=D, requires_grad=True)
    time = torch.tensor([1.5, 4.0], dtype=D, requires_grad=True)
    weight = torch.tensor(0.7, dtype=D, requires_grad=True)
    rate = torch.tensor([0.5, 1.2], dtype=D, requires_grad=True)

    def run(x: Tensor, alpha: Tensor, time: Tensor, weight: Tensor, rate: Tensor) -> Tensor:
        return diffuse(operator, x, alpha, time, skip=2, skip_weight=weight, rate=rate, kernel=kernel)

    for x in (features(10, 3), features(10, 3, blocks=2)):
        assert torch.autograd.gradcheck(run, (x, alpha, time, weight, rate), atol=1e-6)
        assert torch.autograd.gradcheck(run, (x.clone().requires_grad_(), alpha, time, weight, rate), atol=1e-6)


@pytest.mark.parametrize("scheme", ["predictor", "pece", "l1", "gl", "trapezoid"])
def test_schemes_gradient_in_the_rate(scheme: str) -> None:
    operator, x = make_operator(nodes=10), features(10, 2)
    rate = torch.tensor(0.6, dtype=D, requires_grad=True)
    alpha = torch.tensor(0.7, dtype=D, requires_grad=True)

    def run(alpha: Tensor, rate: Tensor) -> Tensor:
        return diffuse(operator, x, alpha, 2.0, scheme=scheme, step=0.25, rate=rate)

    assert torch.autograd.gradcheck(run, (alpha, rate), atol=1e-6)


def test_at_order_one_a_rate_is_a_faster_clock() -> None:
    operator, x = make_operator(), features(30, 3)
    assert torch.allclose(diffuse(operator, x, 1.0, 4.0, rate=0.5), diffuse(operator, x, 1.0, 2.0), atol=1e-9)
    slow, fast = diffuse(operator, x, 0.5, 4.0, rate=0.5), diffuse(operator, x, 0.5, 1.0)
    assert torch.allclose(slow, fast, atol=1e-9)  # r T^α counts


def test_half_the_rate_is_stable_where_the_whole_is_not() -> None:
    operator, x = make_operator(), features(30, 3)
    with pytest.warns(StabilityWarning, match="r λ_max"):
        diffuse(operator, x, 0.05, 20.0, scheme="predictor", step=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StabilityWarning)
        diffuse(operator, x, 0.05, 20.0, scheme="predictor", step=1.0, rate=0.5)


@pytest.mark.parametrize("rate", [0.0, -1.0])
def test_a_rate_is_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="rate must be above 0"):
        diffuse(make_operator(), features(30, 3), 0.5, 1.0, rate=rate)


def test_gradient_in_order_equals_dense_truth() -> None:
    operator = make_operator()
    x = features(operator.num_nodes, 6)
    slopes = []
    for run in (
        lambda a: diffuse(operator, x, a, 20.0),
        lambda a: dense_truth(operator, x, lambda lam: mittag_leffler(a, lam * 20.0**a)),
    ):
        alpha = torch.tensor(0.45, dtype=D, requires_grad=True)
        slopes.append(torch.autograd.grad(run(alpha).square().sum(), alpha)[0])
    assert torch.allclose(slopes[0], slopes[1], rtol=1e-8)


@pytest.mark.parametrize("panel_bytes", [1, 6 << 20])
@pytest.mark.parametrize("width", [1, 16, 37, 200])
def test_kernels_equal_dense_matrices(monkeypatch: pytest.MonkeyPatch, panel_bytes: int, width: int) -> None:
    """Panels in cache, panels by rows (``panel_bytes=1``) and PyTorch's loop, sums and inner products alike."""
    monkeypatch.setattr(kernels, "PANEL_BYTES", panel_bytes)
    operator = make_operator(nodes=60)
    x, probes = features(60, width, blocks=2), features(60, width, blocks=6).reshape(2, 3, 60, width)
    coefficients = torch.randn(2, 3, 9, dtype=D)
    coefficients[0, :, 5:] = 0
    for basis in (CHEBYSHEV, POWERS):
        sums, dots = kernels.polynomial(operator, basis, x, coefficients, probes=probes, kernel="dense")
        for kernel in ("panels", "torch"):
            found = kernels.polynomial(operator, basis, x, coefficients, probes=probes, kernel=kernel)
            assert torch.allclose(found[0], sums, atol=1e-11)
            assert torch.allclose(found[1][1], dots[1], atol=1e-10)
            assert torch.allclose(found[1][0, :, :5], dots[0, :, :5], atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [16, 80, 37])
@pytest.mark.parametrize("basis", [CHEBYSHEV, POWERS, Basis(0.5, 1.5, 0.25)])
def test_terms_of_a_basis_equal_dense_matrices(basis: Basis, width: int, dtype: torch.dtype) -> None:
    operator, x = make_operator(nodes=60).to(dtype=dtype), features(60, width, dtype)
    terms = kernels.basis_terms(operator, basis, x, 6)
    each = torch.eye(6, dtype=D)[None]
    truth, _ = kernels.polynomial(operator.to(dtype=D), basis, x[None].double(), each, kernel="dense")
    assert terms.dtype == dtype
    assert (terms - truth[0]).abs().max() < (1e-5 if dtype == torch.float32 else 1e-12)


def test_a_term_is_rounded_as_product_and_difference_are() -> None:
    """Fused or not, the same bytes: ``-2 (Ā y)`` is exact, and the difference is rounded once."""
    operator, x = make_operator(nodes=60).to(dtype=torch.float32), features(60, 48, torch.float32)
    terms = kernels.basis_terms(operator, CHEBYSHEV, x, 6)
    for j in range(2, 6):
        assert torch.equal(terms[j], -2 * kernels.sparse_product(operator.csr, terms[j - 1]) - terms[j - 2])


def test_without_numba_falls_back_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fdmvgcl.diffusion.panels", None)
    monkeypatch.delattr("fdmvgcl.diffusion.panels", raising=False)
    kernels._compiled.cache_clear()
    with pytest.warns(kernels.KernelWarning, match="numba is not installed"):
        assert kernels.best_kernel(torch.device("cpu")) == "torch"
    kernels._compiled.cache_clear()


@pytest.mark.parametrize("alpha", [1e-4, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("time", [0.1, 5.0, 30.0, 100.0])
@pytest.mark.parametrize("tolerance", [1e-7, 1e-11])
def test_expansion_holds_its_tolerance_on_a_fine_grid(alpha: float, time: float, tolerance: float) -> None:
    spec = make_filter(alpha, time)
    coefficients = chebyshev_coefficients(spec, tolerance)
    lam = torch.linspace(0, 2, 4001, dtype=D)
    angles = torch.acos((lam - 1).clamp(-1, 1))
    value = coefficients @ torch.cos(torch.arange(len(coefficients))[:, None] * angles)
    assert (value - response(lam, spec)).abs().max() <= 1.05 * tolerance


def test_degree_grows_with_time_and_stays_small() -> None:
    degrees = [chebyshev_coefficients(make_filter(1.0, t), 1e-7).shape[-1] for t in (1.0, 5.0, 30.0, 100.0)]
    assert degrees == sorted(degrees)
    assert degrees[2] <= 34


@pytest.mark.parametrize(("alpha", "time"), [(0.2, 4.0), (0.7, 4.0), (1.0, 4.0), (0.9, 20.0)])
def test_directed_diffusion_equals_small_steps(alpha: float, time: float) -> None:
    index, weight = random_edges(12, 40, 3, both_ways=False)
    operator = Operator.from_edges(index, weight, 12, normalisation="rw", directed=True)
    x = features(12, 3)
    exact = diffuse(operator, x, alpha, time, rate=0.8)

    def stepped(steps: int) -> Tensor:
        return fdeint(lambda t, y: 0.8 * (operator.matmul(y) - y), x, alpha, time, steps=steps, scheme="trapezoid")

    errors = [(stepped(n) - exact).abs().max() for n in (100, 200)]
    assert errors[1] < 2e-3
    assert errors[1] < 0.62 * errors[0]  # it is the steps' error that shrinks: order 1 + α, at least 1


def test_directed_diffusion_gradients() -> None:
    index, weight = random_edges(10, 30, 3, both_ways=False)
    operator = Operator.from_edges(index, weight, 10, normalisation="rw", directed=True)
    x = features(10, 2).requires_grad_()
    alpha = torch.tensor([0.4, 0.95], dtype=D, requires_grad=True)
    time = torch.tensor(3.0, dtype=D, requires_grad=True)
    rate = torch.tensor(0.8, dtype=D, requires_grad=True)

    def run(x: Tensor, alpha: Tensor, time: Tensor, rate: Tensor) -> Tensor:
        return diffuse(operator, x, alpha, time, skip=2, rate=rate)

    assert torch.autograd.gradcheck(run, (x, alpha, time, rate), eps=1e-4, atol=1e-5)


def test_directed_schemes_run_step_by_step() -> None:
    index, weight = random_edges(10, 30, 3, both_ways=False)
    operator = Operator.from_edges(index, weight, 10, normalisation="rw", directed=True)
    x = features(10, 2)
    y = diffuse(operator, x, torch.tensor([0.5, 0.9]), 2.0, scheme="l1", step=0.1, rate=torch.tensor([1.0, 0.6]))
    stepped = fdeint(lambda t, s: 0.6 * (operator.matmul(s) - s), x, 0.9, 2.0, step=0.1, scheme="l1")
    assert torch.allclose(y[1], stepped, atol=1e-9)


def test_directed_tolerance_is_refused_where_it_cannot_be_held() -> None:
    index, weight = random_edges(10, 30, 3, both_ways=False)
    operator = Operator.from_edges(index, weight, 10, normalisation="rw", directed=True)
    with pytest.raises(ValueError, match="time of about 50"):
        diffuse(operator, features(10, 2), 1.0, 500.0)


@pytest.mark.parametrize("normalisation", ["sym", "rw"])
def test_gradients_in_edge_weights_equal_finite_differences(normalisation: str) -> None:
    index, weight = random_edges(10, 20, 1)
    half = index.shape[1] // 2
    x = features(10, 2).requires_grad_()
    alpha = torch.tensor([0.3, 0.9], dtype=D, requires_grad=True)

    def run(half_weight: Tensor, x: Tensor, alpha: Tensor) -> Tensor:
        both = torch.cat([half_weight, half_weight])
        operator = Operator.from_edges(index, both, 10, normalisation=normalisation, self_loops=0.5)
        return diffuse(operator, x, alpha, 3.0)

    leaf = weight[:half].clone().requires_grad_()
    assert torch.autograd.gradcheck(run, (leaf, x, alpha), atol=1e-6)
    frozen = run(leaf.detach(), x.detach(), alpha.detach())
    assert torch.allclose(run(leaf, x, alpha), frozen, atol=1e-9)


def test_explicit_scheme_warns_with_its_bound() -> None:
    operator = make_operator()
    x = features(operator.num_nodes, 2)
    with pytest.warns(StabilityWarning, match=r"exceeds 1\.17.*use step <= 0\.\d+"):
        diffuse(operator, x, 0.5, 20.0, scheme="predictor", step=1.0)
    with pytest.warns(StabilityWarning, match="no practical step is stable"):
        diffuse(operator, x, 0.001, 20.0, scheme="predictor", step=1.0)


@pytest.mark.filterwarnings("error")
def test_explicit_scheme_within_its_bound_does_not_warn() -> None:
    operator = make_operator()
    diffuse(operator, features(operator.num_nodes, 2), 0.9, 2.0, scheme="predictor", step=0.1)


def test_nothing_but_the_input_is_saved_for_backward() -> None:
    operator = make_operator()
    saved: list[Tensor] = []
    x = features(operator.num_nodes, 2000, blocks=2).requires_grad_()
    alpha = torch.tensor([0.5, 1.0], dtype=D, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        diffuse(operator, x, alpha, 100.0)
    large = {t.data_ptr() for t in saved if t.numel() >= x.numel() // 2 and t.dtype == D}
    assert large == {x.data_ptr()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.3}, r"alpha must lie in \(0, 1\], got 1\.3"),
        ({"alpha": 0.0}, r"alpha must lie in \(0, 1\], got 0"),
        ({"alpha": float("nan")}, "alpha must lie"),
        ({"time": 0.0}, "time must be finite and greater than 0, got 0"),
        ({"time": -1.0}, "time must be"),
        ({"scheme": "l1", "step": 0.3}, r"step must .*0\.3"),
        ({"scheme": "l1"}, "step must be given"),
        ({"step": 0.5}, "step must be left out"),
        ({"scheme": "euler", "step": 0.5}, "scheme must be one of .*'euler'"),
        ({"skip": -1}, "skip must be"),
        ({"x": torch.full((30, 2), float("nan"))}, "x must be finite, got nan"),
        ({"x": torch.ones(29, 2)}, r"x must have shape \(30, d\).*got \(29, 2\)"),
        ({"x": torch.ones(3, 30, 2), "alpha": torch.tensor([0.5, 0.6])}, r"got \(3, 30, 2\)"),
        ({"x": torch.ones(30, 2, dtype=torch.int64)}, "x must be float32 or float64"),
        ({"time": torch.tensor([1.0, 2.0])}, "time must be a number or one for each"),
    ],
)
def test_bad_input_names_argument_rule_and_value(change: dict, message: str) -> None:
    arguments = {"x": torch.ones(30, 2), "alpha": 0.5, "time": 1.0} | change
    with pytest.raises(ValueError, match=message):
        diffuse(make_operator(), **arguments)


@pytest.mark.parametrize(
    ("index", "weight", "nodes", "message"),
    [
        (torch.zeros(2, 0, dtype=torch.long), None, 0, "num_nodes must be at least 1.*empty graph.*got 0"),
        (torch.tensor([[0], [5]]), None, 3, "node numbers from 0 to 2, got 0 to 5"),
        (torch.tensor([[0], [1]]), torch.tensor([-1.0]), 3, "weight must be finite and not negative, got -1"),
        (torch.tensor([[0], [1]]), torch.tensor([float("inf")]), 3, "weight must be finite.*inf"),
        (torch.tensor([[0], [1]]), torch.tensor([1.0, 2.0]), 3, r"weight must have shape \(1,\)"),
        (torch.tensor([0, 1]), None, 3, r"edge_index must have shape \(2, E\)"),
    ],
)
def test_bad_graphs_are_refused(index: Tensor, weight: Tensor | None, nodes: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Operator.from_edges(index, weight, nodes)


def test_filters_of_time_vectors_need_one_number_of_steps() -> None:
    spec = Filter(torch.tensor([0.5, 0.6]), torch.tensor([1.0, 2.0]), "l1", 0.5)
    with pytest.raises(ValueError, match="same number of steps"):
        response(torch.linspace(0, 2, 3), spec)
