"""Users' files: the same graph from any of them, or one clear line."""

import contextlib
import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import feather
from scipy import sparse

from fdmvgcl.errors import InputError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.readers import read_features, read_graph, read_labels, read_splits

EDGES = [("007", "b c", 2.0), ("b c", "O'Brien, Pat", 0.5), ("NA", "007", 1.0), ("<script>", "=cmd|' /C'!A0", 3.0)]
NASTY = [
    "007",
    "7",
    "NA",
    "null",
    "1e3",
    "True",
    'say "hi"',
    "a,b",
    "a;b",
    "é",
    "日本",
    "<script>",
    "=cmd|x",
    "# x",
    " pad ",
]
few = settings(deadline=None, max_examples=50)
# Controls cannot be written in XML, nor line breaks in a line.
written = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\x85\u2028\u2029"), min_size=1
)
node_ids = st.sampled_from(NASTY) | written
edge_lists = st.lists(st.tuples(node_ids, node_ids, st.floats(1e-3, 1e6)), min_size=1, max_size=10)


def assert_same(left: Graph, right: Graph) -> None:
    """The same ids and arrays, down to their types."""
    assert left.ids == right.ids
    for part in ("data", "indices", "indptr"):
        assert getattr(left.adjacency, part).dtype == getattr(right.adjacency, part).dtype
        assert_array_equal(getattr(left.adjacency, part), getattr(right.adjacency, part))


def from_list(edges: list[tuple[str, str, float]]) -> Graph:
    source, target, weight = (list(column) for column in zip(*edges, strict=True))
    return Graph.from_edges(source, target, weight=weight)


def text(edges: list, delimiter: str = ",", header: bool = True, end: str = "\n", quote_all: bool = False) -> str:
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    if header:
        writer.writerow(["source", "target", "weight"])
    writer.writerows(edges)
    return out.getvalue()


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def graphml(path: Path, edges: list, directed: bool = False) -> Path:
    graph = nx.DiGraph() if directed else nx.Graph()
    for source, target, weight in edges:
        graph.add_edge(source, target, weight=weight)
    nx.write_graphml(graph, path)
    return path


def parquet(path: Path, columns: dict) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def error_of(action: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    return message


def edges_error(path: Path, content: str | bytes, **options: object) -> str:
    """The message for an edge file, without the folder's name."""
    write(path, content)
    return error_of(lambda: read_graph(path, **options)).removeprefix(str(path.parent) + "/")


# ---- the same graph in every form


@pytest.mark.parametrize("quote_all", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_text_of_every_kind_gives_the_same_graph(tmp_path: Path, delimiter: str, end: str, quote_all: bool) -> None:
    content = text(EDGES, delimiter, end=end, quote_all=quote_all)
    assert_same(from_list(EDGES), read_graph(write(tmp_path / "edges.txt", content)))
    for encoding in ("utf-8-sig", "utf-16"):
        assert_same(from_list(EDGES), read_graph(write(tmp_path / "edges.csv", content.encode(encoding))))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_without_header(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path / "edges.txt", text(EDGES[::-1], delimiter, header=False))
    graph = read_graph(path, weight="3")
    assert_same(from_list(EDGES), graph)
    assert graph.origin is not None
    assert (graph.origin.source, graph.origin.target, graph.origin.weight) == ("1", "2", "3")
    assert graph.describe().endswith("ids from columns 1 and 2")
    unweighted = read_graph(path)
    assert not unweighted.weighted
    assert "columns not used: `3`" in unweighted.notes


def test_other_columns_and_names(tmp_path: Path) -> None:
    content = "Label;TO;Weight;From\n" + "".join(f'x;"{t}";{w};"{s}"\n' for s, t, w in EDGES)
    graph = read_graph(write(tmp_path / "edges.csv", content))
    assert_same(from_list(EDGES), graph)
    assert graph.describe().endswith("ids from column `From`/`TO`")
    assert graph.notes == (
        "read as semicolon-separated, with a header",
        "weights from `Weight`",
        "columns not used: `Label`",
    )


def test_header_on_demand(tmp_path: Path) -> None:
    path = write(tmp_path / "edges.csv", "a,b,w\n1,2,5\n2,3,6\n")
    assert read_graph(path, header=False).ids == ("1", "2", "3", "a", "b")
    for options in ({"header": True}, {"source": "a", "target": "b"}, {}):
        graph = read_graph(path, weight="w", **options)
        assert graph.ids == ("1", "2", "3")
        assert graph.adjacency[0, 1] == 5
    assert read_graph(path, source="b", target="w").ids == ("2", "3", "5", "6")


def test_parquet_graphml_and_npz(tmp_path: Path) -> None:
    source, target, weight = (list(column) for column in zip(*EDGES, strict=True))
    expected = from_list(EDGES)
    columns = {"dst": target, "weight": weight, "src": source, "note": [None] * 4}
    assert_same(expected, read_graph(parquet(tmp_path / "edges.parquet", columns)))
    large = {"a": pa.array(source, pa.large_string()), "b": pa.array(target).dictionary_encode(), "weight": weight}
    assert_same(expected, read_graph(parquet(tmp_path / "edges.pq", large)))
    assert_same(expected, read_graph(graphml(tmp_path / "edges.graphml", EDGES)))
    one_way = read_graph(graphml(tmp_path / "edges.graphml", EDGES, directed=True))
    assert_same(expected, one_way)
    assert "directed edges taken as undirected" in one_way.notes


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [True, False])
def test_npz_and_integer_ids_agree_with_text(tmp_path: Path, form: str, compressed: bool) -> None:
    matrix = sparse.coo_array(([1.0, 2.5, 4], ([0, 10, 2], [10, 2, 11])), shape=(12, 12)).asformat(form)
    sparse.save_npz(tmp_path / "edges.npz", matrix, compressed=compressed)
    edges = [(0, 10, 1.0), (10, 2, 2.5), (2, 11, 4.0)]
    graph = read_graph(tmp_path / "edges.npz")
    nodes = [str(i) for i in range(12)]
    source, target, weight = (list(column) for column in zip(*edges, strict=True))
    assert_same(Graph.from_edges(map_str(source), map_str(target), weight=weight, nodes=nodes), graph)
    from_text = read_graph(write(tmp_path / "edges.csv", text(edges)))
    assert from_text.ids == ("0", "2", "10", "11")
    ints = {"source": pa.array(source, pa.int8()), "target": pa.array(target, pa.uint64()), "weight": weight}
    assert_same(from_text, read_graph(parquet(tmp_path / "edges.parquet", ints)))


def map_str(values: list[int]) -> list[str]:
    return [str(value) for value in values]


@few
@given(edge_lists, st.randoms())
def test_round_trip_of_nasty_ids(tmp_path_factory: pytest.TempPathFactory, edges: list, random: object) -> None:
    folder = tmp_path_factory.mktemp("round")
    expected = from_list(edges)
    if not expected.num_edges:
        assert "no edges" in edges_error(folder / "edges.csv", text(edges, quote_all=True))
        return
    shuffled = list(edges)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for delimiter in ",;\t ":
        for header in (True, False):
            content = text(shuffled, delimiter, header, quote_all=True)
            columns = {} if header else {"source": "1", "target": "2", "weight": "3", "header": False}
            assert_same(expected, read_graph(write(folder / "e.txt", content), **columns))
    source, target, weight = (list(column) for column in zip(*shuffled, strict=True))
    columns = {"source": source, "target": target, "weight": weight}
    assert_same(expected, read_graph(parquet(folder / "e.parquet", columns)))
    merged = expected.adjacency.tocoo()
    listed = [
        (expected.ids[i], expected.ids[j], w) for i, j, w in zip(merged.row, merged.col, merged.data, strict=True)
    ]
    loops = [(s, t, w) for s, t, w in edges if s == t]
    assert_same(expected, read_graph(graphml(folder / "e.graphml", listed + loops)))


# ---- details of text


def test_blank_lines_padding_and_comments(tmp_path: Path) -> None:
    content = "\n# Directed graph\n#\n \t \n  a   b\n\nb\t  c  \n\n"
    graph = read_graph(write(tmp_path / "edges.txt", content))
    assert graph.ids == ("a", "b", "c")
    assert graph.num_edges == 2
    assert "2 comment lines skipped" in graph.notes
    graph = read_graph(write(tmp_path / "edges.csv", 'a , b\n" b", "c"\nd  e,\tb\n'))
    assert graph.ids == (" b", "a", "b", "c", "d  e")


def test_hash_signs_are_never_dropped_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "tags.csv"
    assert read_graph(write(path, "source,target\n#a,b\n#b,c\n")).ids == ("#a", "#b", "b", "c")
    assert read_graph(write(path, '"#a",b\nb,#c\n')).ids == ("#a", "#c", "b")
    assert edges_error(path, "# note\na,b\n\n#b,c\n").startswith("tags.csv:4: a line below the first data must not")


def test_spaces_in_quotes_stay(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path / "e.txt", '"New  York"   Rome\nRome "a\tb"\n'))
    assert graph.ids == ("New  York", "Rome", "a\tb")


def test_delimiter_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    assert read_graph(write(path, "Ann Lee,Bob Ray\nBob Ray,Cy Dee\n")).ids == ("Ann Lee", "Bob Ray", "Cy Dee")
    assert read_graph(write(path, "source,target\na;1,b;2\n")).ids == ("a;1", "b;2")
    assert read_graph(write(path, "a,1;b,2\nc;d,3\n")).ids == ("a,1", "b,2", "c", "d,3")
    assert read_graph(write(tmp_path / "e.tsv", "a,x\tb,y\n"), header=False).ids == ("a,x", "b,y")


def test_long_lines_and_many_lines(tmp_path: Path) -> None:
    long = "x" * (5 << 20)
    assert read_graph(write(tmp_path / "e.csv", f"a,{long}\nb,a\n")).ids == ("a", "b", long)
    many = "".join(f"{i},{i + 1}\n" for i in range(300_000))
    assert read_graph(write(tmp_path / "e.csv", many)).num_edges == 300_000


# ---- bad edges, one clear line each


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "e.csv: is empty"),
        (b"\n \n", "e.csv: holds nothing but blank lines and comments"),
        (b"source,target\n", "e.csv: holds no edges"),
        (b"a\nb\n", "e.csv: has one column; expected at least two (source and target), separated by comma, semicolon"),
        (b"a,b\nb,c\n\nc,d,e\n", "e.csv:4: every line must have as many cells as line 1, which has 2, got 3"),
        (b"a,b\nb\n", "e.csv:2: every line must have as many cells as line 1, which has 2, got 1"),
        (b"a,b\nb,\n", "e.csv:2: target must not be empty"),
        (b'#\na,b\n\n"",a\n', "e.csv:4: source must not be empty"),
        (b"source,target,weight\na,b,1\na,c,abc\n", "e.csv:3: weight must be a finite number of at least 0, got 'abc'"),
        (b"source,target,weight\na,b,\n", "e.csv:2: weight must be a finite number of at least 0, got ''"),
        (b"source,target,weight\na,b,nan\n", "e.csv:2: weight must be a finite number of at least 0, got nan"),
        (b"source,target,weight\n\na,b,-1\n", "e.csv:3: weight must be a finite number of at least 0, got -1.0"),
        (b"source,target,weight\na,b,1e999\n", "e.csv:2: weight must be a finite number of at least 0, got inf"),
        (b"source,target,weight\na,b,0\nc,c,1\n", "e.csv: holds no edges other than self-loops and edges of weight 0"),
        (b'a,b\n"c,d\n', "e.csv:2: a quote must be closed, and be doubled inside"),
        (b'a,b\n"c"d,e\n', "e.csv:2: a quote must enclose a whole cell"),
        (b'a,b\nc,d"e"\n', "e.csv:2: a quote must enclose a whole cell"),
        (b"a,b\nb,\0\n", "e.csv:2: must be text, got a NUL byte"),
        (b"a,b\r\nb,\xff\r\n", "e.csv:2: must be text in UTF-8, got the byte 0xff"),
        (b"\xff\xfea\0,\0\0\xd8", "e.csv: must be text in UTF-8 or UTF-16"),
        (b"\x1f\x8b\x08\0", "e.csv: is not a whole gzip file"),
        (b"source,source,target\na,b,c\n", "e.csv: column `source` must be there once, got it 2 times"),
    ],
)
def test_bad_text(tmp_path: Path, content: bytes, message: str) -> None:
    assert edges_error(tmp_path / "e.csv", content).startswith(message)


def test_bad_weight_column(tmp_path: Path) -> None:
    message = edges_error(tmp_path / "e.csv", "source,target,w\na,b,1\n", weight="x")
    assert message == "e.csv: weight column 'x' must be one of the columns: 'source', 'target', 'w'"
    message = edges_error(tmp_path / "e.csv", "a,b,1\n", weight="weight", header=False)
    assert message == "e.csv: weight column 'weight' must be one of the columns (it has no header): '1', '2', '3'"


@pytest.mark.parametrize("name", ["e.csv", "e.parquet", "e.graphml", "e.npz"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert error_of(lambda: read_graph(path)) == f"{path}: no such file"
    assert "is empty" in edges_error(path, b"")
    path.unlink()
    path.mkdir()
    assert error_of(lambda: read_graph(path)) == f"{path}: is a directory; expected a file"
    assert "cannot be read" in error_of(lambda: read_graph(f"{path}\0.csv"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["x"]}, "has too few columns (1); expected at least two"),
        ({"a": ["x", None], "b": ["y", "z"]}, "row 2: source must not be missing"),
        ({"a": ["x", ""], "b": ["y", "z"]}, "row 2: source must not be empty"),
        ({"a": [1.0], "b": [2.0]}, "source must hold ids that are strings or integers, got double"),
        (
            {"a": ["x"], "b": ["y"], "weight": ["1"]},
            "weight must be a finite number of at least 0, got column 'weight'",
        ),
        ({"a": ["x"], "b": ["y"], "weight": [-1]}, "row 1: weight must be a finite number of at least 0, got -1.0"),
        ({"a": ["x", "y"], "b": ["y", "x"], "weight": [1, None]}, "row 2: weight must be a finite number"),
        ({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())}, "holds no edges"),
        ({"a": pa.array([b"\xff\xfe"], pa.binary()).view(pa.string()), "b": ["y"]}, "is not a valid Parquet file"),
    ],
)
def test_bad_parquet(tmp_path: Path, columns: dict, message: str) -> None:
    path = parquet(tmp_path / "e.parquet", columns)
    assert error_of(lambda: read_graph(path)).startswith(f"{path}: {message}")


GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{}\n</graphml>'
KEY = '<key id="d0" for="edge" attr.name="weight" attr.type="double"/>'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "must hold a <graph>, got none"),
        ("<graph></graph>", "holds no edges"),
        ("<graph>", "is not well-formed XML (mismatched tag)"),
        ('<graph>\n<edge source="a"/></graph>', "<edge> must have a target that is not empty"),
        ("<graph><hyperedge/></graph>", "GraphML with hyperedges is not supported"),
        ('<graph><node id="a"><graph/></node></graph>', "must hold one graph"),
        (KEY + '<graph>\n<edge source="a" target="b"/></graph>', "on every edge, got none on this one"),
        (KEY + '<graph><edge source="a" target="b"><data key="d0">x</data></edge></graph>', "at least 0, got 'x'"),
        (KEY + '<graph><edge source="a" target="b"><data key="d0">-1</data></edge></graph>', "at least 0, got -1.0"),
    ],
)
def test_bad_graphml(tmp_path: Path, body: str, message: str) -> None:
    assert message in edges_error(tmp_path / "e.graphml", GRAPHML.format(body))


def test_graphml_errors_name_the_line(tmp_path: Path) -> None:
    body = KEY + '<graph>\n\n<edge source="a" target="b">\n<data key="d0">x</data></edge></graph>'
    assert edges_error(tmp_path / "e.graphml", GRAPHML.format(body)).startswith("e.graphml:5: weight must be")
    edge = '<graph><edge source="a" target="b"/></graph>'
    message = edges_error(tmp_path / "e.graphml", GRAPHML.format(KEY + edge), weight="cost")
    assert message.endswith("weight 'cost' must be one of the edges' attributes: 'weight'")
    assert "must be GraphML, got XML that begins with <html>" in edges_error(tmp_path / "e.graphml", "<html/>")


def test_graphml_defaults_directions_and_isolated_nodes(tmp_path: Path) -> None:
    body = (
        '<key id="k" for="edge" attr.name="Weight"><default>4</default></key>'
        '<key id="n" for="node" attr.name="weight"/>'
        '<graph edgedefault="directed"><node id="z"><data key="n">9</data></node><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"/>'
        '<edge source="b" target="c" directed="false"><data key="k">2</data></edge></graph>'
    )
    path = write(tmp_path / "e.graphml", GRAPHML.format(body))
    graph = read_graph(path)
    assert graph.ids == ("a", "b", "c", "z")
    assert (graph.adjacency[0, 1], graph.adjacency[1, 2]) == (4, 2)
    assert graph.features is None
    directed = read_graph(path, directed=True)
    assert directed.num_edges == 3
    assert directed.adjacency[1, 0] == 0


def test_networkx_writes_whole_and_real_weights_under_two_keys(tmp_path: Path) -> None:
    edges = [("a", "b", 1), ("b", "c", 2.5)]
    assert_same(from_list(edges), read_graph(graphml(tmp_path / "e.graphml", edges)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("entity", ['<!ENTITY a "ha">', '<!ENTITY a SYSTEM "file:///etc/passwd">'])
def test_document_types_are_refused(tmp_path: Path, encoding: str, entity: str) -> None:
    lines = [entity] + [f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)]
    content = f"<!DOCTYPE graphml [{''.join(lines)}]>\n<graphml><graph><node id='&j;'/></graph></graphml>"
    assert "document type" in edges_error(tmp_path / "e.graphml", content.encode(encoding))


def npz_error(path: Path, **changes: object) -> str:
    matrix = sparse.csr_array(np.array([[0.0, 1], [1, 0]]))
    parts = {"indices": matrix.indices, "indptr": matrix.indptr, "data": matrix.data}
    arrays = parts | {"format": np.array(b"csr"), "shape": np.array([2, 2])} | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})  # type: ignore[arg-type]
    return error_of(lambda: read_graph(path))


def test_bad_npz(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    assert "indices must lie from 0 to 1, got 0 to 5" in npz_error(path, indices=np.array([0, 5]))
    assert "indices must lie from 0 to 1, got -1 to 0" in npz_error(path, indices=np.array([0, -1]))
    assert "never fall" in npz_error(path, indptr=np.array([0, 3, 2]))
    assert "must end within" in npz_error(path, indptr=np.array([0, 1, 9]))
    assert "real numbers" in npz_error(path, data=np.array([1j, 1j]))
    assert "needs pickle" in npz_error(path, data=np.array([1, None], dtype=object))
    assert "at least 0, got -1.0" in npz_error(path, data=np.array([1.0, -1]))
    assert "holds no edges" in npz_error(path, data=np.zeros(0), indices=np.zeros(0, int), indptr=np.zeros(3, int))
    assert "square" in npz_error(path, shape=np.array([2, 3]))
    assert "two whole numbers" in npz_error(path, shape=np.array([2, -2]))
    assert "not a sparse matrix" in npz_error(path, format=None)
    assert "format must be csr, csc or coo" in npz_error(path, format=np.array(b"dia"))
    assert "'indptr' is missing" in npz_error(path, indptr=None)
    huge = {"row": np.array([0]), "col": np.array([1]), "data": np.ones(1), "shape": np.array([10**12, 10**12])}
    assert "too large for 1 entries" in npz_error(path, format=np.array(b"coo"), **huge)
    assert "row must lie" in npz_error(
        path, format=np.array(b"coo"), **(huge | {"shape": [2, 2], "row": np.array([3])})
    )
    Graph.from_edges(["a"], ["b"]).save(path)
    assert "read it with Graph.load" in error_of(lambda: read_graph(path))
    assert "has no columns" in error_of(lambda: read_graph(path, weight="w"))


# ---- features


def features_error(path: Path, content: str) -> str:
    write(path, content)
    return error_of(lambda: read_features(path)).removeprefix(str(path.parent) + "/")


def test_features_in_any_order_and_format(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    content = "x1,id,x2\n3,c,.5\n1,a,-1e-3\n4,lonely,0\n2,b,7\n"
    graph = read_graph(edges, features=write(tmp_path / "f.csv", content))
    assert graph.ids == ("a", "b", "c", "lonely")
    assert graph.feature_names == ("x1", "x2")
    assert_array_equal(graph.features, np.array([[1, -1e-3], [2, 7], [3, 0.5], [4, 0]], dtype=np.float32))
    assert "1 node only in the features" in graph.notes
    columns = {"x1": [1, 2, 3, 4], "id": ["a", "b", "c", "lonely"], "x2": [-1e-3, 7, 0.5, 0]}
    other = read_graph(edges, features=parquet(tmp_path / "f.parquet", columns))
    assert_array_equal(graph.features, other.features)
    assert other.feature_names == graph.feature_names
    bare = read_features(write(tmp_path / "f.tsv", "c\t3\t.5\na\t1\t-1e-3\n"))
    assert bare.ids == ("c", "a")
    assert bare.columns is not None
    assert bare.columns.column_names == ["2", "3"]
    named = read_features(write(tmp_path / "f.csv", "name;x;y\nc;3;.5\n"))
    assert named.columns is not None
    assert (named.ids, named.columns.column_names) == (("c",), ["x", "y"])


def test_features_as_sparse_matrix(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "0,1\n1,10\n")
    sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(np.eye(11)[:, :3]))
    graph = read_graph(edges, features=tmp_path / "f.npz")
    assert graph.num_nodes == 11
    assert_array_equal(graph.features.toarray(), np.eye(11)[:, :3])


def test_nodes_without_features(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    table = write(tmp_path / "f.csv", "id,x\na,1\n")
    message = error_of(lambda: read_graph(edges, features=table))
    assert message == f"{table}: features must have a row for every node; 'b' and 1 other have none"
    graph = read_graph(edges, features=table, fill_missing=True)
    assert_array_equal(graph.features, [[1], [1], [1]])
    assert "2 nodes without features filled in" in graph.notes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x\na,1\n\nb,2\na,3\n", "f.csv:5: id 'a' must have one row, got another in line 2"),
        (",0,1\na,5,6\n", "f.csv:1: id must not be empty"),
        ("id,x,x\na,5,6\n", "f.csv: column names must be distinct, got 'x' twice"),
        ("id,x\n", "f.csv: holds no features"),
        ("id\na\n", "f.csv: has one column; expected at least two (id and a feature)"),
        ("id,x\na,1,2\n", "f.csv:2: every line must have as many cells"),
    ],
)
def test_bad_features(tmp_path: Path, content: str, message: str) -> None:
    assert features_error(tmp_path / "f.csv", content).startswith(message)


def test_bad_parquet_features(tmp_path: Path) -> None:
    path = parquet(tmp_path / "f.parquet", {"id": ["a", "a"], "x": [1.0, 2]})
    assert "row 2: id 'a' must have one row, got another in row 1" in error_of(lambda: read_features(path))


def test_problems_of_all_columns_are_told_at_once(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "a,b\nb,c\n")
    rows = "id,x,y,z,ok\na,1,inf,1e39,1\n\nb,2,1,1,2\nc,q,2,2,3\n"
    message = error_of(lambda: read_graph(edges, features=write(tmp_path / "f.csv", rows)))
    for told in ("'q' in line 5", "column 'y' must hold finite numbers, got inf in line 2"):
        assert told in message
    rows = rows.replace("q", "1").replace("inf", "1")
    message = error_of(lambda: read_graph(edges, features=write(tmp_path / "f.csv", rows)))
    assert "column 'z' must hold numbers that fit float32, got 1e+39 in line 2" in message


# ---- labels and splits


def test_labels(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    expected = (("b", "007"), ("1", "NA"))
    for content in ("id,label\nb,1\n007,NA\n", "b;1\n007;NA\n", "x,Label,ID\n0,1,b\n0,NA,007\n"):
        assert read_labels(write(path, content)) == expected
    assert read_labels(parquet(tmp_path / "l.parquet", {"id": ["b", "007"], "label": ["1", "NA"]})) == expected
    assert "l.csv:3: id 'b' must have one row, got another in line 2" in error_of(
        lambda: read_labels(write(path, "id,label\nb,1\nb,2\n"))
    )
    assert "l.csv:2: label must not be empty" in error_of(lambda: read_labels(write(path, "id,label\nb,\n")))
    assert "holds no labels" in error_of(lambda: read_labels(write(path, "id,label\n")))


def test_splits(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    rows = "a,0,train\nb,0,val\nc,0,test\na,10,test\nb,10,train\nc,10,val\na,2,val\nb,2,train\nc,2,test\n"
    splits = read_splits(write(path, rows))
    assert list(splits) == ["0", "2", "10"]
    assert splits["10"] == {"train": ("b",), "val": ("c",), "test": ("a",)}
    assert read_splits(write(path, "id,split,part\n" + rows)) == splits
    swapped = "part,id,split\n" + "".join(f"{p},{i},{s}\n" for i, s, p in (row.split(",") for row in rows.split()))
    assert read_splits(write(path, swapped)) == splits


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,0,train\nb,0,dev\n", "s.csv:2: part must be train, val or test, got 'dev'"),
        ("a,0,train\na,0,test\n", "s.csv:2: id 'a' must have one part in split '0', got another"),
        ("a,0,train\nb,0,test\n", "s.csv: split '0' must have train, val and test nodes, got no val nodes"),
        ("a,0\nb,0\n", "s.csv: has 2 columns; expected id, split and part"),
    ],
)
def test_bad_splits(tmp_path: Path, content: str, message: str) -> None:
    write(tmp_path / "s.csv", content)
    assert message in error_of(lambda: read_splits(tmp_path / "s.csv"))


# ---- whatever comes


READERS = [read_graph, read_features, read_labels, read_splits]
ENDINGS = [".csv", ".tsv", ".txt", ".parquet", ".graphml", ".npz", ".mtx", ".jsonl", ".feather"]


def attempt(path: Path) -> None:
    """Read a file in every way; any exception but InputError is a bug."""
    for reader in READERS:
        with contextlib.suppress(InputError):
            reader(path)
    with contextlib.suppress(InputError):
        read_graph(path, header=True, weight="3", directed=True)


@settings(deadline=None, max_examples=80)
@given(st.binary(max_size=200) | st.text(alphabet='ab1,;\t "#\n\r\\.-é', max_size=60).map(str.encode))
def test_rubbish_raises_only_input_errors(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("rubbish")
    for ending in ENDINGS:
        attempt(write(folder / f"file{ending}", content))


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A valid file in each format."""
    folder = tmp_path_factory.mktemp("valid")
    write(folder / "file.csv", text(EDGES))
    write(folder / "file.tsv", "id\tx\ty\na\t1\t2\nb\t3\t4\n")
    write(folder / "file.txt", "# note\n" + text(EDGES, " ", header=False, end="\r\n"))
    graphml(folder / "file.graphml", EDGES)
    parquet(folder / "file.parquet", {"id": ["a", "b"], "source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2]})
    sparse.save_npz(folder / "file.npz", sparse.csr_array(np.array([[0.0, 1], [1, 0]])), compressed=False)
    write(
        folder / "file.jsonl", '{"id": "a", "source": "a", "target": "b"}\n{"id": "b", "source": "b", "target": "c"}\n'
    )
    write(folder / "file.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1.0\n2 1 1.0\n")
    feather.write_feather(
        pa.table({"id": ["a", "b"], "source": ["a", "b"], "target": ["b", "c"]}), folder / "file.feather"
    )
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_files_raise_only_input_errors(
    tmp_path_factory: pytest.TempPathFactory, valid: dict[str, bytes], data: st.DataObject
) -> None:
    ending = data.draw(st.sampled_from(ENDINGS))
    content = bytearray(valid[ending])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        stop = start + data.draw(st.integers(0, 4))
        content[start:stop] = data.draw(st.binary(max_size=4) | st.sampled_from([b'"', b"\n", b",", b"\xff", b"NaN"]))
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    attempt(write(tmp_path_factory.mktemp("damaged") / f"file{ending}", bytes(content)))


def test_arrow_reads_memory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a thread of it that still holds some when Python ends aborts the process."""
    path, held, read = tmp_path / "edges.csv", [], pv.read_csv
    edges = "a,b\n" * 100_000
    path.write_text(f"source,target\n{edges}")

    def watched(*args: Any, **kwargs: Any) -> Any:
        held.append(pa.total_allocated_bytes())
        return read(*args, **kwargs)

    before = pa.total_allocated_bytes()
    monkeypatch.setattr(pv, "read_csv", watched)
    Graph.read(path)
    assert held
    assert min(held) - before >= len(edges)
