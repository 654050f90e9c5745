"""Every loss: against its formula written out in NumPy, its gradient, what it is blind to, and where it is least."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from fdmvgcl.losses import LOSSES, VICReg, make_loss, ring
from fdmvgcl.losses.base import over_members, over_pairs
from fdmvgcl.losses.moments import off_diagonal_square, standardised

D = torch.float64
NAMES = tuple(LOSSES)
Terms = dict[str, float]


def random_views(count: int, nodes: int, width: int, seed: int = 0) -> Tensor:
    """Views with columns of different means and scales."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(count, nodes, width, dtype=D, generator=generator)
    return noise * torch.linspace(0.2, 2, width, dtype=D) + torch.linspace(-1, 1, width, dtype=D)


def whitened(nodes: int = 12, width: int = 4, seed: int = 0) -> Tensor:
    """Columns of mean 0 and biased variance 1, uncorrelated."""
    x = random_views(1, nodes, width, seed)[0]
    return torch.linalg.qr(x - x.mean(0)).Q * nodes**0.5


def total(name: str, views: Tensor) -> Tensor:
    loss = make_loss(name)
    return torch.stack([loss.weights[term] * value for term, value in loss(views).items()]).sum()


# -- the formulas, as the papers print them, pair by pair and entry by entry -------------------------------------------


def by_euclidean(a: np.ndarray, b: np.ndarray) -> Terms:
    return {"euclidean": np.mean([np.linalg.norm(x - y) ** 2 for x, y in zip(a, b, strict=True)])}


def by_cosmean(a: np.ndarray, b: np.ndarray) -> Terms:
    cosines = [x @ y / (np.linalg.norm(x) * np.linalg.norm(y)) for x, y in zip(a, b, strict=True)]
    return {"cosmean": 1 - np.mean(cosines)}


def by_regularised_cosmean(a: np.ndarray, b: np.ndarray) -> Terms:
    first, second = (np.linalg.svd(x)[2][0] for x in (a, b))
    return by_cosmean(a, b) | {"direction": abs(first @ second)}


def by_barlow_twins(a: np.ndarray, b: np.ndarray) -> Terms:
    d = a.shape[1]
    c = np.corrcoef(a, b, rowvar=False)[:d, d:]
    return {
        "diagonal": sum((1 - c[i, i]) ** 2 for i in range(d)),
        "off_diagonal": sum(c[i, j] ** 2 for i in range(d) for j in range(d) if i != j),
    }


def by_vicreg(a: np.ndarray, b: np.ndarray) -> Terms:
    d = a.shape[1]
    covariances = [np.cov(x, rowvar=False, bias=True) for x in (a, b)]
    return {
        "invariance": by_euclidean(a, b)["euclidean"],
        "variance": sum(max(0, 1 - np.sqrt(np.var(x[:, j]) + 1e-4)) for x in (a, b) for j in range(d)) / d,
        "covariance": sum(c[i, j] ** 2 for c in covariances for i in range(d) for j in range(d) if i != j) / d,
    }


def by_cca_ssg(a: np.ndarray, b: np.ndarray) -> Terms:
    a, b = ((x - x.mean(0)) / (x.std(0) * np.sqrt(len(x))) for x in (a, b))
    gaps = [np.linalg.norm(x.T @ x - np.eye(x.shape[1])) ** 2 for x in (a, b)]
    return {"invariance": np.linalg.norm(a - b) ** 2, "decorrelation": sum(gaps)}


FORMULAS: dict[str, Callable[[np.ndarray, np.ndarray], Terms]] = {
    "regularised-cosmean": by_regularised_cosmean,
    "cosmean": by_cosmean,
    "euclidean": by_euclidean,
    "barlow-twins": by_barlow_twins,
    "vicreg": by_vicreg,
    "cca-ssg": by_cca_ssg,
}


@pytest.mark.parametrize(("nodes", "width"), [(15, 4), (4, 9)], ids=["tall", "wide"])
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_terms_are_the_formula_summed_over_the_ring(name: str, count: int, nodes: int, width: int) -> None:
    views = random_views(count, nodes, width)
    found = make_loss(name)(views)
    pairs = [(0, 1)] if count == 2 else [(k, (k + 1) % count) for k in range(count)]
    expected = [FORMULAS[name](views[a].numpy(), views[b].numpy()) for a, b in pairs]
    assert set(found) == set(expected[0]) == set(make_loss(name).weights)
    for term, value in found.items():
        rel = 1e-3 if term == "direction" else 1e-10  # the direction is iterated to a tolerance
        assert value.item() == pytest.approx(sum(each[term] for each in expected), rel=rel), term


# -- values by hand ----------------------------------------------------------------------------------------------------


def test_golden_values_of_two_nodes() -> None:
    """Two nodes, two columns: the second column is the first in one view, and its negative in the other."""
    a = torch.tensor([[1.0, 1.0], [3.0, 3.0]], dtype=D)  # both columns ∓1 once centred
    b = torch.tensor([[1.0, 3.0], [3.0, 1.0]], dtype=D)  # ∓1 and ±1
    views = torch.stack([a, b])

    def values(name: str) -> Terms:
        return {term: value.item() for term, value in make_loss(name)(views).items()}

    assert values("euclidean") == pytest.approx({"euclidean": 4.0})
    assert values("barlow-twins") == pytest.approx({"diagonal": 0.0 + 4.0, "off_diagonal": 1.0 + 1.0})
    # the second column is 2 away in both nodes; a mean over columns as well would read 2.0
    assert values("vicreg") == pytest.approx({"invariance": 4.0, "variance": 0.0, "covariance": (2 + 2) / 2})
    # columns ∓1/√2: equal in the first, opposite in the second; each view's correlation is ±1 off the diagonal
    assert values("cca-ssg") == pytest.approx({"invariance": 4.0, "decorrelation": 2.0 + 2.0})


def test_default_weights_are_those_of_the_papers() -> None:
    assert {name: make_loss(name).weights for name in NAMES} == {
        "regularised-cosmean": {"cosmean": 1.0, "direction": 0.05},
        "cosmean": {"cosmean": 1.0},
        "euclidean": {"euclidean": 1.0},
        "barlow-twins": {"diagonal": 1.0, "off_diagonal": 0.005},
        "vicreg": {"invariance": 25.0, "variance": 25.0, "covariance": 1.0},
        "cca-ssg": {"invariance": 1.0, "decorrelation": 0.001},
    }


def test_vicreg_pulls_apart_only_columns_below_the_target() -> None:
    x = whitened().requires_grad_()
    both = torch.stack([x * torch.tensor([0.5, 2.0, 2.0, 2.0], dtype=D)] * 2)
    hinge = VICReg(epsilon=0.0)(both)["variance"]
    assert hinge.item() == pytest.approx(2 * 0.5 / 4)
    assert VICReg(target=0.5, epsilon=0.0)(both)["variance"].item() == pytest.approx(0.0, abs=1e-12)
    (slope,) = torch.autograd.grad(hinge, x)
    assert bool((slope[:, 0] != 0).all())
    assert torch.equal(slope[:, 1:], torch.zeros_like(slope[:, 1:]))


# -- gradients ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("nodes", "width"), [(6, 3), (3, 7)], ids=["tall", "wide"])
@pytest.mark.parametrize("name", [n for n in NAMES if n != "regularised-cosmean"])  # it iterates; see test_cosmean
def test_gradients(name: str, nodes: int, width: int) -> None:
    views = random_views(3, nodes, width, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: total(name, v), (views,))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda v: v[:, :1],
        lambda v: torch.zeros_like(v),
        lambda v: torch.full_like(v, 0.1),
        lambda v: torch.cat([v[:, :-2], torch.zeros_like(v[:, :2])], 1),
        lambda v: torch.cat([v[..., :-1], torch.full_like(v[..., :1], 0.3)], 2),
        lambda v: 1e-12 * v,
    ],
    ids=["one node", "zeros", "constant", "zero rows", "a constant column", "tiny"],
)
def test_degenerate_views_have_finite_losses_and_gradients(
    name: str, spoil: Callable[[Tensor], Tensor], dtype: torch.dtype
) -> None:
    views = spoil(random_views(3, 9, 4)).to(dtype).requires_grad_()
    value = total(name, views)
    (slope,) = torch.autograd.grad(value, views)
    assert bool(value.isfinite())
    assert bool(slope.isfinite().all())


# -- what a loss sees, and where it is least ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_nodes_does_not_matter_unless_it_differs_between_views(name: str) -> None:
    views = random_views(3, 10, 4)
    order = torch.randperm(10, generator=torch.Generator().manual_seed(5))
    assert total(name, views[:, order]).item() == pytest.approx(total(name, views).item(), rel=1e-6)
    mixed = torch.cat([views[:1, order], views[1:]])
    assert total(name, mixed).item() != pytest.approx(total(name, views).item(), rel=1e-3)


@pytest.mark.parametrize(
    ("name", "change", "blind"),
    [
        ("cosmean", "row scale", True),
        ("cosmean", "shift", False),
        ("euclidean", "common rotation", True),
        ("euclidean", "row scale", False),
        ("barlow-twins", "shift", True),
        ("barlow-twins", "column scale", True),
        ("barlow-twins", "common rotation", False),
        ("cca-ssg", "shift", True),
        ("cca-ssg", "column scale", True),
        ("vicreg", "common shift", True),
        ("vicreg", "shift", False),
        ("vicreg", "column scale", False),
    ],
)
def test_what_a_loss_is_blind_to(name: str, change: str, blind: bool) -> None:
    views = random_views(3, 10, 4)
    generator = torch.Generator().manual_seed(2)
    changed = {
        "row scale": lambda: views * (0.5 + torch.rand(3, 10, 1, dtype=D, generator=generator)),
        "column scale": lambda: views * (0.5 + torch.rand(3, 1, 4, dtype=D, generator=generator)),
        "shift": lambda: views + torch.randn(3, 1, 4, dtype=D, generator=generator),
        "common shift": lambda: views + torch.randn(1, 1, 4, dtype=D, generator=generator),
        "common rotation": lambda: views @ torch.linalg.qr(torch.randn(4, 4, dtype=D, generator=generator)).Q,
    }[change]()
    assert (total(name, changed).item() == pytest.approx(total(name, views).item(), rel=1e-9)) == blind


@pytest.mark.parametrize("name", ["cosmean", "euclidean", "barlow-twins", "vicreg", "cca-ssg"])
def test_least_at_equal_whitened_views(name: str) -> None:
    best = torch.stack([1.1 * whitened()] * 3)  # past VICReg's target; the others do not see a scale common to all
    assert total(name, best).item() == pytest.approx(0, abs=1e-20)
    disagreeing = best + torch.stack([torch.zeros_like(best[0]), whitened(seed=1), whitened(seed=2)])
    assert total(name, disagreeing).item() > 0.1


@pytest.mark.parametrize("name", ["cosmean", "euclidean", "barlow-twins", "vicreg", "cca-ssg"])
def test_only_redundancy_reducing_losses_see_columns_that_repeat_each_other(name: str) -> None:
    collapsed = torch.stack([1.1 * whitened()[:, :1].expand(-1, 4)] * 3)
    assert (total(name, collapsed).item() > 1e-3) == (name in ("barlow-twins", "vicreg", "cca-ssg"))


# -- the parts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("views", "pairs"), [(2, [(0, 1)]), (3, [(0, 1), (1, 2), (2, 0)]), (4, 4)])
def test_ring_closes_and_counts_two_views_once(views: int, pairs: list | int) -> None:
    found = ring(views)
    assert (len(found) if isinstance(pairs, int) else found) == pairs
    with pytest.raises(ValueError, match="at least 2"):
        ring(1)


def test_sums_over_the_ring_count_each_pair_and_each_member_of_a_pair() -> None:
    each = [torch.tensor(value) for value in (1.0, 10.0, 100.0)]
    assert over_pairs(lambda a, b: a * b, each).item() == 10 + 1000 + 100
    assert over_members(lambda a: a, each).item() == 2 * 111
    assert over_members(lambda a: a, each[:2]).item() == 11


def test_standardised_columns() -> None:
    x = random_views(1, 20, 3)[0]
    found = standardised(x)
    assert torch.allclose(found.mean(0), torch.zeros(3, dtype=D), atol=1e-12)
    assert torch.allclose(found.var(0, correction=0), torch.ones(3, dtype=D))
    assert torch.allclose(standardised(1e-9 * x), found)


def test_a_column_constant_but_for_rounding_is_zero_and_a_narrow_one_is_not() -> None:
    constant = torch.full((1000, 1), 0.1)
    assert torch.equal(standardised(constant), torch.zeros(1000, 1))
    narrow = constant + 1e-4 * torch.linspace(-1, 1, 1000)[:, None]
    assert standardised(narrow).var(correction=0).item() == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("nodes", [3, 7, 9, 30])
def test_off_diagonal_square_is_the_same_by_either_side(nodes: int) -> None:
    a, b = random_views(2, nodes, 16)
    for second in (a, b):
        product = a.T @ second
        direct = product.square().sum() - product.diagonal().square().sum()
        assert off_diagonal_square(a, second).item() == pytest.approx(direct.item(), rel=1e-10)


def test_wide_views_never_make_a_matrix_of_their_width() -> None:
    """Ten nodes, 200 000 columns: a d×d matrix would take 160 GB."""
    views = torch.randn(2, 10, 200_000, generator=torch.Generator().manual_seed(0))
    for name in ("barlow-twins", "vicreg", "cca-ssg"):
        assert bool(total(name, views).isfinite())


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"loss must be one of \('regularised-cosmean', .*'cca-ssg'\), got 'infonce'"):
        make_loss("infonce")
    assert make_loss("barlow-twins", off_diagonal=0.1).weights["off_diagonal"] == 0.1
