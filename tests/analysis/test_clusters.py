"""Clusters against blobs that are known, and against scikit-learn's k-means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from fdmvgcl.analysis.clusters import agreement, cluster, silhouette
from fdmvgcl.errors import ArgumentError
from fdmvgcl.results.vectors import unit_rows


def blobs(groups: int, size: int, spread: float = 0.05, width: int = 12) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(groups), size)
    rows = np.eye(width)[labels] + spread * generator.normal(size=(groups * size, width))
    return (rows * generator.uniform(0.1, 10, size=(len(rows), 1))).astype(np.float32), labels


@pytest.mark.parametrize("groups", [2, 3, 7])
def test_separate_groups_are_found_and_counted(groups: int) -> None:
    z, labels = blobs(groups, 30)
    found = cluster(z)
    assert adjusted_rand_score(found.labels, labels) == 1
    assert max(found.tried, key=lambda k: found.tried[k]) == groups
    assert found.silhouette is not None
    assert found.silhouette > 0.9


def test_it_is_as_good_as_k_means_of_unit_rows() -> None:
    z = np.random.default_rng(1).normal(size=(300, 6)).astype(np.float32)
    found = cluster(z, 8)
    # On unit rows the sum of squares of a cluster with unit centre c is Σ 2 (1 - cos).
    theirs = KMeans(8, n_init=10, random_state=0).fit(unit_rows(z))
    centres = unit_rows(theirs.cluster_centers_.astype(np.float32))
    assert found.cosine.mean() >= (unit_rows(z) * centres[theirs.labels_]).sum(1).mean() - 0.01


@given(st.integers(1, 30), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_each_node_is_with_the_centre_that_it_is_most_like(k: int, seed: int) -> None:
    z = np.random.default_rng(seed).normal(size=(30, 3)).astype(np.float32)
    found = cluster(z, k, seed=seed)
    cosines = unit_rows(z) @ found.centres.T
    np.testing.assert_allclose(cosines.max(1), cosines[np.arange(30), found.labels], atol=2e-6)
    assert (np.diff(found.sizes) <= 0).all()
    assert (found.sizes > 0).all()


def test_labels_do_not_depend_on_lengths_and_repeat() -> None:
    z, _ = blobs(4, 20, spread=0.4)
    first, second = cluster(z, 5, seed=3), cluster(7 * z, 5, seed=3)
    np.testing.assert_array_equal(first.labels, second.labels)


def test_silhouette_is_the_mean_over_nodes() -> None:
    rows = unit_rows(np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32))
    a, b = 1 - rows[0] @ rows[1], 1 - (rows[0] @ rows[2] + rows[0] @ rows[3]) / 2
    assert silhouette(rows, np.array([0, 0, 1, 1])) == pytest.approx(np.mean([(b - a) / b, 0]) * 2, abs=0.1)
    assert silhouette(rows, np.array([0, 0, 0, 0])) is None
    assert silhouette(rows, np.arange(4)) is None


def test_equal_and_zero_rows_are_no_trouble() -> None:
    assert cluster(np.ones((5, 3), np.float32)).labels.tolist() == [0] * 5
    assert cluster(np.ones((5, 3), np.float32), 3).labels.tolist() == [0] * 5
    z = np.zeros((6, 3), np.float32)
    z[:2, 0] = 1
    assert cluster(z, 2).sizes.tolist() == [4, 2]
    assert cluster(np.ones((1, 3), np.float32), 1).labels.tolist() == [0]


@pytest.mark.parametrize(("count", "k"), [(5, 0), (5, 6), (2, None)])
def test_what_cannot_be_is_refused(count: int, k: int | None) -> None:
    with pytest.raises(ArgumentError, match="k must"):
        cluster(np.eye(count, dtype=np.float32), k)


def test_a_control_that_wins_is_named() -> None:
    z, labels = blobs(3, 20)
    noise = np.random.default_rng(0).normal(size=z.shape).astype(np.float32)
    some = labels.copy()
    some[::4] = -1
    assert agreement(cluster(z, 3), some, {"raw features": noise}).sentence.startswith("the embedding is ahead")
    lost = agreement(cluster(noise, 3), some, {"raw features": z})
    assert lost.sentence.startswith("raw features is ahead of the embedding: NMI")
    assert lost.controls[0].mean == pytest.approx(1)
