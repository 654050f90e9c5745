"""Structural features: the dense truth, graphs at the edge of what is a graph, and nodes that come later."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import sparse

from fdmvgcl import FDMVGCL, Features, Graph, Schedule
from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.errors import InputError, UserError
from fdmvgcl.learning.foresight import SHARES, foresight
from fdmvgcl.learning.structure import (
    STEPS,
    Structure,
    eigenpairs,
    load_structure,
    log_proximity,
    save_structure,
)


def fitted(graph: Graph, seed: int = 0) -> Structure:
    return Structure.fit(graph, graph.operator(), seed)


def blocks(
    sizes: tuple[int, ...] = (40, 40, 40), inside: float = 0.3, across: float = 0.01
) -> tuple[Graph, np.ndarray]:
    """A planted partition and its groups, in the order of its ids."""
    chances = np.full((len(sizes),) * 2, across) + np.eye(len(sizes)) * (inside - across)
    graph = Graph.from_networkx(nx.stochastic_block_model(list(sizes), chances.tolist(), seed=1))
    return graph, np.repeat(np.arange(len(sizes)), sizes)[[int(node) for node in graph.ids]]


def dense_log_proximity(adjacency: sparse.csr_array) -> np.ndarray:
    a = adjacency.toarray()
    degrees = a.sum(axis=1)
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    walk = inverse[:, None] * a
    total = sum(np.linalg.matrix_power(walk, r) for r in range(1, STEPS + 1))
    return np.log(np.maximum(degrees.sum() / STEPS * total * inverse[None, :], 1))


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.star_graph(6), nx.path_graph(2), nx.empty_graph(3)])
def test_proximity_is_the_dense_one_where_no_walk_is_cut(graph: nx.Graph) -> None:
    adjacency = Graph.from_networkx(graph).adjacency
    found = log_proximity(adjacency, np.arange(len(graph))).toarray()
    np.testing.assert_allclose(found, dense_log_proximity(adjacency), atol=1e-5)
    some = np.arange(len(graph))[::2]
    np.testing.assert_array_equal(log_proximity(adjacency, some).toarray(), found[some])


def test_cut_walks_stay_near_the_dense_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = blocks()[0].adjacency
    truth = dense_log_proximity(adjacency)
    monkeypatch.setattr("fdmvgcl.learning.structure._MOST_LOOKS", 2000.0)
    monkeypatch.setattr("fdmvgcl.learning.structure._LEAST_LOOKS", 2000.0)
    cut = log_proximity(adjacency, np.arange(120)).toarray()
    assert np.abs(cut - truth).max() > 1e-3
    assert np.corrcoef(cut.ravel(), truth.ravel())[0, 1] > 0.95


def test_only_the_largest_entries_of_a_row_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    adjacency = blocks()[0].adjacency
    whole = log_proximity(adjacency, np.arange(120)).toarray()
    monkeypatch.setattr("fdmvgcl.learning.structure._ALL_KEPT", 0)
    monkeypatch.setattr("fdmvgcl.learning.structure._LEAST_KEPT", 5)
    kept = log_proximity(adjacency, np.arange(120)).toarray()
    for row, full in zip(kept, whole, strict=True):
        assert np.count_nonzero(row) <= 5
        np.testing.assert_allclose(np.sort(row)[-5:], np.sort(full)[-5:])


def test_eigenpairs_are_those_of_the_largest_magnitude() -> None:
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    spectrum = np.concatenate([[9.0, -8.0, 7.0, -6.0], rng.uniform(-0.01, 0.01, 56)])
    matrix = (turned * spectrum) @ turned.T
    vectors, values = eigenpairs(sparse.csr_array(matrix.astype(np.float32)), 4, seed=0)
    np.testing.assert_allclose(values, [9, -8, 7, -6], atol=1e-4)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", vectors, turned[:, :4])), 1, atol=1e-4)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(4)] > 0).all()


def test_eigenpairs_are_the_same_where_many_rows_are_made_orthonormal_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, _ = blocks((100, 100, 100), 0.2)
    proximity = log_proximity(graph.adjacency, np.arange(300))
    symmetric = ((proximity + proximity.T) * np.float32(0.5)).tocsr()
    vectors, values = eigenpairs(symmetric, 8, seed=0)
    monkeypatch.setattr("fdmvgcl.learning.structure._QR_ROWS", 60)
    by_blocks, of_blocks = eigenpairs(symmetric, 8, seed=0)
    np.testing.assert_allclose(of_blocks, values, rtol=1e-5)
    np.testing.assert_allclose(by_blocks[:, :3], vectors[:, :3], atol=1e-4)
    np.testing.assert_allclose(by_blocks.T @ by_blocks, np.eye(8), atol=1e-5)


def test_the_same_seed_gives_the_same_bytes() -> None:
    graph, _ = blocks()
    assert fitted(graph).vectors.tobytes() == fitted(graph).vectors.tobytes()


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges(["a"], ["b"]),
        Graph.from_edges(["a"], ["b"], nodes=["lonely"]),
        Graph.from_edges([], [], nodes=["alone"]),
        Graph.from_networkx(nx.star_graph(30)),
        Graph.from_networkx(nx.disjoint_union(nx.complete_graph(5), nx.cycle_graph(4))),
        Graph.from_edges(["a", "b"], ["b", "c"], weight=[1e-6, 1e6]),
        Graph.from_edges(["a", "b"], ["b", "c"], weight=[1e-300, 1e300]),
        Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], directed=True),
    ],
)
def test_odd_graphs_have_finite_structure_and_isolated_nodes_none(graph: Graph) -> None:
    found = fitted(graph)
    assert found.vectors.shape == (graph.num_nodes, min(128, graph.num_nodes))
    assert np.isfinite(found.vectors).all()
    assert not found.vectors[graph.isolated].any()
    z = FDMVGCL(dim=8, epochs=2).fit_transform(graph)
    assert np.isfinite(z).all()


def test_new_nodes_get_theirs_from_their_neighbours() -> None:
    graph, groups = blocks()
    found = fitted(graph)
    kept = graph.adjacency.tocoo()
    edges = [graph.ids[i] for i in kept.row], [graph.ids[i] for i in kept.col]
    friends = [graph.ids[i] for i in np.flatnonzero(groups == 1)[:6]]
    grown = Graph.from_edges([*edges[0], *["new"] * 6], [*edges[1], *friends], nodes=["far"])
    rows, without = found.of(grown)
    assert without == 1
    assert not rows[grown.index("far")].any()
    for place, node in enumerate(graph.ids):
        np.testing.assert_array_equal(rows[grown.index(node)], found.vectors[place])
    new = rows[grown.index("new")]
    mean = [found.vectors[groups == g].mean(axis=0) for g in range(3)]
    cosines = [m @ new / np.linalg.norm(m) / np.linalg.norm(new) for m in mean]
    assert np.argmax(cosines) == 1


def test_another_graph_with_the_same_ids_is_not_taken_for_the_training_graph() -> None:
    graph, _ = blocks()
    order = np.random.default_rng(3).permutation(120)
    entries = graph.adjacency.tocoo()
    other = Graph.from_scipy(sparse.coo_array((entries.data, (order[entries.row], order[entries.col])), (120, 120)))
    assert other.ids == graph.ids
    found = fitted(graph)
    rows, without = replace(found, ids=(*found.ids[:-1], "z")).of(other)  # not the very same ids, so it is looked at
    assert without == 120
    assert not rows.any()


def test_it_is_saved_and_read_and_a_broken_file_is_one_line(tmp_path: Path) -> None:
    found, path = fitted(blocks()[0]), tmp_path / "structure.parquet"
    save_structure(found, path)
    again = load_structure(path)
    assert again is not None
    assert again.ids == found.ids
    np.testing.assert_array_equal(again.vectors, found.vectors)
    np.testing.assert_array_equal(again.values, found.values)
    assert load_structure(tmp_path / "none.parquet") is None
    path.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"structure\.parquet: is not the structure of a model"):
        load_structure(path)


def test_a_model_without_features_parts_planted_groups_and_is_the_same_after_saving(tmp_path: Path) -> None:
    graph, groups = blocks()
    model = FDMVGCL(dim=32, seed=0)
    z = model.fit_transform(graph)
    unit = z / np.linalg.norm(z, axis=1, keepdims=True)
    alike = unit @ unit.T
    same = groups[:, None] == groups
    assert alike[same].mean() > alike[~same].mean() + 0.3
    model.save(tmp_path)
    np.testing.assert_allclose(FDMVGCL.load(tmp_path).transform(graph), z, atol=1e-6)


@pytest.mark.parametrize("columns", [1, 3, 200])
def test_random_features_do_not_hide_the_groups(columns: int) -> None:
    """Told by the nearest neighbours in the embedding: with noise beside the edges hardly fewer are of one's group."""
    graph, groups = blocks(inside=0.2)
    noise = np.random.default_rng(5).standard_normal((120, columns))

    def purity(features: np.ndarray | None) -> float:
        z = FDMVGCL(dim=64, seed=0).fit_transform(graph if features is None else graph.with_features(features))
        unit = z / np.linalg.norm(z, axis=1, keepdims=True)
        alike = unit @ unit.T - 2 * np.eye(120)
        return float((groups[np.argsort(-alike, axis=1)[:, :5]] == groups[:, None]).mean())

    assert purity(noise) > purity(None) - 0.05


def test_structure_is_used_as_asked() -> None:
    graph, groups = blocks()
    telling = np.eye(3)[groups].repeat(50, axis=1) * np.random.default_rng(0).uniform(0.5, 1, (120, 150))
    rich = graph.with_features(telling)
    small = {"dim": 8, "views": 2, "epochs": 0}
    widths = {use: FDMVGCL(**small, features=Features(structure=use)).fit(rich).chosen_.features.width for use in USES}
    assert widths == {"auto": 150, "only": 120, "none": 150}
    few = FDMVGCL(**small).fit(graph.with_features(telling[:, ::30])).chosen_
    assert few.features.width == 5
    own = np.random.default_rng(0).standard_normal((120, 1)) * np.ones(5) + 0.1 * telling[:, ::30]
    unshared = FDMVGCL(**small).fit(graph.with_features(own)).chosen_
    assert unshared.features.width == 5 + 120
    assert any("hardly share the 5 columns" in sentence for sentence in unshared.sentences)
    with pytest.raises(UserError, match=r"structure must be auto or only for a graph without features, got 'none'"):
        FDMVGCL(**small, features=Features(structure="none")).fit(graph)


USES = ("auto", "only", "none")


# -- foresight --------------------------------------------------------------------------------------------------------


def topics(graph: Graph, groups: np.ndarray, own: float, seed: int = 0) -> torch.Tensor:
    """Forty noisy words of a topic: the group's, and, by the share ``own``, a node's alone."""
    rng = np.random.default_rng(seed)
    shared, single = rng.standard_normal((3, 4)), rng.standard_normal((len(groups), 4))
    hidden = (1 - own) * shared[groups] + own * single
    words = hidden @ rng.standard_normal((4, 40)) + rng.standard_normal((len(groups), 40))
    return torch.from_numpy(words.astype(np.float32))


@pytest.mark.parametrize(("own", "shares"), [(0.0, (0.0,)), (1.0, (1.0, 10.0))])
def test_what_neighbours_share_is_diffused_and_what_is_ones_own_is_kept(own: float, shares: tuple[float, ...]) -> None:
    graph, groups = blocks((150, 150, 150), 0.1, 0.003)
    x = topics(graph, groups, own)
    found = foresight(x, lambda y: diffuse(graph, y, 0.5, 3.0))
    assert found.share in shares
    assert found.best > 0.1
    compressed = foresight(x.to_sparse_csr(), lambda y: diffuse(graph, y, 0.5, 3.0))
    np.testing.assert_allclose(compressed.told, found.told, atol=1e-4)


@pytest.mark.parametrize("columns", [2, 3, 30])
def test_noise_foretells_nothing_at_any_share(columns: int) -> None:
    graph, _ = blocks((150, 150, 150), 0.1, 0.003)
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((450, columns)).astype(np.float32))
    found = foresight(x, lambda y: diffuse(graph, y, 0.5, 3.0))
    assert len(found.told) == len(SHARES)
    assert found.best < 0.01


def test_constant_columns_foretell_nothing() -> None:
    graph, _ = blocks()
    assert foresight(torch.ones(120, 6), lambda y: diffuse(graph, y, 0.5, 3.0)).best <= 0
    z = FDMVGCL(dim=8, epochs=1, schedule=Schedule(min_rank=0)).fit_transform(graph.with_features(np.ones((120, 6))))
    assert np.isfinite(z).all()
