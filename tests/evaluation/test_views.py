import numpy as np
import pytest
import scipy.sparse as sp

from fdmvgcl.evaluation import NORMALISATIONS, Views

BETA = np.array([0.2, 0.5, 0.3])
EVERYTHING = np.arange(60)


def normalised(embedding, normalise):
    """The definition, on the whole matrix at once."""
    if normalise == "none":
        return embedding
    centred = embedding - embedding.mean(axis=0)
    if normalise == "standardise":
        return centred / centred.std(axis=0)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((60, 7)) * scale + shift for scale, shift in ((1, 0), (5, 3), (0.1, -2))]


@pytest.mark.parametrize("normalise", NORMALISATIONS)
@pytest.mark.parametrize("chunk", [16, 1024])
def test_rows_are_those_of_the_weighted_sum(arrays, normalise, chunk, monkeypatch):
    monkeypatch.setattr("fdmvgcl.evaluation.views.CHUNK_ROWS", chunk)
    total = sum(weight * array for weight, array in zip(BETA, arrays, strict=True))
    index = np.array([3, 0, 41])
    rows = Views(arrays).rows(BETA, normalise, index)
    np.testing.assert_allclose(rows.dense(), normalised(total, normalise)[index], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("normalise", NORMALISATIONS)
@pytest.mark.parametrize("chunk", [16, 1024])
def test_axes_are_those_of_all_nodes_in_the_mean_of_views(arrays, normalise, chunk, monkeypatch):
    monkeypatch.setattr("fdmvgcl.evaluation.views.CHUNK_ROWS", chunk)
    axes = Views(arrays).axes(normalise)
    np.testing.assert_allclose(axes.T @ axes, np.eye(7), atol=1e-5)
    turned = normalised(sum(arrays) / 3, normalise) @ axes
    scatter = turned.T @ turned
    np.testing.assert_allclose(scatter, np.diag(np.diag(scatter)), atol=1e-5 * scatter.max())


@pytest.mark.parametrize("normalise", NORMALISATIONS)
def test_sparse_rows_are_the_dense_ones(normalise):
    rng = np.random.default_rng(1)
    matrix = sp.random_array((60, 9), density=0.2, rng=rng, format="csr") + sp.csr_array(np.eye(60, 9))
    sparse = Views([matrix]).rows(np.ones(1), normalise, EVERYTHING)
    dense = Views([matrix.toarray()]).rows(np.ones(1), normalise, EVERYTHING)
    assert sp.issparse(sparse.matrix)
    np.testing.assert_allclose(sparse.dense(), dense.dense(), atol=1e-13)
    weights, values = rng.standard_normal((9, 2)), rng.standard_normal((60, 2))
    np.testing.assert_allclose(sparse.product(weights), dense.product(weights), atol=1e-12)
    np.testing.assert_allclose(sparse.adjoint(values), dense.adjoint(values), atol=1e-12)
    np.testing.assert_allclose(sparse.column_squares(), dense.column_squares(), atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_constant_columns_and_mean_rows_become_zero(kind):
    embedding = np.random.default_rng(2).standard_normal((60, 4)).astype(np.float32)
    embedding[:, 1] = 0.1
    standard = Views([kind(embedding)]).rows(np.ones(1), "standardise", EVERYTHING).dense()
    np.testing.assert_allclose(standard[:, 1], 0.0, atol=1e-6)
    embedding[1:] -= embedding[1:].mean(axis=0) - 1
    embedding[0] = 1.0
    rows = Views([kind(embedding)]).rows(np.ones(1), "centre+rows", EVERYTHING).dense()
    assert np.isfinite(rows).all()
    assert np.linalg.norm(rows[0]) < 1.0 + 1e-9


def test_unusable_views_are_refused(arrays):
    with pytest.raises(ValueError, match="at least one view"):
        Views([])
    with pytest.raises(ValueError, match="one shape"):
        Views([arrays[0], arrays[1][:, :3]])
    with pytest.raises(ValueError, match="sparse view must be the only one"):
        Views([sp.csr_array(arrays[0]), arrays[1]])
    with pytest.raises(ValueError, match="normalise must be one of none, centre"):
        Views(arrays).rows(BETA, "rows", EVERYTHING)
