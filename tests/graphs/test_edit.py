"""Graphs changed into others are the graphs that would have been read."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fdmvgcl.errors import UserError
from fdmvgcl.graphs.edit import (
    numbers_of,
    scaled,
    subgraph,
    union,
    with_edges,
    with_nodes,
    without_edges,
    without_nodes,
)
from fdmvgcl.graphs.graph import Graph

few = settings(deadline=None, max_examples=40)
names = st.sampled_from(["0", "9", "10", "O'Brien", "<script>", "é", "-1", "007"])
edge_lists = st.lists(st.tuples(names, names, st.integers(1, 5)), min_size=1, max_size=14)
NODES = ["0", "9", "10", "O'Brien", "<script>", "é", "-1", "007"]


def graph_of(edges: dict[tuple[str, str], float], nodes: list[str], directed: bool = False) -> Graph:
    return Graph.from_edges(
        [a for a, _ in edges], [b for _, b in edges], weight=list(edges.values()), nodes=nodes, directed=directed
    )


def edges_of(graph: Graph) -> dict[tuple[str, str], float]:
    entries = graph.adjacency.tocoo()
    return {
        (graph.ids[i], graph.ids[j]): float(w) for i, j, w in zip(entries.row, entries.col, entries.data, strict=True)
    }


def same(left: Graph, right: Graph) -> bool:
    return left.ids == right.ids and edges_of(left) == edges_of(right)


def largest(edges: list[tuple[str, str, int]], directed: bool) -> dict[tuple[str, str], float]:
    """The edges by pair, in both directions if undirected, each with its largest weight."""
    found: dict[tuple[str, str], float] = {}
    for a, b, weight in edges:
        for pair in [(a, b)] if directed else [(a, b), (b, a)]:
            if a != b:
                found[pair] = max(found.get(pair, 0), weight)
    return found


@given(edge_lists, edge_lists, st.booleans())
@few
def test_a_union_is_the_graph_of_all_edges(first: list, second: list, directed: bool) -> None:
    both = [largest(each, directed) for each in (first, second)]
    nodes = [sorted({end for a, b, _ in each for end in (a, b)}) for each in (first, second)]
    graphs = [graph_of(edges, ids, directed) for edges, ids in zip(both, nodes, strict=True)]
    expected = graph_of(largest([*first, *second], directed), sorted({*nodes[0], *nodes[1]}), directed)
    assert same(union(*graphs), expected)


@given(edge_lists, edge_lists, st.booleans())
@few
def test_a_new_weight_takes_the_place_of_the_old(first: list, second: list, directed: bool) -> None:
    old, new = largest(first, directed), largest(second, directed)
    changed = with_edges(graph_of(old, NODES, directed), *zip(*new, strict=True), list(new.values())) if new else None
    assert changed is None or same(changed, graph_of(old | new, NODES, directed))


@given(edge_lists, st.lists(names, min_size=1, max_size=4), st.booleans())
@few
def test_a_subgraph_is_what_the_others_leave(edges: list, chosen: list[str], directed: bool) -> None:
    every = largest(edges, directed)
    graph = graph_of(every, NODES, directed)
    kept = graph_of({pair: w for pair, w in every.items() if set(pair) <= set(chosen)}, list(set(chosen)), directed)
    assert same(subgraph(graph, chosen), kept)
    gone = [node for node in NODES if node not in chosen]
    assert not gone or same(without_nodes(graph, gone), kept)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_go_and_nodes_stay(directed: bool) -> None:
    graph = graph_of({("a", "b"): 2, ("b", "c"): 1}, ["d"], directed)
    changed = without_edges(graph, ["a"], ["b"])
    assert changed.ids == graph.ids
    assert set(edges_of(changed)) == ({("b", "c")} if directed else {("b", "c"), ("c", "b")})
    if directed:
        with pytest.raises(UserError, match="no edge from 'b' to 'a'"):
            without_edges(graph, ["b"], ["a"])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_features_follow_their_nodes(make: Callable) -> None:
    rows = {"10": [1, 2], "9": [3, 4], "x": [5, 6]}
    graph = Graph.from_edges(["10"], ["9"], features=make([*rows.values()]), feature_ids=[*rows], feature_names="ab")

    def table(changed: Graph) -> dict[str, list[float]]:
        values = changed.features.toarray() if sparse.issparse(changed.features) else changed.features
        return dict(zip(changed.ids, values.tolist(), strict=True))

    assert table(without_nodes(graph, ["x"])) == {"9": [3, 4], "10": [1, 2]}
    assert without_nodes(graph, ["x"]).ids == ("9", "10")  # numbers now, and no names beside them
    grown = with_nodes(graph, ["new", "x"], make([[7, 8], [60, 50]]), ["b", "a"])
    assert table(grown) == {"10": [1, 2], "9": [3, 4], "x": [50, 60], "new": [8, 7]}
    assert grown.num_edges == 1
    other = Graph.from_edges(["x"], ["y"], features=make([[0, 0], [1, 1]]), feature_ids=["x", "y"])
    assert table(union(graph, other)) == rows | {"y": [1, 1]}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda g: numbers_of(g, ["alise"]), "the graph has no node 'alise'; did you mean 'alice'"),
        (lambda g: without_edges(g, ["alice"], ["carl"]), "no edge between 'alice' and 'carl'"),
        (lambda g: without_nodes(g, g.ids), "at least one node must stay"),
        (lambda g: with_edges(g, ["alice"], ["nobody"]), "no node 'nobody'"),
        (lambda g: with_edges(g, ["alice"], ["bob"], [np.nan]), "weight must be a finite number"),
        (lambda g: with_nodes(g, ["dan"], [[1.0]]), "features cannot be given"),
        (lambda g: union(g, Graph.from_edges(["a"], ["b"], directed=True)), "both graphs must be directed"),
    ],
)
def test_what_cannot_be_is_refused(change: Callable[[Graph], Graph], told: str) -> None:
    graph = graph_of({("alice", "bob"): 1, ("bob", "carl"): 1}, [])
    with pytest.raises(UserError, match=told):
        change(graph)


def test_an_edge_that_fades_away_is_none() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"], weight=[1.0, 1e300])
    faded = scaled(graph, 1e-305)
    assert faded.num_edges == 1
    assert faded.adjacency.max() == 1e300 * 1e-305
