"""Joins of like nodes: of features alone, the same for every order of nodes, and out of the edges' reach."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fdmvgcl import FDMVGCL, Diffusion, Graph
from fdmvgcl.graphs.alike import NEAREST, joins_of, nearest, principal_rows, with_joins


def blobs(nodes: int = 60, columns: int = 40, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((nodes, columns)) + 2 * rng.standard_normal((3, columns))[np.arange(nodes) % 3]
    upper = np.triu(rng.random((nodes, nodes)) < 0.1, 1).astype(float)
    return Graph.from_scipy(upper + upper.T, table)


def test_the_nearest_are_those_of_largest_product() -> None:
    rows = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    found = nearest(rows, 5)
    products = rows @ rows.T
    np.fill_diagonal(products, -np.inf)
    for node in range(30):
        chosen = found[1][found[0] == node]
        best = np.argsort(-products[node])[:5]
        assert set(chosen) == {other for other in best if products[node, other] > 0}


def test_joins_are_symmetric_of_others_and_of_like_nodes() -> None:
    graph = blobs()
    joins = joins_of(graph.features)
    assert abs(joins - joins.T).max() == 0
    assert not joins.diagonal().any()
    assert set(np.unique(joins.data)) <= {0.5, 1.0}
    assert (np.diff(joins.indptr) >= NEAREST).all()
    first, second = joins.nonzero()
    assert np.mean(first % 3 == second % 3) > 0.9


def test_a_flip_changes_the_flipped_edge_alone() -> None:
    graph = blobs()
    flipped = graph.adjacency.toarray()
    flipped[3, 7] = flipped[7, 3] = 1 - flipped[3, 7]
    other = replace(graph, adjacency=sparse.csr_array(flipped))
    change = (with_joins(other, 0.3).adjacency - with_joins(graph, 0.3).adjacency).toarray()
    assert sorted(zip(*change.nonzero(), strict=True)) == [(3, 7), (7, 3)]
    assert abs(change[3, 7]) == pytest.approx(1)


def test_nodes_in_another_order_have_the_same_joins() -> None:
    graph, order = blobs(), np.random.default_rng(1).permutation(60)
    moved = joins_of(np.asarray(graph.features)[order])
    assert abs(moved - joins_of(graph.features)[order][:, order]).max() == 0


@pytest.mark.parametrize("columns", [3, 40])
def test_dense_and_sparse_tables_have_the_same_rows(columns: int) -> None:
    table = (np.random.default_rng(0).random((50, columns)) < 0.2).astype(np.float32)
    found = [principal_rows(each, 30) for each in (table, sparse.csr_array(table))]
    np.testing.assert_allclose(found[0] @ found[0].T, found[1] @ found[1].T, atol=1e-5)


def test_a_node_without_features_is_joined_to_none() -> None:
    table = np.random.default_rng(0).random((50, 40)).astype(np.float32)
    table[4] = 0
    assert joins_of(table)[[4]].nnz == 0


def test_no_weight_is_the_graph_itself_and_what_cannot_be_joined_is_refused() -> None:
    graph = blobs()
    assert with_joins(graph, 0.0) is graph
    with pytest.raises(ValueError, match="joins must be 0 for a graph without features"):
        with_joins(graph.without_features(), 0.2)
    with pytest.raises(ValueError, match="joins must be 0 for a directed graph"):
        with_joins(replace(graph, directed=True), 0.2)
    with pytest.raises(ValueError, match=r"joins must be a finite number of at least 0, got -1"):
        Diffusion(joins=-1)


def test_a_model_joins_new_graphs_too_and_its_file_keeps_that(tmp_path: Path) -> None:
    graph, new = blobs(), blobs(45, seed=5)
    settings = {"dim": 8, "views": 2, "epochs": 1}
    plain, joined = (FDMVGCL(**settings, diffusion=Diffusion(joins=weight)).fit(graph) for weight in (0.0, 0.5))
    joined.save(tmp_path / "model")
    again = FDMVGCL.load(tmp_path / "model")
    assert again.diffusion.joins == 0.5
    np.testing.assert_array_equal(joined.transform(new), again.transform(new))
    assert joined.operator(new).nnz > plain.operator(new).nnz


def test_joins_hide_no_neighbours_that_differ() -> None:
    rng = np.random.default_rng(0)
    table = (rng.random((120, 20)) < np.where(rng.integers(0, 2, 120)[:, None] == np.arange(20) % 2, 0.6, 0.2)) * 1.0
    ends = np.triu(rng.random((120, 120)) < 0.04, 1)
    graph = Graph.from_scipy((ends + ends.T).astype(float), table)
    models = [FDMVGCL(dim=8, views=2, epochs=1, diffusion=Diffusion(joins=joins)).fit(graph) for joins in (0.0, 0.5)]
    plain, joined = ((model.chosen_.skip, model.chosen_.skip_weight) for model in models)
    assert plain == joined
    assert plain[0] == 1
