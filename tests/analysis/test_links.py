"""Missing edges against all pairs by brute force, and an honest check of how well they are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.analysis import links
from fdmvgcl.analysis.links import check_links, links_near, links_of, top_links
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.held_out import hide_edges
from fdmvgcl.results.vectors import unit_rows


def random_graph(n: int, seed: int, directed: bool = False) -> tuple[Graph, np.ndarray]:
    generator = np.random.default_rng(seed)
    source, target = generator.integers(n, size=(2, 2 * n))
    graph = Graph.from_edges(source, target, nodes=np.arange(n), directed=directed)
    z = generator.normal(size=(n, 3))
    z[::2] = np.eye(3)[generator.integers(3, size=len(z[::2]))]  # equals
    z[3::8] = 0
    return graph, z.astype(np.float32)


def brute_force(z: np.ndarray, graph: Graph, count: int) -> list[tuple[int, int]]:
    unit = unit_rows(z).astype(np.float64)
    cosines = (unit @ unit.T).astype(np.float32).round(6)
    joined = graph.adjacency.toarray() + graph.adjacency.toarray().T > 0
    pairs = [(i, j) for i in range(len(z)) for j in range(i + 1, len(z)) if not joined[i, j] and cosines[i, j] > 0]
    return sorted(pairs, key=lambda pair: (-cosines[pair], pair))[:count]


@given(st.integers(2, 60), st.integers(0, 1000), st.sampled_from([1, 5, 40, 5000]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_top_is_that_of_all_pairs(n: int, seed: int, count: int, directed: bool) -> None:
    graph, z = random_graph(n, seed, directed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "_ROWS", 7)
        patch.setattr(links, "_COLUMNS", 16)
        found = top_links(z, graph, count)
    assert list(map(tuple, found.pairs.tolist())) == brute_force(z, graph, count)
    assert (np.diff(found.scores) <= 0).all()


def test_links_of_a_node_are_its_part_of_all() -> None:
    graph, z = random_graph(40, 3)
    every = [pair for pair in brute_force(z, graph, 10**6) if 5 in pair]
    found = links_of(z, graph, 5, 10**6)
    assert {tuple(sorted(pair)) for pair in found.pairs.tolist()} == set(every)
    np.testing.assert_array_equal(links_of(z, graph, 5, 3).pairs, found.pairs[:3])


@given(st.integers(2, 40), st.integers(0, 1000), st.integers(1, 50), st.booleans())
@settings(max_examples=40, deadline=None)
def test_links_of_many_nodes_are_those_of_each(n: int, seed: int, count: int, directed: bool) -> None:
    graph, z = random_graph(n, seed, directed)
    asked = np.random.default_rng(seed).permutation(n)[: 1 + n // 2]
    found = links_near(np.array_split(z, 3), z[asked], graph, asked, count)
    known = {pair: rank for rank, pair in enumerate(brute_force(z, graph, n * n))}
    expected = []
    for node in asked.tolist():
        near = sorted((pair for pair in known if node in pair), key=lambda pair: known[pair])
        others = [sum(pair) - node for pair in near]
        unit = unit_rows(z).astype(np.float64)
        cosines = {other: np.float32(unit[node] @ unit[other]).round(6) for other in others}
        others.sort(key=lambda other: (-cosines[other], other))
        expected += [(node, other) for other in others[:count]]
    assert list(map(tuple, found.pairs.tolist())) == expected


def test_the_check_tells_structure_from_none(model: FDMVGCL, graph: Graph) -> None:
    standing = check_links(model, graph)
    assert standing.ours.mean > 0.8
    names = [each.name for each in standing.controls]
    assert names == ["untrained encoder", "diffused features", "raw features", "common neighbours", "Adamic-Adar"]
    generator = np.random.default_rng(0)
    source, target = generator.integers(120, size=(2, 600))
    noise = Graph.from_edges(source, target, nodes=np.arange(120), features=generator.random((120, 12)))
    assert check_links(model, noise).ours.mean < 0.65


def test_of_a_graph_without_features_the_columns_made_of_edges_are_a_control(
    plain_model: FDMVGCL, plain: Graph
) -> None:
    assert [each.name for each in check_links(plain_model, plain, draws=1).controls] == [
        "untrained encoder",
        "diffused features",
        "columns made of the edges",
        "common neighbours",
        "Adamic-Adar",
    ]


def test_a_complete_graph_has_nothing_to_hide(model: FDMVGCL) -> None:
    source, target = np.triu_indices(5, 1)
    whole = Graph.from_edges(source, target)
    with pytest.raises(UserError, match="too few"):
        hide_edges(whole, 0)
    assert not len(top_links(np.ones((5, 2), np.float32), whole, 9).pairs)
