"""GraphSet: many graphs as one, whatever they come from; each graph keeps what is its own."""

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from torch_geometric.data import Data

from fdmvgcl import FDMVGCL, Graph, GraphSet
from fdmvgcl.errors import ArgumentError, InputError, RowError, UserError

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)


def dense(graph: Graph) -> np.ndarray:
    return graph.adjacency.toarray()


def triangle_and_path() -> GraphSet:
    return GraphSet.from_networkx({"path": nx.path_graph(3), "triangle": nx.cycle_graph(3)})


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        names, st.lists(st.tuples(names, names), min_size=1, max_size=5, unique=True), min_size=1, max_size=5
    )
)
def test_graphs_come_out_as_they_went_in(edges: dict[str, list[tuple[str, str]]]) -> None:
    given_graphs = {
        name: Graph.from_edges([a for a, _ in pairs], [b for _, b in pairs]) for name, pairs in edges.items()
    }
    graphs = GraphSet.from_graphs(given_graphs)
    assert graphs.ids == tuple(given_graphs)
    assert_array_equal(graphs.sizes, [graph.num_nodes for graph in given_graphs.values()])
    assert_array_equal(graphs.edge_counts, [graph.num_edges for graph in given_graphs.values()])
    for name, graph in given_graphs.items():
        found = graphs.graph(name)
        assert found is not None
        assert found.ids == graph.ids
        assert_array_equal(dense(found), dense(graph))


def test_owner_and_rows_belong_to_the_nodes() -> None:
    parts = {
        "b/1": Graph.from_edges(["x"], ["y"], nodes=["x", "y"], features=[[1.0], [2.0]]),
        "b": Graph.from_edges(["1/x"], ["10"], nodes=["1/x", "10"], features=[[3.0], [4.0]]),
        "100%": Graph.from_edges(["2"], ["10"], nodes=["2", "10"], features=[[5.0], [6.0]]),
    }
    graphs = GraphSet.from_graphs(parts)
    assert set(graphs.block.ids) == {"b%2F1/x", "b%2F1/y", "b/1/x", "b/10", "100%25/2", "100%25/10"}
    rows = dict(zip(graphs.block.ids, graphs.block.features[:, 0].tolist(), strict=True))
    assert rows == {"b%2F1/x": 1, "b%2F1/y": 2, "b/1/x": 3, "b/10": 4, "100%25/2": 5, "100%25/10": 6}
    assert [graphs.ids[i] for i in graphs.owner] == ["100%", "100%", "b/1", "b/1", "b", "b"]


def test_empty_graphs_single_nodes_and_graphs_without_edges_are_graphs() -> None:
    graphs = GraphSet.from_networkx([nx.Graph(), nx.empty_graph(1), nx.empty_graph(2), nx.path_graph(2), nx.Graph()])
    assert graphs.sizes.tolist() == [0, 1, 2, 2, 0]
    assert graphs.edge_counts.tolist() == [0, 0, 0, 1, 0]
    assert graphs.graph("0") is None
    assert graphs.describe().startswith("5 graphs (2 of them without nodes), 5 nodes (3 isolated), 1 edge")
    assert [places.tolist() for places, _ in graphs.batches(2)] == [[1, 2], [3]]


@pytest.mark.parametrize("graphs", [[], [nx.Graph(), nx.Graph()]])
def test_no_node_at_all_is_refused(graphs: list[nx.Graph]) -> None:
    with pytest.raises(ArgumentError, match="graphs must have at least one node in all, got none"):
        GraphSet.from_networkx(graphs)


def test_all_ways_in_lead_to_the_same_set() -> None:
    graphs = [nx.path_graph(3), nx.cycle_graph(4), nx.Graph()]
    x = [np.arange(3.0)[:, None], np.ones((4, 1)), np.ones((0, 1))]
    matrices = [nx.to_scipy_sparse_array(graph) if len(graph) else sparse.csr_array((0, 0)) for graph in graphs]
    data = [
        Data(
            x=torch.tensor(table, dtype=torch.float32),
            edge_index=torch.tensor(np.array(matrix.nonzero()), dtype=torch.int64),
            num_nodes=matrix.shape[0],
        )
        for matrix, table in zip(matrices, x, strict=True)
    ]
    first = GraphSet.from_scipy(matrices, x)
    listed = [Graph.from_scipy(m, t) if m.shape[0] else None for m, t in zip(matrices, x, strict=True)]
    mixed = ([*matrices[:2], None], [graphs[0], matrices[1], data[2]], graphs, matrices)
    for other in (GraphSet.from_pyg(data), GraphSet.from_graphs(listed), *map(GraphSet.from_graphs, mixed)):
        assert other.ids == first.ids == ("0", "1", "2")
        assert other.block.ids == first.block.ids
        assert_array_equal(dense(other.block), dense(first.block))
    assert_array_equal(GraphSet.from_pyg(data).block.features, first.block.features)
    assert_array_equal(dense(GraphSet.from_networkx(graphs).block), dense(first.block))


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (Graph.from_edges(["a"], ["b"]), "graphs must all have features or none; '1' has none, others have"),
        (
            Graph.from_edges(["a"], ["b"], nodes=["a", "b"], features=np.ones((2, 3))),
            "graphs must have the same feature columns, but '1' has 3 and '0' 2",
        ),
        (
            Graph.from_edges(["a"], ["b"], nodes=["a", "b"], features=np.ones((2, 2)), feature_names=["v", "w"]),
            "graphs must have the same feature columns, but '1' has no 'u'",
        ),
        (
            Graph.from_edges(["a"], ["b"], nodes=["a", "b"], features=np.ones((2, 2)), directed=True),
            "graphs must all be directed or all undirected",
        ),
    ],
)
def test_mixed_graphs_are_refused(second: Graph, message: str) -> None:
    first = Graph.from_edges(["a"], ["b"], nodes=["a", "b"], features=np.ones((2, 2)), feature_names=["u", "v"])
    with pytest.raises(ArgumentError) as caught:
        GraphSet.from_graphs([first, second])
    assert str(caught.value) == message


def test_attributes_of_networkx_nodes_are_encoded_together_or_told() -> None:
    carbon, oxygen = nx.Graph(), nx.DiGraph()
    carbon.add_edge("x", "y", weight=2.0)
    nx.set_node_attributes(carbon, {"x": "C", "y": "O"}, "element")
    oxygen.add_nodes_from([("x", {"element": "O", "charge": 1.5}), ("z", {"element": "C"})])
    oxygen.add_edge("z", "x")
    molecules = {"co/1": carbon, "nothing": nx.Graph(), "o": oxygen}
    told = GraphSet.from_networkx(molecules)
    assert told.block.features is None
    assert any("attributes of nodes left out: `element`, `charge`" in note for note in told.notes)
    graphs = GraphSet.from_networkx(molecules, features="all")
    assert graphs.ids == ("co/1", "nothing", "o")
    assert graphs.sizes.tolist() == [2, 0, 2]
    assert graphs.block.feature_names == ("element=C", "element=O", "charge", "charge (blank)")
    assert graphs.graph("o").features.tolist() == [[0, 1, 1.5, 0], [1, 0, 1.5, 1]]
    assert dense(graphs.graph("co/1")).tolist() == [[0, 2], [2, 0]]
    both = GraphSet.from_networkx(molecules, directed=True)
    assert dense(both.graph("co/1")).tolist() == [[0, 2], [2, 0]]
    assert dense(both.graph("o")).tolist() == [[0, 0], [1, 0]]
    with pytest.raises(ArgumentError, match="must name attributes of the nodes, got 'elemnt'; did you mean 'element'"):
        GraphSet.from_networkx(molecules, features=["elemnt"])


def test_columns_are_matched_by_name() -> None:
    ends = {"source": ["a"], "target": ["b"], "nodes": ["a", "b"]}
    first = Graph.from_edges(**ends, features=[[1, 2], [3, 4]], feature_names=["u", "v"])
    second = Graph.from_edges(**ends, features=[[6, 5], [8, 7]], feature_names=["v", "u"])
    graphs = GraphSet.from_graphs([first, second])
    assert graphs.block.features.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_sparse_and_dense_tables_may_be_mixed() -> None:
    wide = np.zeros((2, 30), dtype=np.float32)
    wide[0, 3] = 1
    first, second = (
        Graph.from_edges(["a"], ["b"], nodes=["a", "b"], features=table) for table in (wide, np.ones((2, 30)))
    )
    found = GraphSet.from_graphs([first, second]).block.features
    assert_array_equal(found.toarray(), np.concatenate([wide, np.ones((2, 30))]))


def test_taking_and_batches_keep_what_belongs_together() -> None:
    rng = np.random.default_rng(0)
    parts = [nx.gnp_random_graph(int(n), 0.5, seed=int(n)) for n in rng.integers(1, 9, 20)]
    graphs = GraphSet.from_networkx(parts)
    some = graphs.take(np.array([7, 2, 11]))
    assert some.ids == ("7", "2", "11")
    for name in some.ids:
        assert_array_equal(dense(some.graph(name)), dense(graphs.graph(name)))
    found = list(graphs.batches(10))
    assert np.concatenate([places for places, _ in found]).tolist() == list(range(20))
    for places, batch in found:
        assert batch.ids == tuple(graphs.ids[i] for i in places)
        assert len(places) == 1 or batch.block.num_nodes <= 10 + 8


def test_a_set_is_the_same_after_saving(tmp_path: Path) -> None:
    graphs = GraphSet.from_networkx({"O'Brien": nx.path_graph(3), "empty": nx.Graph(), "<script>": nx.cycle_graph(3)})
    graphs.save(tmp_path / "graph.npz")
    read = GraphSet.load(tmp_path / "graph.npz")
    assert read.ids == graphs.ids
    assert_array_equal(read.owner, graphs.owner)
    assert_array_equal(dense(read.block), dense(graphs.block))
    with pytest.raises(InputError, match="holds many graphs, and this is for one"):
        Graph.load(tmp_path / "graph.npz")
    Graph.from_edges(["a"], ["b"]).save(tmp_path / "one.npz")
    with pytest.raises(InputError, match="holds one graph, not many"):
        GraphSet.load(tmp_path / "one.npz")


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (GraphSet.from_networkx, "graphs must each be a graph of NetworkX, got a int"),
        (GraphSet.from_pyg, "graphs must each be a Data of PyTorch Geometric, got a int"),
        (GraphSet.from_scipy, "graphs must each be a matrix, got a int"),
        (GraphSet.from_graphs, "graph must be a Graph, a GraphSet, a SciPy matrix"),
    ],
)
def test_one_graph_where_many_are_asked_for_is_refused(way: Callable[..., GraphSet], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        way(nx.path_graph(3))


def test_what_breaks_a_rule_is_named() -> None:
    two = np.array([0, 1])
    with pytest.raises(RowError, match="must stay within one graph, got one from 'a/0' to 'b/0'"):
        GraphSet.from_numbers(["a", "b"], two, np.array([0]), np.array([1]))
    with pytest.raises(ArgumentError, match="ids must be distinct, got 'a' twice"):
        GraphSet(("a", "a"), Graph.from_edges(["a/x"], ["a/y"]))
    with pytest.raises(ArgumentError, match="must name each node as graph/node, got 'c/x'"):
        GraphSet(("a",), Graph.from_edges(["c/x"], ["a/y"]))
    with pytest.raises(ArgumentError, match="nodes must be distinct within a graph, got 'a/x' twice"):
        GraphSet.from_numbers(["a"], np.array([0, 0]), np.array([0]), np.array([1]), nodes=["x", "x"])
    with pytest.raises(KeyError, match="no graph has the id 'pat'; did you mean 'path'"):
        triangle_and_path().index("pat")


# -- tables -----------------------------------------------------------------------------------------------------------

EDGES = "graph,source,target,weight\n10,a,b,1\n9,a,b,2\n9,b,c,3\n"
NODES = "graph,id,size\n10,a,1\n10,b,2\n9,a,3\n9,b,4\n9,c,5\n11,z,6\n"


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return [folder / f"{name}.csv" for name in texts]


def test_tables_of_many_graphs(tmp_path: Path) -> None:
    edges, nodes = written(tmp_path, edges=EDGES, nodes=NODES)
    graphs = GraphSet.read(edges, nodes)
    assert graphs.ids == ("9", "10", "11")
    assert graphs.sizes.tolist() == [3, 2, 1]
    nine = graphs.graph("9")
    assert nine.ids == ("a", "b", "c")
    assert dense(nine).tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
    assert nine.features[:, 0].tolist() == [3, 4, 5]
    assert nine.feature_names == ("size",)
    assert GraphSet.read(edges).ids == ("9", "10")


def test_parquet_and_text_are_the_same_set(tmp_path: Path) -> None:
    edges, nodes = written(tmp_path, edges=EDGES, nodes=NODES)
    for path in (edges, nodes):
        pq.write_table(pa.csv.read_csv(path), path.with_suffix(".parquet"))
    read = [GraphSet.read(edges.with_suffix(end), nodes.with_suffix(end)) for end in (".csv", ".parquet")]
    assert read[0].ids == read[1].ids
    assert read[0].block.ids == read[1].block.ids
    assert_array_equal(dense(read[0].block), dense(read[1].block))
    assert_array_equal(read[0].block.features, read[1].block.features)


def test_columns_of_any_kind_are_features_and_are_encoded_alike_in_new_graphs(tmp_path: Path) -> None:
    atoms = "graph,id,element,charge\n9,a,C,1\n9,b,O,\n9,c,C,3\n10,a,N,0\n10,b,C,2\n"
    edges, nodes = written(tmp_path, edges=EDGES, nodes=atoms)
    graphs = GraphSet.read(edges, nodes)
    names = ("element=C", "element=N", "element=O", "charge", "charge (blank)")
    assert graphs.block.feature_names == names
    assert graphs.graph("9").features.tolist() == [[1, 0, 0, 1, 0], [0, 0, 1, 1.5, 1], [1, 0, 0, 3, 0]]
    model = FDMVGCL(dim=4, views=2, epochs=1)
    z = model.fit_transform(graphs)
    _, other = written(tmp_path, edges=EDGES, other="graph,id,charge,element\n10,a,0,N\n10,b,2,C\n")
    (tmp_path / "edges.csv").write_text("graph,source,target\n10,a,b\n")
    assert_allclose(model.transform(GraphSet.read(edges, other))[0], z[1], atol=1e-5)
    model.save(tmp_path / "model")
    graphs.save(tmp_path / "graphs.npz")
    kept = FDMVGCL.load(tmp_path / "model").transform(GraphSet.load(tmp_path / "graphs.npz").take(np.array([1, 0])))
    assert_allclose(kept, z[[1, 0]], atol=1e-5)
    with pytest.raises(UserError, match="column 'element' is missing"):
        model.transform(GraphSet.read(edges))


def test_ids_of_one_table_tell_the_graph_of_edges_that_do_not(tmp_path: Path) -> None:
    edges, nodes = written(
        tmp_path, edges="source,target\nu,v\nw,x\n", nodes="graph,id\nfirst,u\nfirst,v\nsecond,w\nsecond,x\n"
    )
    graphs = GraphSet.read(edges, nodes)
    assert graphs.ids == ("first", "second")
    assert graphs.graph("second").ids == ("w", "x")
    assert graphs.edge_counts.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ("source,target\na,b\n", None, "edges.csv: must have a column graph, or a node table beside it that has"),
        (EDGES, "id,size\na,1\n", "nodes.csv: must have a column graph"),
        (EDGES + "9,d,,1\n", None, "edges.csv:5: target must not be empty"),
        (EDGES + ",a,b,1\n", None, "edges.csv:5: graph must not be empty"),
        (EDGES, NODES + "12,,7\n", "nodes.csv:8: id must not be empty"),
        (EDGES + "9,c,q,1\n", NODES, "nodes.csv: features must have a row for every node; '9/q' has none"),
        (EDGES, NODES + "11,z,7\n", "nodes.csv:8: feature_ids must be distinct, got '11/z' twice"),
        (
            EDGES,
            NODES.replace("5\n", "inf\n"),
            "nodes.csv: features column 'size' must hold finite numbers, got inf in line 6",
        ),
        ("graph,source,target\n", None, "edges.csv: holds no edges, and no node table is beside it"),
        (EDGES.replace("3\n", "-3\n"), NODES, "edges.csv:4: weight must be a finite number of at least 0, got -3.0"),
        (
            "source,target\nu,w\n",
            "graph,id\nfirst,u\nsecond,w\n",
            "edges.csv:2: an edge must stay within one graph, got one between the graphs 'first' and 'second'",
        ),
        ("source,target\nu,q\n", "graph,id\nfirst,u\nfirst,v\n", "edges.csv:2: 'q' must be a node of"),
        (
            "source,target\nu,v\n",
            "graph,id\nfirst,u\nfirst,v\nsecond,u\n",
            "edges.csv: must have a column graph, as ids of nodes do not tell it: ",
        ),
        (
            "graph,source,target\nfirst,u,v\n",
            "graph,id\nfirst,u\nfirst,u\n",
            "nodes.csv:3: a node must have one row, got another of 'first/u'",
        ),
    ],
)
def test_bad_tables_get_one_clear_line(tmp_path: Path, edges: str, nodes: str | None, message: str) -> None:
    paths = written(tmp_path, edges=edges, **({} if nodes is None else {"nodes": nodes}))
    with pytest.raises(InputError) as caught:
        GraphSet.read(*paths)
    assert "\n" not in str(caught.value)
    told = str(caught.value).removeprefix(f"{tmp_path}/")
    assert told.startswith(message), told


# -- the TU collection ------------------------------------------------------------------------------------------------


def tu_folder(folder: Path, **changes: str) -> Path:
    texts = {
        "A": "5, 4\n1, 2\n2, 1\n4, 5\n2,3\n3,2\n",
        "graph_indicator": "1\n1\n1\n2\n2\n",
        "graph_labels": "-1\n1\n",
        "node_labels": "0\n2\n0\n2\n7\n",
        "node_attributes": "0.5\n1.5\n2.5\n3.5\n4.5\n",
        "edge_labels": "0\n0\n0\n0\n0\n0\n",
        **changes,
    }
    for name, text in texts.items():
        (folder / f"SET_{name}.txt").write_text(text)
    return folder


def test_a_tu_folder(tmp_path: Path) -> None:
    from fdmvgcl.graphs.readers.tu import read_tu

    found = read_tu(tu_folder(tmp_path))
    assert found.labels == ("-1", "1")
    assert found.graphs.ids == ("1", "2")
    assert found.graphs.sizes.tolist() == [3, 2]
    first = found.graphs.graph("1")
    assert first.ids == ("1", "2", "3")
    assert first.feature_names == ("label=0", "label=2", "label=7", "attribute0")
    assert first.features.tolist() == [[1, 0, 0, 0.5], [0, 1, 0, 1.5], [1, 0, 0, 2.5]]
    assert dense(first).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert read_tu(tmp_path, attributes=False).graphs.block.feature_names == ("label=0", "label=2", "label=7")
    assert "not used: edge labels" in found.graphs.notes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 4\n"}, "SET_A.txt:1: an edge must stay within one graph, got one from '1/1' to '2/4'"),
        ({"A": "1, 2\n1, 6\n"}, "SET_A.txt:2: must hold node numbers from 1 to 5, got 1, 6"),
        ({"A": "1, x\n"}, "SET_A.txt: must hold lines of numbers"),
        ({"graph_labels": "-1\n1\n1\n"}, "SET_graph_indicator.txt: must name a node of every graph; graph 3 has none"),
        (
            {"graph_indicator": "1\n1\n1\n2\n3\n"},
            "SET_graph_indicator.txt:5: must hold graph numbers from 1 to 2, got 3",
        ),
        ({"node_labels": "0\n1\n"}, "SET_node_labels.txt: must have a line for each of 5 nodes, got 2"),
        ({"node_attributes": "0\n1\nnan\n3\n4\n"}, "SET_node_attributes.txt:3: must hold finite numbers (in float32)"),
    ],
)
def test_bad_tu_folders_get_one_clear_line(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        GraphSet.from_tu(tu_folder(tmp_path, **changes))
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(message)


def test_the_real_sets_are_as_published(data_root: Path) -> None:
    from torch_geometric.datasets import TUDataset

    for name, graphs, nodes, edges in (("MUTAG", 188, 3371, 3721), ("PROTEINS", 1113, 43471, 81044)):
        found = GraphSet.from_tu(data_root / name)
        assert (found.num_graphs, found.block.num_nodes, found.block.num_edges) == (graphs, nodes, edges)
    theirs = GraphSet.from_pyg(TUDataset(str(data_root), "MUTAG"))
    ours = GraphSet.from_tu(data_root / "MUTAG")
    assert_array_equal(theirs.sizes, ours.sizes)
    assert_array_equal(theirs.edge_counts, ours.edge_counts)
