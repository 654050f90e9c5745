"""Diagnostics against other people's programs and against loops over pairs."""

import itertools
import json
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from torch import Tensor

from fdmvgcl.learning.diagnostics import (
    alignment,
    cka,
    class_ratio,
    component_spectrum,
    describe_views,
    effective_rank,
    neighbour_homophily,
    sample_rows,
    significant,
    uniformity,
    view_similarity,
)

D = torch.float64


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=D, generator=torch.Generator().manual_seed(seed))


def rotation(width: int, seed: int = 9) -> Tensor:
    return torch.linalg.qr(noise(width, width, seed=seed)).Q


def test_effective_rank_of_known_spectra() -> None:
    assert effective_rank(torch.eye(7)) == pytest.approx(7, rel=1e-5)
    assert effective_rank(torch.ones(9, 4)) == pytest.approx(1, rel=1e-2)
    two = torch.diag(torch.tensor([3.0, 1.0]))
    entropy = -(0.75 * torch.tensor(0.75).log() + 0.25 * torch.tensor(0.25).log())
    assert effective_rank(two) == pytest.approx(float(entropy.exp()), rel=1e-5)
    assert effective_rank(torch.zeros(3, 3)) == 0.0


def test_sampling_is_even_and_repeatable() -> None:
    x = torch.arange(2000.0)[:, None]
    rows = sample_rows(x, 100)
    assert len(rows) == 100
    assert rows[0] == 0
    assert rows[-1] == 1999
    assert torch.equal(rows, sample_rows(x, 100))
    assert torch.equal(sample_rows(x[:50], 100), x[:50])


class TestSpectrum:
    @pytest.mark.parametrize("shape", [(40, 7), (7, 40), (12, 12)])
    def test_is_that_of_principal_component_analysis(self, shape: tuple[int, int]) -> None:
        x = noise(*shape) * torch.linspace(0.1, 3, shape[1], dtype=D) + 5
        expected = PCA().fit(x.numpy()).explained_variance_ratio_
        assert component_spectrum(x).numpy() == pytest.approx(expected, abs=1e-10)

    def test_of_many_views_at_once_on_a_sample(self) -> None:
        views = noise(3, 50, 6)
        found = component_spectrum(views, rows=20)
        assert found.shape == (3, 6)
        expected = PCA().fit(sample_rows(views, 20)[2].numpy()).explained_variance_ratio_
        assert found[2].numpy() == pytest.approx(expected, abs=1e-10)

    def test_of_equal_rows_is_zero_and_of_one_direction_is_one(self) -> None:
        assert component_spectrum(torch.full((9, 3), 0.5)).tolist() == [0, 0, 0]
        line = torch.outer(torch.arange(5.0), torch.tensor([1.0, 2.0, 2.0]))
        assert component_spectrum(line).tolist() == pytest.approx([1, 0, 0], abs=1e-6)

    @pytest.mark.parametrize("scale", [1e-25, 1e25])
    def test_does_not_depend_on_scale_even_where_squares_leave_the_range(self, scale: float) -> None:
        x = noise(20, 6).float()
        assert torch.allclose(component_spectrum(scale * x), component_spectrum(x), rtol=1e-4, atol=1e-6)


class TestCka:
    @staticmethod
    def by_kernels(a: Tensor, b: Tensor) -> float:
        """Kornblith's definition: the independence criterion of two linear kernels, centred on both sides."""
        centring = np.eye(len(a)) - 1 / len(a)
        k, m = (centring @ x.numpy() @ x.numpy().T @ centring for x in (a, b))
        return np.trace(k @ m) / np.sqrt(np.trace(k @ k) * np.trace(m @ m))

    @pytest.mark.parametrize(("nodes", "first", "second"), [(30, 4, 4), (5, 12, 12), (8, 3, 20), (8, 20, 3)])
    def test_is_its_definition_whichever_side_is_smaller(self, nodes: int, first: int, second: int) -> None:
        a, b = noise(nodes, first) + 3, noise(nodes, second, seed=1)
        b[:, :2] += a[:, :2]
        assert cka(a, b) == pytest.approx(self.by_kernels(a, b), rel=1e-10)

    def test_is_blind_to_rotation_scale_and_shift_but_not_to_a_stretch(self) -> None:
        a = noise(30, 4)
        assert cka(a, -3 * a @ rotation(4) + 7) == pytest.approx(1)
        assert cka(a, a * torch.tensor([1.0, 1.0, 1.0, 9.0], dtype=D)) < 0.9

    def test_of_unrelated_matrices(self) -> None:
        a, b = torch.eye(8, dtype=D)[:, :2], torch.eye(8, dtype=D)[:, 2:4]
        apart = [x - x.mean(0) for x in (a, b)]
        apart[1] -= apart[0] @ torch.linalg.lstsq(apart[0], apart[1]).solution
        assert cka(*apart) == pytest.approx(0, abs=1e-12)
        n, d = 200, 100
        assert cka(noise(n, d), noise(n, d, seed=1)) == pytest.approx(d / (d + n), rel=0.05)

    @pytest.mark.parametrize("shape", [(5, 3), (1, 3), (3, 5)])
    def test_of_equal_rows_is_zero(self, shape: tuple[int, int]) -> None:
        assert cka(torch.ones(shape), torch.rand(shape)) == 0.0


class TestSphere:
    def test_alignment_by_hand(self) -> None:
        a = torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0]])
        b = torch.tensor([[5.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
        assert alignment(a, b) == pytest.approx((0 + 2 + 4) / 3)
        assert alignment(a, 7 * a) == pytest.approx(0, abs=1e-12)

    def test_uniformity_is_its_definition_over_pairs(self) -> None:
        x = noise(15, 3)
        unit = (x / x.norm(dim=1, keepdim=True)).numpy()
        kernels = [math.exp(-2 * np.linalg.norm(u - v) ** 2) for u, v in itertools.combinations(unit, 2)]
        assert uniformity(x) == pytest.approx(math.log(np.mean(kernels)), rel=1e-10)

    def test_uniformity_at_its_ends(self) -> None:
        assert uniformity(torch.rand(20, 1) @ torch.ones(1, 3)) == pytest.approx(0, abs=1e-5)
        assert uniformity(torch.tensor([[1.0, 0.0], [-2.0, 0.0]])) == pytest.approx(-8)
        assert uniformity(torch.ones(1, 3)) == 0.0
        assert uniformity(torch.eye(50)) == pytest.approx(-4, abs=1e-5)

    def test_uniformity_takes_evenly_spaced_rows(self) -> None:
        x = noise(100, 4)
        assert uniformity(x, rows=10) == uniformity(sample_rows(x, 10)) != uniformity(x)


def test_view_similarity_closes_the_ring_and_counts_two_views_once() -> None:
    a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    assert view_similarity(torch.stack([a, a, b])) == pytest.approx([1.0, 0.0, 0.0])
    assert view_similarity(torch.stack([a, -a])) == pytest.approx([-1.0])


class TestClassRatio:
    @staticmethod
    def by_pairs(x: Tensor, labels: list[int], c: int) -> float:
        own = [row for row, label in zip(x, labels, strict=True) if label == c]
        others = [row for row, label in zip(x, labels, strict=True) if label not in (c, -1)]
        intra = np.mean([(u - v).norm().item() for u, v in itertools.combinations(own, 2)])
        return float(np.mean([(u - v).norm().item() for u in own for v in others]) / intra)

    def test_is_its_definition_over_pairs(self) -> None:
        views = noise(2, 12, 3)
        labels = [0, 1, 2, 0, 1, 2, -1, 0, 0, 1, 2, -1]
        found = class_ratio(views, torch.tensor(labels))
        assert found.shape == (2, 3)
        for k, c in itertools.product(range(2), range(3)):
            assert found[k, c].item() == pytest.approx(self.by_pairs(views[k], labels, c), rel=1e-10)

    def test_rises_as_classes_draw_together(self) -> None:
        labels = torch.arange(60) % 3
        centres = 3 * torch.eye(3, dtype=D)[labels]
        wide, narrow = (class_ratio(centres + spread * noise(60, 3), labels) for spread in (3.0, 0.3))
        assert bool((narrow > 4).all())
        assert bool((wide < 2).all())
        assert class_ratio(noise(300, 20), torch.arange(300) % 3).tolist() == pytest.approx([1, 1, 1], abs=0.03)

    def test_classes_without_a_pair_or_without_a_contrast(self) -> None:
        x = noise(4, 2)
        lone = class_ratio(x, torch.tensor([0, 0, 0, 1]), classes=3)
        assert lone[0].isfinite()
        assert lone[1:].isnan().all()
        assert class_ratio(x, torch.zeros(4, dtype=torch.long)).isnan().all()
        assert (
            class_ratio(torch.tensor([[0.0], [0.0], [1.0], [2.0]]), torch.tensor([0, 0, 1, 1])).tolist()[0] == math.inf
        )

    def test_samples_labelled_nodes_only(self) -> None:
        x, labels = noise(100, 3), torch.full((100,), -1)
        labels[::10] = torch.arange(10) % 2
        assert torch.equal(class_ratio(x, labels, rows=10), class_ratio(x[::10], labels[::10]))

    def test_a_shift_far_beyond_the_distances_costs_no_digits(self) -> None:
        x, labels = noise(30, 4).float(), torch.arange(30) % 2
        assert torch.allclose(class_ratio(1e-3 * x + 1, labels), class_ratio(x, labels), rtol=1e-3)


class TestNeighbourHomophily:
    def test_is_that_of_another_program(self) -> None:
        z, labels = noise(60, 5), torch.arange(60) % 4
        z[:, 0] += labels
        nearest = NearestNeighbors(n_neighbors=6, metric="cosine").fit(z.numpy()).kneighbors(return_distance=False)
        expected = (labels.numpy()[nearest] == labels.numpy()[:, None]).mean()
        assert neighbour_homophily(z, labels, k=6) == pytest.approx(expected, abs=1e-6)
        assert 0.25 < expected < 1

    def test_leaves_out_the_node_itself_and_those_without_a_label(self) -> None:
        z = torch.tensor([[1.0, 0.0], [1.0, 0.1], [1.0, 0.01], [0.0, 1.0], [0.1, 1.0]])
        assert neighbour_homophily(z, torch.tensor([0, 0, -1, 1, 1]), k=1) == 1.0
        assert neighbour_homophily(z, torch.tensor([0, 0, 1, 1, 1]), k=1) == pytest.approx(2 / 5)

    def test_asks_a_sample_but_seeks_among_all(self) -> None:
        z, labels = noise(40, 3), torch.arange(40) % 2
        one_by_one = [neighbour_homophily(torch.roll(z, -i, 0), torch.roll(labels, -i), k=3, rows=1) for i in range(40)]
        assert neighbour_homophily(z, labels, k=3) == pytest.approx(np.mean(one_by_one))

    @pytest.mark.parametrize("k", [0, 3])
    def test_refuses_more_neighbours_than_there_are(self, k: int) -> None:
        with pytest.raises(ValueError, match=rf"k must lie in \[1, 2\] for 3 labelled nodes, got {k}"):
            neighbour_homophily(noise(5, 2), torch.tensor([0, 1, -1, -1, 0]), k=k)


class TestDescription:
    @pytest.mark.parametrize("width", [4, 40])
    @pytest.mark.parametrize("count", [2, 4])
    def test_is_made_of_the_functions_by_themselves(self, count: int, width: int) -> None:
        views = noise(count, 30, width)
        pairs = [(0, 1)] if count == 2 else [(0, 1), (1, 2), (2, 3), (3, 0)]
        found = describe_views(views)
        compared: dict[str, Callable[[Tensor, Tensor], float]] = {"cka": cka, "alignment": alignment}
        for name, function in compared.items():
            assert found[name] == pytest.approx([function(views[a], views[b]) for a, b in pairs])
        assert found["uniformity"] == pytest.approx([uniformity(view) for view in views])
        assert found["view_similarity"] == view_similarity(views)
        for shares, view in zip(found["spectrum"], views, strict=True):
            assert shares == pytest.approx(component_spectrum(view)[:16].tolist(), rel=1e-5)

    def test_is_json_and_the_same_each_time(self) -> None:
        views = noise(3, 700, 20).float()
        assert json.dumps(describe_views(views)) == json.dumps(describe_views(views.clone()))

    @pytest.mark.parametrize("views", [torch.zeros(2, 5, 3), torch.ones(2, 1, 3), torch.full((2, 5, 3), 1e15)])
    def test_of_degenerate_views_is_finite(self, views: Tensor) -> None:
        found = describe_views(views)
        values = [*found["cka"], *found["alignment"], *found["uniformity"], *itertools.chain(*found["spectrum"])]
        assert all(map(math.isfinite, values))


def test_significant_digits() -> None:
    assert significant(0.123456789) == 0.123457
    assert significant(1.23456789e-9, 3) == 1.23e-9
    assert significant(0.0) == 0.0
    assert significant([[1 / 3, math.nan], [math.inf, 2.0]], 2) == [[0.33, None], [None, 2.0]]
    assert significant(torch.tensor([0.25])) == [0.25]
