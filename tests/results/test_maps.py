"""Maps of embeddings: held to dense truths and to scikit-learn's measure of trust."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

from fdmvgcl.results import maps
from fdmvgcl.results.maps import component_maps, neighbour_maps, principal_components
from fdmvgcl.results.neighbour_map import _Grid, affinities, neighbour_map


@pytest.fixture(scope="module")
def digits() -> np.ndarray:
    return load_digits().data[:600].astype(np.float64)


class TestComponents:
    @pytest.mark.parametrize(("n", "d"), [(60, 12), (12, 60), (5, 1), (1, 4)])
    def test_they_are_those_of_unit_rows(self, n: int, d: int) -> None:
        rows = np.random.default_rng(0).standard_normal((n, d)) + 1
        found = principal_components(rows, 3)
        count = min(3, n, d)
        assert found.scores.shape == (n, count)
        if d > 1 and n > 1:
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            truth = PCA(count).fit(unit)
            np.testing.assert_allclose(found.shares, truth.explained_variance_ratio_, atol=1e-9)
            np.testing.assert_allclose(np.abs(found.scores), np.abs(truth.transform(unit)), atol=1e-9)

    def test_iteration_agrees_with_decomposition(self, digits: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
        exact = principal_components(digits, 5)
        monkeypatch.setattr(maps, "_EXACT_SIDE", 3)
        np.testing.assert_allclose(principal_components(digits, 5).shares, exact.shares, rtol=1e-4)

    @pytest.mark.parametrize("rows", [np.ones((9, 3)), np.zeros((9, 3)), np.arange(1, 10)[:, None] * np.ones(3)])
    def test_rows_of_one_direction_have_no_variance(self, rows: np.ndarray) -> None:
        found = principal_components(rows)
        assert found.constant
        assert not found.scores.any()

    def test_a_turned_copy_lies_on_the_first(self, digits: np.ndarray) -> None:
        turned = digits @ np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))[0]
        first, second = component_maps([principal_components(digits), principal_components(turned)])
        np.testing.assert_allclose(first, second, atol=1e-8)


class TestNeighbours:
    def test_repulsion_is_that_of_all_pairs(self) -> None:
        points = np.random.default_rng(0).standard_normal((400, 2)) * 4
        apart = points[:, None] - points
        kernel = 1 / (1 + (apart**2).sum(-1))
        np.fill_diagonal(kernel, 0)
        truth = (kernel[..., None] ** 2 * apart).sum(1) / kernel.sum()
        coarse, fine = _Grid(400), _Grid(400)
        fine.side *= 2
        errors = [np.linalg.norm(grid.repulsion(points) - truth) / np.linalg.norm(truth) for grid in (coarse, fine)]
        assert errors[0] < 0.05
        assert errors[1] < errors[0] / 4

    def test_affinities_are_a_distribution_with_equal_perplexities(self, digits: np.ndarray) -> None:
        pairs, shares = affinities(digits)
        assert (pairs[:, 0] < pairs[:, 1]).all()
        assert shares.sum() == pytest.approx(0.5)
        assert (shares >= 0).all()

    def test_neighbours_stay_neighbours_better_than_in_two_components(self, digits: np.ndarray) -> None:
        components = principal_components(digits)
        (found,) = neighbour_maps([components]) or []
        flat = trustworthiness(digits, components.scores[:, :2])
        assert trustworthiness(digits, found) > max(flat + 0.05, 0.96)
        assert np.abs(found).max() < 4  # none was thrown out

    def test_the_next_map_starts_from_the_one_before(self, digits: np.ndarray) -> None:
        components = principal_components(digits)
        first, second = neighbour_maps([components, components]) or []
        moved = np.linalg.norm(first - second, axis=1)
        assert np.median(moved) < 0.1

    def test_few_or_equal_nodes(self) -> None:
        assert neighbour_maps([principal_components(np.eye(9))]) is None
        (found,) = neighbour_maps([principal_components(np.ones((20, 3)))]) or []
        assert not found.any()
        copies = np.repeat(np.eye(3), 5, axis=0)
        assert np.isfinite(neighbour_map(copies, copies[:, :2])).all()
