"""Edges through DuckDB: the same graph, counts and words as by the reader in memory, within a limit."""

import builtins
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fdmvgcl import Graph
from fdmvgcl.errors import InputError, UserError
from fdmvgcl.graphs.readers import external, external_features, pieces
from fdmvgcl.graphs.readers.edges import EdgeColumns
from fdmvgcl.graphs.readers.external import Reading, read_external
from fdmvgcl.graphs.store import source_of

duckdb = pytest.importorskip("duckdb", reason="needs DuckDB: pip install 'fdmvgcl[big]'")

MEMORY = 1 << 30
NAMES = ("O'Brien", "007", "7", "<script>", "Zoë", "a b", "𝔘", "-3", "+1", "NA", "x,y", "#z", "12345678901234567890123")
INTEGERS = ("0", "17", "-3", "5", "100", "99", "-20")
LONG = ("0", "-12345678901234567890123", "12345678901234567890123", "9", "-5", "-12345678901234567890124")


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that every file has many."""
    monkeypatch.setattr(pieces, "_BYTES", 160)
    monkeypatch.setattr(pieces, "_ROWS", 3)
    monkeypatch.setattr(external, "_BATCH", 2048)
    monkeypatch.setattr(external_features, "_VALUES", 8)


def same(path: Path, store: Path, **options: Any) -> Graph:
    """The graph by both readers, which must agree."""
    renamed = {key: options[key] for key in ("source", "target", "weight", "header") if key in options}
    encode = {key: options[key] for key in ("columns", "drop", "fill_missing") if key in options}
    how = Reading(
        EdgeColumns(**renamed),
        options.get("directed", False),
        options.get("repeated", "max"),
        options.get("features"),
        tuple(encode.items()),
    )
    truth = Graph.read(path, **options)
    found = read_external(path, store, options.pop("memory", MEMORY), how)
    assert tuple(found.ids) == truth.ids
    assert (found.counts, found.origin, found.notes, found.describe()) == (
        truth.counts,
        truth.origin,
        truth.notes,
        truth.describe(),
    )
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(found.adjacency, part), getattr(truth.adjacency, part)), part
    assert (found.feature_names, found.encoding) == (truth.feature_names, truth.encoding)
    if truth.features is not None:
        dense = [each if isinstance(each, np.ndarray) else each.toarray() for each in (found.features, truth.features)]
        assert dense[0].tobytes() == dense[1].tobytes()
    return found


def cell(text: str, delimiter: str) -> str:
    quoted = '"' in text or delimiter in text or text.startswith("#") or "\n" in text
    return '"' + text.replace('"', '""') + '"' if quoted else text


@st.composite
def files(draw: Any) -> tuple[str, str, bytes | pa.Table, dict[str, Any]]:
    """A file's ending, its ids' kind, its content, and how to read it."""
    names = draw(st.sampled_from([NAMES, INTEGERS, LONG]))
    count = draw(st.integers(1, 25))
    tails, heads = (draw(st.lists(st.sampled_from(names), min_size=count, max_size=count)) for _ in range(2))
    if all(tail == head for tail, head in zip(tails, heads, strict=True)):
        heads[0] = names[0] if tails[0] != names[0] else names[1]
    weights = draw(
        st.none() | st.lists(st.sampled_from([0.0, 1.0, 0.1, 0.3, 1e-9, 5e8]), min_size=count, max_size=count)
    )
    if weights is not None:
        first = next(i for i in range(count) if tails[i] != heads[i])
        weights[first] = 0.7
    options = {
        "directed": draw(st.booleans()),
        "repeated": draw(st.sampled_from(["max", "sum", "count", "first"])),
    }
    if draw(st.booleans()):
        columns: dict[str, Any] = {"source": tails, "target": heads}
        if names is INTEGERS and draw(st.booleans()):
            columns = {name: [int(each) for each in column] for name, column in columns.items()}
        if weights is not None:
            columns["weight"] = weights
        return ".parquet", "", pa.table(columns), options
    delimiter = draw(st.sampled_from([",", ";", "\t"]))
    top = draw(st.sampled_from(["", "# told\n\n"]))
    lines = [delimiter.join(["source", "target"] + ["weight"] * (weights is not None))]
    for row in range(count):
        cells = [cell(tails[row], delimiter), cell(heads[row], delimiter)]
        lines.append(delimiter.join(cells + ([] if weights is None else [repr(weights[row])])))
        lines += [""] * draw(st.integers(0, 1))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return ".csv", delimiter, (top + end.join(lines) + end).encode(), options


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(made=files())
def test_any_file_gives_the_graph_of_the_reader_in_memory(made: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    ending, _, data, options = made
    folder = tmp_path_factory.mktemp("files")
    path = folder / f"edges{ending}"
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        pq.write_table(data, path)
    same(path, folder / "store", **options)
    assert sorted(entry.name for entry in folder.iterdir()) == [path.name, "store"]


def test_a_packed_text_is_read_in_pieces_too(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i + 1) for i in range(100))))
    same(path, tmp_path / "store")


def test_quotes_may_hold_line_breaks_where_a_piece_ends(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "".join(f'"a\n{i}",b\n' for i in range(50)))
    same(path, tmp_path / "store")


def test_columns_are_found_by_name_by_kind_or_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("when,a,b,time,w\n" + "".join(f"2020-01-01,n{i},n{i + 1},{i},{i / 7}\n" for i in range(40)))
    same(path, tmp_path / "store", source="a", target="b", weight="w")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("integers", [False, True])
def test_features_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streamed: bool, integers: bool) -> None:
    if streamed:
        monkeypatch.setattr(external_features, "_HELD", MEMORY)
    rng = np.random.default_rng(0)
    ids = [str(i) if integers else f"n{i}" for i in range(30)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{ids[i]},{ids[i * 7 % 30]}\n" for i in range(28)))
    order = rng.permutation(np.arange(2, 30))  # two nodes have no row, and some only have one
    columns: dict[str, Any] = {"id": [ids[i] for i in order], "age": rng.random(28), "zero": [-0.0] * 28}
    columns |= {"town": rng.choice(["Rom", "Ulm"], 28), "vector": pa.array(rng.random((28, 3)).tolist())}
    columns["gap"] = pa.array([None if i % 5 == 0 else float(i) for i in range(28)])
    pq.write_table(pa.table(columns), tmp_path / "nodes.parquet")
    options = {"features": tmp_path / "nodes.parquet", "fill_missing": True}
    found = same(tmp_path / "edges.csv", tmp_path / "store", **options)
    assert found.counts.filled == 2
    same(tmp_path / "edges.csv", tmp_path / "other", **options, drop=("town",))
    with pytest.raises(InputError, match=r"nodes.parquet: features must have a row for every node; .* and 1 other"):
        read_external(tmp_path / "edges.csv", tmp_path / "third", MEMORY, Reading(features=tmp_path / "nodes.parquet"))


def test_an_id_has_one_row_of_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_features, "_HELD", MEMORY)
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    pq.write_table(pa.table({"id": ["a", "b", "c", "b", "a"], "x": [1.0] * 5}), tmp_path / "nodes.parquet")
    with pytest.raises(InputError, match="row 4: id 'b' must have one row, got another in row 2"):
        read_external(tmp_path / "edges.csv", tmp_path / "store", MEMORY, Reading(features=tmp_path / "nodes.parquet"))


def lines(*last: str) -> str:
    return "source,target,weight\n" + "".join(f"a{i},b{i},1\n" for i in range(50)) + "".join(f"{x}\n" for x in last)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (lines("a,b,abc"), ":52: weight must be a finite number of at least 0, got 'abc'"),
        (lines("a,b,-1"), ":52: weight must be a finite number of at least 0, got -1"),
        (lines("a,b,nan"), ":52: weight must be a finite number"),
        (lines("a,b,1e308", "a,c,1e308"), "finite sum"),
        (lines("a,,1"), ":52: target must not be empty"),
        (lines("a,b"), ":52: "),
        (lines("a,b,1,2"), ":52: "),
        (lines('a,"b,1'), ":52: a quote must be closed"),
        (lines("a,b\0,1"), ":52: must be text, got a NUL byte"),
        ("# top\n" + lines("#a,b,1"), ":53: a line below the first data must not begin with '#'"),
        ("source,target\na,a\n", "holds no edges other than self-loops"),
        ("source,target\n", "holds no edges"),
        ("", "is empty"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    with pytest.raises(UserError) as caught:
        read_external(tmp_path / "edges.csv", tmp_path / "store", MEMORY)
    assert told in str(caught.value)
    assert str(tmp_path / "edges.csv") in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["edges.csv"]


@pytest.mark.parametrize("value", [None, ""])
def test_rows_of_parquet_without_an_id_are_told(tmp_path: Path, value: str | None) -> None:
    pq.write_table(pa.table({"source": ["a"] * 10, "target": [*"bcdefgh", value, "i", "j"]}), tmp_path / "e.parquet")
    with pytest.raises(InputError, match=r"e.parquet: row 8: target must not be"):
        read_external(tmp_path / "e.parquet", tmp_path / "store", MEMORY)


def test_a_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"source": ["a"] * 10, "target": ["b"] * 10}), tmp_path / "e.parquet")
    whole = (tmp_path / "e.parquet").read_bytes()
    (tmp_path / "e.parquet").write_bytes(whole[:-20])
    with pytest.raises(InputError, match="is not a valid Parquet file"):
        read_external(tmp_path / "e.parquet", tmp_path / "store", MEMORY)


@pytest.mark.parametrize("name", ["graph.graphml", "graph.npz", "graph.mtx", "edges.jsonl"])
def test_what_cannot_be_cut_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b'{"source": "a", "target": "b"}\n')
    with pytest.raises(InputError, match="only read whole"):
        read_external(tmp_path / name, tmp_path / "store", MEMORY)


def test_a_header_that_comes_again_as_an_id_is_asked_about(tmp_path: Path) -> None:
    text = "ann,bob\n" + "".join(f"n{i}!,m{i}!\n" for i in range(150)) + "ann,n1!\n"
    (tmp_path / "edges.csv").write_text(text)
    with pytest.raises(InputError, match="could name the columns or be an edge"):
        read_external(tmp_path / "edges.csv", tmp_path / "store", MEMORY)


def test_a_store_knows_what_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target\na,b\n")
    read_external(path, tmp_path / "store", MEMORY)
    assert source_of(tmp_path / "store") == json.loads(json.dumps(external.source_record(path, Reading())))
    path.write_text("source,target\na,c\nb,c\n")
    assert source_of(tmp_path / "store") != json.loads(json.dumps(external.source_record(path, Reading())))


def test_without_duckdb_one_line_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "duckdb":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    with pytest.raises(UserError, match=r"pip install 'fdmvgcl\[big\]'"):
        read_external(tmp_path / "edges.csv", tmp_path / "store", MEMORY)


MEASURE = """
import sys
from pathlib import Path
import duckdb, numpy, scipy.sparse
from fdmvgcl.graphs.readers.external import read_external

def peak():
    line, = (l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmHWM"))
    return 1024 * int(line.split()[1])

before = peak()
read_external(sys.argv[1], sys.argv[2], 300_000_000)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory from /proc")
def test_reading_takes_at_most_a_hundred_bytes_an_edge(tmp_path: Path) -> None:
    edges, rng = 6_000_000, np.random.default_rng(0)
    columns = {name: rng.integers(0, edges // 10, edges) for name in ("source", "target")}
    pq.write_table(pa.table(columns), tmp_path / "edges.parquet")
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "edges.parquet"), str(tmp_path / "store")]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(told) < 100 * edges


def test_a_folder_of_parts_is_one_table(tmp_path: Path) -> None:
    (tmp_path / "edges").mkdir()
    (tmp_path / "edges" / "_SUCCESS").touch()
    for number, names in enumerate(("abc", "bcd", "")):
        columns = pa.table({"source": pa.array([*names], pa.string()), "target": pa.array([*names[::-1]], pa.string())})
        pq.write_table(columns, tmp_path / "edges" / f"part-{number}.parquet")
    found = same(tmp_path / "edges", tmp_path / "store")
    assert tuple(found.ids) == ("a", "b", "c", "d")
    pq.write_table(pa.table({"source": ["a"]}), tmp_path / "edges" / "part-9.parquet")
    with pytest.raises(InputError, match="parts of the same columns"):
        Graph.read(tmp_path / "edges")


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (duckdb.IOException("IO Error: No space left on device"), OSError, "No space left on device"),
        (duckdb.TransactionException("Failed to commit: No space left on device"), OSError, "No space left"),
        (duckdb.OutOfMemoryException("max_temp_directory_size exceeded"), OSError, "No space left"),
        (duckdb.OutOfMemoryException("failed to allocate"), UserError, "memory must be more than 1000 bytes"),
        (duckdb.InternalException("a fault"), duckdb.InternalException, "a fault"),
    ],
)
def test_what_duckdb_runs_out_of_is_told_as_elsewhere(
    tmp_path: Path, error: Exception, kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told), external._database(tmp_path / "store", 1, 1000):
        raise error
    assert not list(tmp_path.iterdir())
