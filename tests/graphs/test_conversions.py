"""Graphs and tables of other libraries: the same graph from each, and what does not match is refused."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from torch_geometric.data import HeteroData

from fdmvgcl import Graph
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.inputs import as_graph
from fdmvgcl.graphs.readers import read_graph

CALLS = {
    "date": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
    "caller": ["ann", "bob", "cid", "bob"],
    "callee": ["bob", "cid", "ann", "ann"],
    "weight": [1.0, 2.0, 3.0, 4.0],
}
PEOPLE = {"id": ["cid", "ann", "bob"], "age": [5, 3, 4], "city": ["Rome", "Rome", "Oslo"]}
EXPECTED = np.array([[0, 4, 3], [4, 0, 2], [3, 2, 0]])
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, lambda d: pd.DataFrame(d).astype({"caller": "category"})]


def dense(graph: Graph) -> np.ndarray:
    return graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()


def assert_same(one: Graph, other: Graph) -> None:
    assert one.ids == other.ids
    assert_array_equal(one.adjacency.toarray(), other.adjacency.toarray())
    assert (one.features is None) == (other.features is None)
    if one.features is not None:
        assert_array_equal(dense(one), dense(other))


# -- tables of edges --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_a_table_are_recognised_as_those_of_files(frame, tmp_path) -> None:
    graph = Graph.from_edges(frame(CALLS))
    assert graph.ids == ("ann", "bob", "cid")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert "columns not used: `date`" in graph.notes
    pd.DataFrame(CALLS).to_csv(tmp_path / "calls.csv", index=False)
    assert_same(graph, read_graph(tmp_path / "calls.csv"))
    assert_same(graph, as_graph(frame(CALLS)))


def test_columns_can_be_named() -> None:
    frame = pd.DataFrame(CALLS).rename(columns={"weight": "minutes"})
    assert not Graph.from_edges(frame).weighted
    assert Graph.from_edges(frame, weight="minutes").weighted
    assert Graph.from_edges(frame, source="date", target="callee").num_nodes == 7
    directed = Graph.from_edges(frame, directed=True, repeated="sum", nodes=["zoe"])
    assert (directed.num_nodes, directed.num_edges) == (4, 4)


def test_the_index_of_a_data_frame_is_no_end() -> None:
    frame = pd.DataFrame(CALLS)
    assert Graph.from_edges(frame[frame.weight > 2][["caller", "callee"]]).ids == ("ann", "bob", "cid")
    assert_same(Graph.from_edges(frame.set_index(["caller", "callee"])[["weight"]]), Graph.from_edges(frame))


def test_features_come_with_the_edges() -> None:
    graph = Graph.from_edges(pd.DataFrame(CALLS), features=pl.DataFrame(PEOPLE))
    assert_array_equal(graph.features, [[3, 1, 0], [4, 0, 1], [5, 1, 0]])


def test_times_of_a_table_count_as_those_of_a_file() -> None:
    frame = pd.DataFrame(CALLS).rename(columns={"date": "time"})
    assert Graph.from_edges(frame, since="2024-01-03").num_edges == 2
    assert Graph.from_edges(frame.assign(time=pd.to_datetime(frame.time)), until="2024-01-02").num_edges == 2
    decayed = Graph.from_edges(frame, half_life="1d")
    assert decayed.adjacency[0, 2] == 1.5
    with pytest.raises(UserError, match="must have a column time or timestamp"):
        Graph.from_edges(pd.DataFrame(CALLS), since="2024-01-03")
    with pytest.raises(UserError, match="edges must be a table with a column time"):
        Graph.from_edges(["a"], ["b"], since="2024-01-03")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges(pd.DataFrame(CALLS), source="caller", target="calle"), "'calle' must be one of the"),
        (lambda: Graph.from_edges(pd.DataFrame(CALLS), source="caller"), "target must be named too"),
        (lambda: Graph.from_edges(pd.DataFrame(CALLS), weight="minutes"), "weight column 'minutes' must be one of"),
        (lambda: Graph.from_edges(pd.DataFrame(CALLS).iloc[:0]), "edges: holds no edges"),
        (lambda: Graph.from_edges(pd.DataFrame({"a": [1], "b": [2], "c": [3]})), "is not certain"),
        (lambda: Graph.from_edges(pd.DataFrame({"a": [1, None], "b": [2, 3]})), "strings or integers, got double"),
        (lambda: Graph.from_edges(pd.DataFrame({"a": [1, "x"], "b": [2, 3]})), "values of one kind each"),
        (lambda: Graph.from_edges(pd.DataFrame([[1, 2]], columns=["a", "a"])), "names of their own"),
        (lambda: Graph.from_edges(pl.DataFrame({"source": ["a", None], "target": ["b", "c"]})), "row 2: source must"),
        (lambda: Graph.from_edges(pl.DataFrame({"a": ["x"], "b": ["y"], "weight": ["z"]})), "of type large_string"),
        (lambda: Graph.from_edges([("a", "b")]), "target must hold the other end of each edge"),
        (lambda: Graph.from_edges(), "edges must be a table, or ids of the edges' sources beside target"),
    ],
)
def test_tables_that_are_no_edges(call, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


# -- tables of features -----------------------------------------------------------------------------------------------

CLUB = Graph.from_edges(pd.DataFrame(CALLS))


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(PEOPLE),
        pd.DataFrame(PEOPLE).set_index("id"),
        pd.DataFrame(PEOPLE).rename(columns={"id": "ID"}),
        pd.DataFrame(PEOPLE).set_index("id").rename_axis(None),
        pl.DataFrame(PEOPLE),
        pa.table(PEOPLE),
    ],
    ids=["column", "index", "ID", "index without a name", "polars", "arrow"],
)
def test_rows_are_matched_by_id_or_index(table) -> None:
    assert_array_equal(CLUB.with_features(table).features, [[3, 1, 0], [4, 0, 1], [5, 1, 0]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pd.DataFrame(PEOPLE).drop(columns="id"),
            "got none: their ids are '0' …, those of nodes 'ann' … .*data frame's ind",
        ),
        (pd.DataFrame(PEOPLE).iloc[:2], "must have a row for every node; 'bob' has none"),
        (pd.DataFrame(PEOPLE).iloc[[0, 1, 2, 2]], "must be distinct, got 'bob' twice"),
        (pd.DataFrame({"x": [1]}, index=pd.MultiIndex.from_tuples([("a", "b")])), "an index of one level"),
        (pl.DataFrame(PEOPLE).drop("id"), "must have a column id, or come with ids"),
        (pa.table(PEOPLE).rename_columns(["name", "age", "city"]), "must have a column id, or come with ids"),
    ],
)
def test_rows_that_do_not_match_are_refused(table, message: str) -> None:
    for fill_missing in (False, True) if "row for every" not in message else (False,):
        with pytest.raises(UserError, match=message):
            CLUB.with_features(table, fill_missing=fill_missing)


@settings(deadline=None, max_examples=50)
@given(st.permutations(range(6)), st.booleans())
def test_the_order_of_rows_means_nothing(order: list[int], indexed: bool) -> None:
    graph = Graph.from_edges(pd.DataFrame({"a": list("abcde"), "b": list("bcdef")}))
    table = pd.DataFrame({"id": list("abcdef"), "x": range(6), "kind": list("uvuvuu")})
    shuffled = table.iloc[order]
    assert_same(graph.with_features(table), graph.with_features(shuffled.set_index("id") if indexed else shuffled))


# -- other libraries --------------------------------------------------------------------------------------------------


def test_networkx_igraph_and_scipy_agree() -> None:
    club = nx.karate_club_graph()
    expected = Graph.from_networkx(club)
    ours = igraph.Graph(edges=list(club.edges), edge_attrs={"weight": [w for *_, w in club.edges(data="weight")]})
    assert_same(expected, Graph.from_igraph(ours))
    ours.vs["name"] = [f"m{i}" for i in range(34)]
    named = Graph.from_igraph(ours)
    assert named.ids == tuple(sorted(f"m{i}" for i in range(34)))
    matrix = nx.to_scipy_sparse_array(club)
    assert_same(named, Graph.from_scipy(matrix, ids=ours.vs["name"]))
    assert_same(named, as_graph(ours))
    assert_same(expected, Graph.from_scipy(matrix))


@pytest.mark.parametrize("directed", [False, True])
def test_directions_and_parallel_edges_of_igraph(directed: bool) -> None:
    ours = igraph.Graph(edges=[(0, 1), (0, 1), (1, 0), (2, 2)], directed=True)
    theirs = nx.MultiDiGraph([(0, 1), (0, 1), (1, 0), (2, 2)])
    for repeated in ("max", "sum"):
        how = {"directed": directed, "repeated": repeated}
        assert_same(Graph.from_igraph(ours, **how), Graph.from_networkx(theirs, **how))
    assert ("directed edges taken as undirected" in Graph.from_igraph(ours, directed=directed).notes) is not directed
    both_ways = Graph.from_igraph(igraph.Graph(edges=[(0, 1)]), directed=True)
    assert both_ways.adjacency.nnz == 2


def test_attributes_of_nodes_are_features_or_said_to_be_left_out() -> None:
    club = nx.Graph([("a", "b"), ("b", "c")])
    nx.set_node_attributes(club, {"a": "x", "b": "y", "c": "x"}, "kind")
    nx.set_node_attributes(club, {"a": 1, "c": 3}, "age")
    nx.set_node_attributes(club, {n: np.array([1.0, 2]) for n in club}, "vector")
    told = 'attributes of nodes left out: `kind`, `age`, `vector` (take them with features=[…], or "all")'
    assert told in Graph.from_networkx(club).notes
    ours = igraph.Graph.from_networkx(club)
    ours.vs["name"] = ours.vs["_nx_name"]
    del ours.vs["_nx_name"]
    for graph in (
        Graph.from_networkx(club, features="all"),
        Graph.from_igraph(ours, features=["kind", "age", "vector"]),
    ):
        names = ("kind=x", "kind=y", "age", "age (blank)", "vector[0]", "vector[1]")
        assert sorted(graph.feature_names or ()) == sorted(names)
        assert not any("left out" in note for note in graph.notes)
        assert graph.features[1, graph.feature_names.index("age (blank)")] == 1
    some = Graph.from_networkx(club, features=["age"])
    assert any("left out: `kind`, `vector`" in note for note in some.notes)
    with pytest.raises(UserError, match="got 'agee'; did you mean 'age'"):
        Graph.from_networkx(club, features=["agee"])
    with pytest.raises(UserError, match="must be names of node attributes"):
        Graph.from_networkx(club, features="age")
    club.nodes["a"]["age"] = "old"
    with pytest.raises(UserError, match="attribute 'age' of the nodes must hold values of one kind"):
        Graph.from_networkx(club, features=["age"])


@pytest.mark.parametrize("given", [42, None, [("a", "b")], "edges.csv"])
def test_what_is_no_graph_of_a_library_is_refused(given: object) -> None:
    with pytest.raises(UserError, match="must be a graph of NetworkX, got "):
        Graph.from_networkx(given)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="must be a graph of igraph, got "):
        Graph.from_igraph(given)


def test_igraph_refuses_what_networkx_refuses() -> None:
    twice = igraph.Graph(2, edges=[(0, 1)])
    twice.vs["name"] = ["a", "a"]
    with pytest.raises(UserError, match="names of nodes, written as strings, must be distinct, got 'a' twice"):
        Graph.from_igraph(twice)
    partly = igraph.Graph(3, edges=[(0, 1), (1, 2)])
    partly.es[0]["weight"] = 2
    with pytest.raises(UserError, match="'weight' must be on every edge or on none, got none on '1', '2'"):
        Graph.from_igraph(partly)
    assert not Graph.from_igraph(partly, weight=None).weighted
    with pytest.raises(UserError, match="at least one node"):
        Graph.from_igraph(igraph.Graph())


def test_ids_of_a_matrix() -> None:
    matrix = sparse.coo_array(([2.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    graph = Graph.from_scipy(matrix, np.eye(3), ids=["zoe", "ann", "10"])
    assert graph.ids == ("10", "ann", "zoe")
    assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    assert_array_equal(graph.features, np.eye(3)[::-1])
    assert Graph.from_scipy(matrix, ids=np.array([10, 9, 8])).ids == ("8", "9", "10")
    for ids, message in (
        (["a", "b"], "ids must have one id for each of 3 nodes, got 2"),
        (["a", "b", "a"], "ids must be distinct, got 'a' twice"),
        (["a", "b", ""], "ids must not be empty"),
        ("abc", "ids must be a sequence of ids"),
    ):
        with pytest.raises(UserError, match=message):
            Graph.from_scipy(matrix, ids=ids)


def library() -> HeteroData:
    data = HeteroData()
    data["paper"].x = torch.tensor([[1.0, 2], [3, 4], [5, 6]])
    data["author"].num_nodes = 2
    data["venue"].x = torch.tensor([[7.0]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    data["paper", "in", "venue"].edge_index = torch.tensor([[0], [0]])
    return data


def test_types_of_pyg_become_one_graph_and_its_features() -> None:
    graph = Graph.from_pyg(library())
    assert graph.ids == ("author/0", "author/1", "paper/0", "paper/1", "paper/2", "venue/0")
    there = {(graph.ids[i], graph.ids[j]) for i, j in zip(*sparse.triu(graph.adjacency).nonzero(), strict=True)}
    writes = {("author/0", "paper/0"), ("author/1", "paper/1"), ("author/1", "paper/2")}
    assert there == writes | {("paper/0", "venue/0")}
    assert graph.feature_names == ("type=paper", "type=author", "type=venue", "paper.x[0]", "paper.x[1]", "venue.x[0]")
    rows = {node: row.tolist() for node, row in zip(graph.ids, graph.features.toarray(), strict=True)}
    assert rows["author/1"] == [0, 1, 0, 0, 0, 0]
    assert rows["paper/1"] == [1, 0, 0, 3, 4, 0]
    assert rows["venue/0"] == [0, 0, 1, 0, 0, 7]
    assert "3 types of nodes in one graph: paper, author, venue" in graph.notes
    assert_same(graph, as_graph(library()))


def test_weights_of_types_are_taken_where_all_have_them() -> None:
    data = library()
    data["author", "writes", "paper"].edge_weight = torch.tensor([2.0, 3, 4])
    assert not Graph.from_pyg(data).weighted
    assert "weights left out: not every type of edges has them" in Graph.from_pyg(data).notes
    data["paper", "in", "venue"].edge_attr = torch.tensor([5.0])
    graph = Graph.from_pyg(data)
    assert graph.adjacency[graph.index("author/1"), graph.index("paper/2")] == 4
    assert graph.adjacency[graph.index("venue/0"), graph.index("paper/0")] == 5
    data["paper", "in", "venue"].edge_index = torch.tensor([[0], [1]])
    with pytest.raises(UserError, match="edge_index must hold node numbers from 0 to 0, got others"):
        Graph.from_pyg(data)
    with pytest.raises(UserError, match="must have nodes and an edge_index, got none"):
        Graph.from_pyg(HeteroData())
