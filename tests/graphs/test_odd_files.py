"""Files as people have them, in ``tests/data/odd``: the same graph from each, or one line that says what to do."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fdmvgcl import Graph
from fdmvgcl.errors import InputError, UserError
from fdmvgcl.graphs.readers import read_features, read_graph

ODD = Path(__file__).parent.parent / "data" / "odd"
TRUTH = np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]])
PEOPLE = ("ann", "bob", "cid")

READ: dict[str, dict] = {
    "gephi.csv": {},
    "neo4j.csv": {},
    "igraph.csv": {},
    "excel.csv": {},
    "bars.txt": {},
    "quoted-lines.csv": {},
    "header-of-two-lines.csv": {},
    "messages.csv": {"weight": "n_msgs"},
    "packed.csv.gz": {},
    "packed.tsv.zst": {},
    "lines.jsonl": {},
    "people.graphml": {},
}


@pytest.mark.parametrize("name", READ)
def test_the_same_graph_from_each(name: str) -> None:
    graph = read_graph(ODD / name, **READ[name])
    assert graph.ids == PEOPLE
    assert_array_equal(graph.adjacency.toarray(), TRUTH)


def test_others_that_are_read() -> None:
    matrix = read_graph(ODD / "matrix.mtx")
    assert matrix.ids == ("1", "2", "3")
    assert matrix.notes == ("read as Matrix Market, rows counted from 1",)
    assert_array_equal(matrix.adjacency.toarray(), TRUTH)
    comments = read_graph(ODD / "comments.txt", weight="3")
    assert comments.adjacency[1, 2] == 1.5
    konect = read_graph(ODD / "konect.tsv", source="1", target="2", weight="3")
    assert_array_equal(konect.adjacency.toarray(), TRUTH)
    assert "2 comment lines skipped" in konect.notes
    numbers = read_graph(ODD / "all-numbers.csv", source="1", target="2", header=False)
    assert numbers.ids == ("0", "1", "2")
    calls = read_graph(ODD / "calls.csv")
    assert calls.ids == PEOPLE
    assert calls.origin is not None
    assert (calls.origin.source, calls.origin.target, calls.origin.ignored) == ("who", "whom", ("date",))
    assert read_graph(ODD / "western.csv", encoding="cp1252").ids == ("Zoë", "bob", "cid")


REFUSED = {
    "two-words.csv": "the first line, 'who, whom', could name the columns or be an edge: name them with --source",
    "one-line.csv": "could name the columns or be an edge",
    "three-numbers.csv": "which columns are the ends of the edges is not certain",
    "all-words.csv": "could name the columns or be an edge",
    "drawing.dot": "is a drawing by Graphviz, which is not read here: read it with NetworkX",
    "drawing.txt": "is a drawing by Graphviz",
    "network.net": "is Pajek",
    "graph.gml": "is GML",
    "graph.gexf": "is Gephi's GEXF",
    "node-link.json": "is one JSON document",
    "inches.csv": ":2: a quote must be closed",
    "ragged.csv": ":3: every line must have as many cells as line 1, which has 2, got 3",
    "latin.csv": ":2: must be text in UTF-8, got the byte 0xeb; save it as UTF-8, or say which it is, as in --",
    "cut.csv.gz": "is not a whole gzip file",
    "huge.mtx": "declares shape (900000000, 900000000), too large for 3 lines",
    "array.npy": "is one NumPy array",
    "pickle.bin": "is a pickle, which is not read here: it could run any code; write a table as CSV or Parquet",
    "table.md": "is a table in Markdown, which is not read here: write it as CSV",
    "page.csv": "is a web page, which is not read here: if it came instead of a file, the download failed",
    "all-numbers.csv": "holds 3 × 3 numbers, which could be a matrix: save it with scipy.sparse.save_npz; or if they",
    "workbook.xlsx": "is an Excel workbook, which is not read here: save the sheet as CSV",
    "networkx.edgelist": "is NetworkX's edge list with a dictionary an edge",
    "packed.csv.xz": "is packed with xz, which is not read here: unpack it, or pack it with gzip or zstd",
    "archive.zip": "is a ZIP archive, which is not read here: unpack it and give the file in it",
    "archive.tar": "is a TAR archive",
    "archive.7z": "is an archive of 7-Zip",
    "saved.pt": "is a pickle of PyTorch, which is not read here: it could run any code; use Graph.from_pyg",
    "picture.png": "is a picture",
    "named-matrix.csv": "holds a matrix whose rows and columns have names: list its edges",
    "thousands.csv": ":2: weight must be a finite number of at least 0, got '1.234,5' in column 'weight'",
    "multiline.adjlist": "is NetworkX's adjacency list of many lines, which is not read here: write it with networkx.",
    "pointer.csv": "is a pointer of Git LFS, and not the file, which is not read here: fetch it with git lfs pull",
    "faint.csv": ":3: weight must be 0 or at least 1e-300, got 1e-320",
    "negative.csv": ":3: weight must be a finite number of at least 0, got -1.0",
    "blank-weight.csv": ":2: weight must be a finite number of at least 0, got ''",
    "blank-end.csv": ":3: target must not be empty",
    "same-names.csv": "column `source` must be there once, got it 2 times",
    "one-column.csv": "has one column; expected at least two (source and target)",
    "empty.csv": "is empty",
    "header-alone.csv": "holds no edges",
    "loops.csv": "holds no edges other than self-loops",
    "nul.csv": ":2: must be text, got a NUL byte",
    "not-json.jsonl": ":2: must hold one JSON object a line, got 'bob,cid'",
    "end-missing.jsonl": "row 2: target must not be missing",
    "oblong.mtx": "adjacency must be square, got shape (3, 4)",
    "complex.mtx": "must hold real numbers, got complex128",
    "cut.graphml": ":2: is not well-formed XML",
    "cut.parquet": "is not a valid Parquet file",
    "cut.npz": "is not a valid .npz file",
}


@pytest.mark.parametrize("name", REFUSED)
def test_one_line_says_what_is_wrong(name: str) -> None:
    with pytest.raises(UserError) as told:
        read_graph(ODD / name)
    assert str(told.value).startswith(str(ODD / name))
    assert REFUSED[name] in str(told.value)
    assert "\n" not in str(told.value)


def test_every_odd_file_is_tested() -> None:
    others = {"matrix.mtx", "comments.txt", "calls.csv", "western.csv", "konect.tsv"}
    assert {path.name for path in ODD.iterdir() if path.is_file()} == READ.keys() | REFUSED.keys() | others


def test_what_is_not_certain_can_be_said() -> None:
    assert read_graph(ODD / "two-words.csv", source="who", target="whom").ids == PEOPLE
    assert read_graph(ODD / "two-words.csv", header=False).num_nodes == 5
    assert read_graph(ODD / "three-numbers.csv", source="a", target="b").ids == ("5551", "5552", "5553")
    with pytest.raises(InputError, match="source column 'x' must be one of the columns"):
        read_graph(ODD / "three-numbers.csv", source="x", target="b")
    with pytest.raises(UserError, match="target must be named too"):
        read_graph(ODD / "three-numbers.csv", source="a")
    with pytest.raises(UserError, match="encoding must be one that Python knows"):
        read_graph(ODD / "western.csv", encoding="klingon")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("ann,bob\nbob,cid\n", False),  # bob comes again
        ("name,age\nann,3\nbob,4\n", True),  # a word above numbers
        ("0,1\n1,2\n", False),
        ("m1,m2\nm3,m4\n", False),  # they look like the ids below
        ("user_name,friend_name\nann,bob\nbob,cid\n", True),  # they look like no id below
        ("u-1;2024-01-01;x-2\n", False),  # a date above nothing
    ],
)
def test_headers_that_are_certain(tmp_path: Path, text: str, header: bool) -> None:
    path = tmp_path / "e.csv"
    path.write_text(text)
    options = {} if ";" not in text else {"source": "1", "target": "3"}
    graph = read_graph(path, **options)
    assert graph.origin is not None
    assert graph.origin.header is header


def test_attributes_of_nodes_are_left_out_by_name_or_taken() -> None:
    path = ODD / "people.graphml"
    assert "attributes of nodes left out: `a`" not in read_graph(path).notes
    assert any("attributes of nodes left out: `age`, `city`" in note for note in read_graph(path).notes)
    graph = read_graph(path, features=path)
    assert not any("left out" in note for note in graph.notes)
    assert graph.feature_names == ("age", "age (blank)", "city=Rome", "city=Oslo")
    assert_array_equal(graph.features, [[30, 0, 1, 0], [41, 0, 0, 1], [35.5, 1, 1, 0]])


def test_features_of_no_node_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,x\nzoe,1\nyan,2\n")
    for fill_missing in (False, True):
        with pytest.raises(InputError, match="must have rows of the graph's nodes, got none: their ids are 'yan'"):
            read_graph(ODD / "gephi.csv", features=tmp_path / "f.csv", fill_missing=fill_missing)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_file_gives_a_graph_or_one_line(tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(READ.keys() | REFUSED.keys())))
    content = bytearray((ODD / name).read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content)))]
    for _ in range(data.draw(st.integers(0, 3))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / name
    path.write_bytes(content)
    told = []
    for read in (read_graph, read_features):
        try:
            read(path)
        except UserError as error:
            told.append(str(error))
    assert all(line.startswith(str(path)) and "\n" not in line for line in told)


@pytest.mark.parametrize(
    ("how", "weight", "told"),
    [
        ("max", 5, "each counts once, with its largest weight"),
        ("sum", 9, "their weights are summed"),
        ("count", 3, "how many there are is the weight"),
        ("first", 1, "each counts once, with its first weight"),
    ],
)
def test_repeated_edges(tmp_path: Path, how: str, weight: int, told: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text("source,target,weight\na,b,1\nb,a,5\na,b,3\nb,c,1\n")
    graph = read_graph(path, repeated=how)
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == weight
    assert graph.adjacency[1, 2] == 1
    assert f"1 repeated edge merged: {told}" in graph.notes
    assert f"1 edge listed in both directions merged: {told}" in graph.notes
    with pytest.raises(UserError, match="repeated must be one of max, sum, count, first, got 'mean'"):
        read_graph(path, repeated="mean")


@pytest.mark.parametrize("name", ["edges.arrows", "edges"])
def test_a_stream_of_arrow(tmp_path: Path, name: str) -> None:
    table = pa.table({"source": ["ann", "bob"], "target": ["bob", "cid"], "weight": [2, 1]})
    with pa.ipc.new_stream(tmp_path / name, table.schema) as stream:
        stream.write(table)
    assert_array_equal(read_graph(tmp_path / name).adjacency.toarray(), TRUTH)


def test_utf32(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_bytes((ODD / "gephi.csv").read_text().encode("utf-32"))
    assert read_graph(tmp_path / "edges.csv").ids == PEOPLE


def test_decimal_commas_are_told(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source;target;weight\nann;bob;1,234\nbob;cid;2\n")
    graph = read_graph(tmp_path / "edges.csv")
    assert graph.adjacency[0, 1] == 1.234
    assert "decimal commas in `weight`" in graph.notes


def test_utf16_without_a_mark_has_to_be_said(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_bytes("source,target\nann,bob\n".encode("utf-16-le"))
    with pytest.raises(InputError, match=r"got a NUL byte; say so if it is UTF-16, .*--encoding utf-16-le"):
        read_graph(tmp_path / "edges.csv")
    assert read_graph(tmp_path / "edges.csv", encoding="utf-16-le").ids == ("ann", "bob")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes((ODD / "packed.csv.gz").read_bytes()))
    writer.start()
    assert read_graph(pipe).ids == PEOPLE
    writer.join()


def test_the_standard_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fdmvgcl", "embed", "-", "--dim", "4", "--views", "2", "--epochs", "1", "-q"]
    data = (ODD / "lines.jsonl").read_bytes()
    subprocess.run(
        [*command, "--no-report"], input=data, check=True, cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert Graph.load(tmp_path / "stdin.fdmvgcl" / "graph.npz").ids == PEOPLE


def test_features_in_every_form(tmp_path: Path) -> None:
    rows = [("ann", "30", "Rome"), ("bob", "41", "Oslo"), ("cid", "", "Rome")]
    lines = "\n".join('{{"id": "{}", "age": {}, "city": "{}"}}'.format(i, a or "null", c) for i, a, c in rows)
    (tmp_path / "f.jsonl").write_text(lines)
    (tmp_path / "f.csv").write_text("sep=|\nid|age|city\n" + "".join(f"{'|'.join(row)}\n" for row in rows))
    (tmp_path / "g.csv").write_text("userId:ID;age:int;city\n" + "".join(f"{';'.join(row)}\n" for row in rows))
    graphs = [read_graph(ODD / "lines.jsonl", features=tmp_path / name) for name in ("f.jsonl", "f.csv", "g.csv")]
    for graph in graphs:
        assert_array_equal(graph.features, [[30, 0, 1, 0], [41, 0, 0, 1], [35.5, 1, 1, 0]])
    only = read_graph(ODD / "lines.jsonl", features=tmp_path / "f.csv", columns=("age",))
    assert only.feature_names == ("age", "age (blank)")
    (tmp_path / "bare.csv").write_text("ann,Rome\nbob,Oslo\ncid,Bonn\n")
    with pytest.raises(InputError, match="could name the columns or be a node"):
        read_features(tmp_path / "bare.csv")
