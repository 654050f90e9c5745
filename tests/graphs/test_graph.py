"""Graph: one order, one set of rules, whatever the input looks like."""

import contextlib
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from torch_geometric.data import Data

from fdmvgcl.errors import InputError
from fdmvgcl.files import atomic_write, read_npz, write_npz
from fdmvgcl.graphs.graph import Graph

few = settings(deadline=None, max_examples=50)
node_ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
weights = st.just(0.0) | st.floats(1e-300, 1e6)
edge_lists = st.lists(st.tuples(node_ids, node_ids, weights), min_size=1, max_size=12)


def assert_same(left: Graph, right: Graph) -> None:
    """The same graph, down to the types of its arrays."""
    assert left.ids == right.ids
    assert left.directed == right.directed
    assert left.feature_names == right.feature_names
    pairs = [(left.adjacency, right.adjacency)]
    if isinstance(left.features, np.ndarray):
        assert left.features.dtype == right.features.dtype
        assert_array_equal(left.features, right.features)
    elif left.features is None:
        assert right.features is None
    else:
        pairs.append((left.features, right.features))
    for one, other in pairs:
        for part in ("data", "indices", "indptr"):
            assert getattr(one, part).dtype == getattr(other, part).dtype
            assert_array_equal(getattr(one, part), getattr(other, part))


@pytest.mark.parametrize(
    ("given_ids", "expected"),
    [
        (["10", "9", "-3", "0"], ("-3", "0", "9", "10")),
        (["10", "9", "007"], ("007", "10", "9")),
        (["10", "9", "+1"], ("+1", "10", "9")),
        (["10", "9", "-0"], ("-0", "10", "9")),
        (["1" * 30, "9", "-" + "2" * 30, "-1"], ("-" + "2" * 30, "-1", "9", "1" * 30)),
        (["b", "B", "é", "\U0001f600", "\uffff", "a"], ("B", "a", "b", "é", "\uffff", "\U0001f600")),
        (["2", "10\n"], ("10\n", "2")),
        (["٣", "2", "10"], ("10", "2", "٣")),
    ],
)
def test_order_of_nodes(given_ids: list[str], expected: tuple[str, ...]) -> None:
    assert Graph.from_edges(given_ids[:1], given_ids[1:2], nodes=given_ids).ids == expected


def test_huge_integers_are_ordered_without_parsing_them() -> None:
    ids = ["1" + "0" * 5000, "9" * 4999]
    assert Graph.from_edges(ids[:1], ids[1:]).ids == (ids[1], ids[0])


def test_edges_count_once_with_their_largest_weight() -> None:
    graph = Graph.from_edges(["a", "b", "a", "c", "d", "c"], ["b", "a", "b", "c", "a", "a"], weight=[1, 5, 2, 9, 0, 1])
    assert graph.ids == ("a", "b", "c", "d")
    assert_array_equal(graph.adjacency.toarray(), [[0, 5, 1, 0], [5, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    counts = graph.counts
    assert (counts.self_loops, counts.zero_weights, counts.repeated, counts.reciprocal) == (1, 1, 1, 1)
    assert graph.num_edges == 2
    assert graph.weighted
    assert_array_equal(graph.degrees, [6, 5, 1, 0])
    assert_array_equal(graph.isolated, [3])
    assert graph.describe() == "4 nodes (1 isolated), 2 edges, undirected, weighted, no features"
    assert "1 self-loop dropped" in graph.notes


def test_directions_are_kept_when_asked_for() -> None:
    graph = Graph.from_edges(["a", "b", "c"], ["b", "a", "a"], weight=[1, 2, 3], directed=True)
    assert_array_equal(graph.adjacency.toarray(), [[0, 1, 0], [2, 0, 0], [3, 0, 0]])
    assert graph.num_edges == 3
    assert graph.counts.reciprocal == 0
    assert len(graph.isolated) == 0


@few
@given(edge_lists, st.randoms())
def test_listing_does_not_matter(edges: list[tuple[str, str, float]], random: object) -> None:
    source, target, weight = (list(column) for column in zip(*edges, strict=True))
    plain = Graph.from_edges(source, target, weight=weight)
    swapped = [(t, s, w) for s, t, w in edges] + edges
    random.shuffle(swapped)  # type: ignore[attr-defined]
    source, target, weight = (list(column) for column in zip(*swapped, strict=True))
    assert_same(plain, Graph.from_edges(np.array(source, dtype=object), pa.array(target), weight=np.array(weight)))
    assert (plain.adjacency != plain.adjacency.T).nnz == 0


def test_integer_ids_become_decimal_strings() -> None:
    expected = Graph.from_edges(["10", "9"], ["9", "-1"])
    assert_same(expected, Graph.from_edges(np.array([10, 9], dtype=np.int16), [9, -1]))
    assert_same(expected, Graph.from_edges(pa.array([10, 9]).dictionary_encode(), pa.chunked_array([[9], [-1]])))


def test_unused_entries_of_a_dictionary_are_no_nodes() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["a", "ghost", "b", None, ""]))
    assert Graph.from_edges(column, ["c", "c"]).ids == ("a", "b", "c")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": ["a", ""], "target": ["b", "c"]}, r"source must not be empty \(row 1\)"),
        ({"source": ["a", "b"], "target": ["b", None]}, r"target must not be missing \(row 1\)"),
        ({"source": ["a"], "target": ["b", "c"]}, "source and target must have the same length, got 1 and 2"),
        ({"source": [1.5], "target": [2]}, "source must hold ids that are strings or integers, got double"),
        ({"source": ["a", 1], "target": ["b", "c"]}, "source must hold ids that are all strings or all integers"),
        ({"source": ["\ud800"], "target": ["b"]}, "source must hold ids that are all strings"),
        ({"source": "ab", "target": "cd"}, "source must be a sequence of ids"),
        ({"source": np.zeros((2, 2), int), "target": [1]}, "source must have one dimension"),
        ({"source": [], "target": []}, "ids must hold at least one node"),
        ({"weight": [-1.0]}, r"weight must be a finite number of at least 0, got -1.0 \(row 0\)"),
        ({"weight": [1e-310]}, r"weight must be 0 or at least 1e-300, got 1e-310 \(row 0\)"),
        ({"weight": [float("nan")]}, "weight must be a finite number of at least 0, got nan"),
        ({"weight": [float("inf")]}, "weight must be a finite number of at least 0, got inf"),
        ({"weight": [1e308]}, "weight must have a finite sum"),
        ({"weight": ["x"]}, "weight must hold numbers"),
        ({"weight": [1, 2]}, r"weight must have shape \(1,\)"),
        ({"features": [[1.0]]}, "feature_ids must name the node of each row"),
        ({"features": [[1.0]], "feature_ids": ["a"]}, "features must have a row for every node; 'b' has none"),
        ({"features": [[1.0], [2.0]], "feature_ids": ["a", "a"]}, "feature_ids must be distinct, got 'a' twice"),
        ({"features": [[1.0]], "feature_ids": ["a", "b"]}, "feature_ids must have 1 ids, one for each row, got 2"),
        ({"features": [[1.0], [np.nan]], "nodes": ["a", "b"]}, r"finite in float32, got nan in column 0 \(row 1\)"),
        ({"features": [[1.0], [1e39]], "nodes": ["a", "b"]}, "finite in float32, got 1e\\+39"),
        ({"features": [1.0, 2.0], "nodes": ["a", "b"]}, r"shape \(N, F\)"),
        ({"features": [["x"], ["y"]], "nodes": ["a", "b"]}, "features must be real numbers"),
    ],
)
def test_bad_arguments(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph.from_edges(**({"source": ["a"], "target": ["b"]} | arguments))


def test_features_follow_their_ids() -> None:
    graph = Graph.from_edges(["b"], ["a"], features=[[3.0, 1], [1, 1], [2, 1]], feature_ids=["c", "a", "b"])
    assert graph.ids == ("a", "b", "c")
    assert_array_equal(graph.features, np.array([[1, 1], [2, 1], [3, 1]], dtype=np.float32))
    assert graph.counts.added == 1
    assert graph.adjacency[0, 1] == 1


def test_added_nodes_may_change_the_order() -> None:
    numbers = Graph.from_edges(["2", "10"], ["10", "3"], weight=[1, 2])
    graph = numbers.with_features(np.ones((4, 1)), ids=["x", "10", "2", "3"], names=["one"])
    assert graph.ids == ("10", "2", "3", "x")
    assert_array_equal(graph.adjacency.toarray()[0], [0, 1, 2, 0])
    assert graph.feature_names == ("one",)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_missing_features_can_be_filled(kind: type) -> None:
    table = kind(np.array([[1.0, 2], [3, 4]]))
    graph = Graph.from_edges(["a"], ["b"]).with_features(table, ids=["b", "z"], fill_missing=True)
    values = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    assert_array_equal(values, [[0, 0], [1, 2], [3, 4]])
    assert graph.counts.filled == 1
    assert "1 node without features filled in" in graph.notes


def test_thin_tables_are_stored_sparse() -> None:
    graph = Graph.from_edges(["0"], ["1"])
    thin = np.zeros((2, 20))
    thin[1, 3:10] = 1
    assert sparse.issparse(graph.with_features(thin).features)
    thin[1, 10] = 1
    assert not sparse.issparse(graph.with_features(thin).features), "a fifth"
    assert sparse.issparse(graph.with_features(sparse.csr_matrix(np.ones((2, 2)))).features)


def test_what_is_given_is_not_changed() -> None:
    matrix = sparse.csr_matrix((np.array([1.0, 2, 3]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2))
    before = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
    Graph.from_scipy(matrix, matrix)
    for part, old in zip((matrix.data, matrix.indices, matrix.indptr), before, strict=True):
        assert_array_equal(part, old)


def test_pyg_networkx_and_scipy_agree() -> None:
    dense = np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=float)
    expected = Graph.from_edges(["0", "1"], ["1", "2"], weight=[2, 1], nodes=["0", "1", "2", "3"])
    assert_same(expected, Graph.from_scipy(sparse.coo_matrix(dense)))
    assert_same(expected, Graph.from_scipy(dense))
    assert_same(expected, Graph.from_networkx(nx.from_numpy_array(dense)))
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weight = torch.tensor([2.0, 2, 1, 1])
    assert_same(expected, Graph.from_pyg(Data(edge_index=edge_index, edge_attr=weight, num_nodes=4)))
    x = torch.eye(4)[:, :2]
    data = Data(edge_index=edge_index, edge_weight=weight, x=x)
    assert_same(expected.with_features(x), Graph.from_pyg(data))
    data.x = x.to_sparse()
    assert_array_equal(Graph.from_pyg(data).features.toarray(), x)
    data.edge_weight, data.edge_attr = None, torch.ones(4, 3)
    assert not Graph.from_pyg(data).weighted


def test_asymmetric_and_repeated_scipy_entries() -> None:
    matrix = sparse.coo_array(([1.0, 1, 3], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert Graph.from_scipy(matrix).adjacency[0, 1] == 3
    directed = Graph.from_scipy(matrix, directed=True)
    assert (directed.adjacency[0, 1], directed.adjacency[1, 0]) == (2, 3)
    with pytest.raises(ValueError, match=r"square, got shape \(2, 3\)"):
        Graph.from_scipy(np.ones((2, 3)))
    with pytest.raises(ValueError, match="real numbers"):
        Graph.from_scipy(np.eye(2) * 1j)


def test_networkx_corner_cases() -> None:
    with pytest.raises(ValueError, match="must be distinct, got '1' twice"):
        Graph.from_networkx(nx.Graph([(1, "1")]))
    partly = nx.Graph([("a", "b", {"weight": 2}), ("b", "c")])
    with pytest.raises(ValueError, match="'weight' must be on every edge or on none"):
        Graph.from_networkx(partly)
    assert not Graph.from_networkx(partly, weight=None).weighted
    one_way = nx.DiGraph([("a", "b")])
    assert "directed edges taken as undirected" in Graph.from_networkx(one_way).notes
    assert Graph.from_networkx(one_way, directed=True).adjacency.nnz == 1
    assert Graph.from_networkx(one_way.to_undirected(), directed=True).adjacency.nnz == 2
    parallel = nx.MultiGraph([("a", "b", {"weight": 2}), ("a", "b", {"weight": 3})])
    assert Graph.from_networkx(parallel).adjacency[0, 1] == 3


def test_pyg_refuses_what_it_cannot_read() -> None:
    with pytest.raises(ValueError, match="edge_index"):
        Graph.from_pyg(Data(x=torch.ones(2, 2)))
    with pytest.raises(ValueError, match="node numbers from 0 to 1"):
        Graph.from_pyg(Data(edge_index=torch.tensor([[0], [5]]), num_nodes=2))


def test_operator_is_the_normalised_adjacency() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"], weight=[1, 3], nodes=["z"])
    operator = graph.operator(dtype=torch.float64)
    scale = np.array([1, 2, np.sqrt(3), 1])
    expected = graph.adjacency.toarray() / np.outer(scale, scale)
    expected[3, 3] = 1  # an isolated node keeps its features
    np.testing.assert_allclose(operator.dense().numpy(), expected, atol=1e-15)
    assert graph.operator().values.dtype == torch.float32
    directed = Graph.from_edges(["a"], ["b"], directed=True).operator("rw")
    assert directed.directed
    assert_array_equal(directed.dense().numpy(), [[1, 0], [1, 0]])


def test_index_and_description() -> None:
    ids = [str(i) for i in range(2708)]
    graph = Graph.from_edges(ids[:-1], ids[1:], features=np.ones((2708, 1433)), feature_ids=ids)
    assert graph.describe() == "2 708 nodes, 2 707 edges, undirected, unweighted, 1 433 features"
    assert graph.index("17") == 17
    with pytest.raises(KeyError, match="no node has the id '017'"):
        graph.index("017")
    assert graph.notes == ()


@few
@given(edge_lists, st.booleans(), st.sampled_from([None, 0.05, 0.5]))
def test_saved_graphs_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[tuple[str, str, float]],
    directed: bool,
    density: float | None,
) -> None:
    source, target, weight = (list(column) for column in zip(*edges, strict=True))
    graph = Graph.from_edges(source, target, weight=weight, directed=directed)
    if density is not None:
        table = np.random.default_rng(0).random((graph.num_nodes, 7))
        graph = graph.with_features(np.where(table < density, table, 0), names=[f"{name}é\0" for name in "abcdefg"])
    folder = tmp_path_factory.mktemp("graph")
    graph.save(folder / "one.npz")
    assert_same(graph, Graph.load(folder / "one.npz"))
    Graph.load(folder / "one.npz").save(folder / "two.npz")
    assert (folder / "one.npz").read_bytes() == (folder / "two.npz").read_bytes()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    graph = Graph.from_edges(["a", "b"], ["b", "c"], weight=[1, 2], features=np.eye(3), feature_ids=["a", "b", "c"])
    graph.save(tmp_path / "graph.npz")
    return tmp_path / "graph.npz"


def test_saving_leaves_nothing_else_behind(saved: Path) -> None:
    assert [entry.name for entry in saved.parent.iterdir()] == ["graph.npz"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fdmvgcl_graph_version": np.array(2)}, "version must be 1, got 2"),
        ({"fdmvgcl_graph_version": None}, "is not a graph saved by fdmvgcl"),
        ({"indptr": None}, "array 'indptr' is missing"),
        ({"indptr": np.array([0, 3, 1, 4])}, "never fall"),
        ({"indptr": np.array([0, 1, 3, 40])}, "must end within indices"),
        ({"indices": np.array([1, 0, 7, 1])}, "indices must lie from 0 to 2"),
        ({"indices": np.array([1, 0, -1, 1])}, "indices must lie from 0 to 2"),
        ({"indices": np.array([0, 0, 2, 1])}, "no self-loops"),
        ({"indices": np.array([2, 0, 2, 1])}, "must be symmetric"),
        ({"weights": np.array([1.0, 1, 2, 3])}, "must be symmetric"),
        ({"weights": np.array([1.0, 1, 2, -2])}, "at least 0"),
        ({"weights": np.array([1.0, 1, 0, 0])}, "no zeros"),
        ({"ids": np.frombuffer(b"aab", np.uint8)}, "ids must be distinct"),
        ({"ids": np.frombuffer(b"bac", np.uint8)}, "in node order"),
        ({"ids": np.frombuffer(b"a\xffc", np.uint8)}, "must be UTF-8 bytes"),
        ({"ids_offsets": np.array([0, 2, 1, 3])}, "ascending offsets"),
        ({"features": np.full((3, 3), np.nan, np.float32)}, "finite float32"),
        ({"features": np.ones((2, 3), np.float32)}, "features must have 3 rows"),
        ({"directed": np.array([1, 2])}, "directed must be true or false"),
    ],
)
def test_hand_edited_files_are_refused(saved: Path, changes: dict, message: str) -> None:
    arrays = {name: array for name, array in (read_npz(saved) | changes).items() if array is not None}
    write_npz(saved, arrays)
    with pytest.raises(InputError, match=message) as caught:
        Graph.load(saved)
    assert "\n" not in str(caught.value)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "evil.npz", fdmvgcl_graph_version=np.array([print], dtype=object))
    with pytest.raises(InputError, match="needs pickle, which is never loaded"):
        Graph.load(tmp_path / "evil.npz")
    with pytest.raises(ValueError, match="must not hold Python objects"):
        write_npz(tmp_path / "no.npz", {"a": np.array([None])})


def test_bombs_are_refused_before_they_unpack(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(100 << 20))
    with pytest.raises(InputError, match="unpacks from"):
        Graph.load(tmp_path / "bomb.npz")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }\n"
    with zipfile.ZipFile(tmp_path / "shape.npz", "w") as archive:
        archive.writestr("data.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(InputError, match="but holds 0 bytes"):
        Graph.load(tmp_path / "shape.npz")


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_damaged_files_give_one_clear_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("damaged") / "graph.npz"
    Graph.from_edges(["a", "b"], ["b", "c"], features=np.eye(3), feature_ids=["a", "b", "c"]).save(path)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    for position in data.draw(st.lists(st.integers(0, max(len(content) - 1, 0)), max_size=4)):
        if content:
            content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        Graph.load(path)


def test_atomic_write_keeps_the_old_file_on_failure(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def fail() -> None:
        with atomic_write(target) as handle:
            handle.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_bytes() == b"old"
    with atomic_write(target) as handle:
        handle.write(b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]
