"""Many graphs through the command line: one vector each, the folder's other commands, and bad input."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, GraphSet, cli

NAMES = {0: "O'Brien", 1: "<script>alert(1)</script>", 2: "a/b", 3: "007"}


def name(i: int) -> str:
    return NAMES.get(i, f"g{i}")


def run(*args: object) -> tuple[str, str | None]:
    """Stdout, and the one line of an error, which has exit code 2."""
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="fdmvgcl")
    if result.exit_code == 0:
        return result.stdout, None
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert (result.exit_code, len(errors)) == (2, 1), result.output
    return result.stdout, errors[0].removeprefix("error: ")


@pytest.fixture
def tables() -> None:
    """Sixteen rings and stars: edges.csv, nodes.csv with a feature and a graph of one node, labels.csv."""
    edges, nodes, labels = ["graph,source,target"], ["graph,id,weight_of_node"], ["graph,label"]
    for i in range(16):
        graph = (nx.cycle_graph if i % 2 else nx.star_graph)(4 + i % 3)
        edges += [f"{name(i)},{a},{b}" for a, b in graph.edges]
        nodes += [f"{name(i)},{node},{1 + node % 2}" for node in graph]
        labels.append(f"{name(i)},{'ring' if i % 2 else 'star'}")
    nodes.append("lonely,x,1")
    for file, lines in {"edges": edges, "nodes": nodes, "labels": labels}.items():
        Path(f"{file}.csv").write_text("\n".join(lines) + "\n")


SMALL = ("--level", "graph", "--dim", "8", "--views", "3", "--epochs", "3")


@pytest.mark.usefixtures("tables")
def test_a_folder_of_graphs_serves_the_other_commands() -> None:
    out, error = run("embed", "edges.csv", "--features", "nodes.csv", "--labels", "labels.csv", *SMALL, "-o", "out")
    assert error is None
    assert out.startswith("17 graphs, ")
    assert "1 graph has no label" in out
    assert "8 stratified folds of 16 graphs" in out
    table = pq.read_table("out/embeddings.parquet")
    graphs = GraphSet.read("edges.csv", "nodes.csv")
    assert tuple(table["id"].to_pylist()) == graphs.ids == GraphSet.load("out/graph.npz").ids
    z = np.stack(table["z"].to_numpy(zero_copy_only=False))
    np.testing.assert_allclose(z, FDMVGCL(8, 3, 3).fit_transform(graphs), atol=1e-5)
    record = json.loads(Path("out/evaluation.json").read_text())
    assert [score["name"] for score in record["scores"]][:2] == ["embedding", "size"]
    assert record["scores"][0]["mean"] == 1.0
    assert name(1) not in Path("out/report.html").read_text()
    found, error = run("similar", "out", "--id", "O'Brien", "-k", "3")
    assert error is None
    assert all(int(line.split("\t")[1].lstrip("g<") or 0) % 2 == 0 for line in found.splitlines() if "\tg" in line)
    assert run("evaluate", "out", "--labels", "labels.csv")[1] is None
    found, error = run("predict", "out", "--labels", "labels.csv")
    assert error is None
    assert found.splitlines()[-1].startswith("lonely\t")
    found, error = run("cluster", "out", "-k", "2")
    assert error is None
    assert len(found.splitlines()) >= 17
    for command in ("links", "anomalies"):
        assert str(run(command, "out")[1]).endswith("holds many graphs, and this is for one; GraphSet.load reads it")
    assert run("export", "out", "-o", "out.csv")[1] is None
    again, error = run("embed", "edges.csv", "--features", "nodes.csv", "--labels", "labels.csv", *SMALL, "-o", "out",
                       "--resume")  # fmt: skip
    assert error is None
    assert "nothing to resume" in again


@pytest.mark.usefixtures("tables")
def test_new_graphs_get_the_vectors_they_would_have_had() -> None:
    assert run("embed", "edges.csv", *SMALL, "--set", "readout.kind=mean", "--keep-views", "-o", "out")[1] is None
    lines = Path("edges.csv").read_text().splitlines()
    Path("new.csv").write_text("\n".join(line for line in lines if line.split(",")[0] in ("graph", "g5", "007")) + "\n")
    assert run("transform", "out", "new.csv", "-o", "new.parquet")[1] is None
    old = dict(zip(*(pq.read_table("out/embeddings.parquet")[c].to_pylist() for c in ("id", "z")), strict=True))
    new = dict(zip(*(pq.read_table("new.parquet")[c].to_pylist() for c in ("id", "z")), strict=True))
    assert set(new) == {"g5", "007"}
    for each, z in new.items():
        np.testing.assert_allclose(z, old[each], atol=1e-5)
    assert set(pq.read_schema("out/views.parquet").names) == {"id", "view_0", "view_1", "view_2"}
    message = "--extend is for new nodes of one graph; DIR holds vectors of many graphs"
    assert run("transform", "out", "new.csv", "--extend", "-o", "n.parquet")[1] == message


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, ("mutagg",), "mutagg: is neither a file nor a data set of many graphs; did you mean 'mutag'?"),
        ({}, ("karate",), "'karate' is a data set of one graph; leave out --level graph"),
        ({}, ("mutag", "--directed"), "--directed is for tables; 'mutag' is a data set (write ./mutag for a file)"),
        ({}, (".",), ".: is a folder without files of the TU collection (NAME_A.txt)"),
        ({}, ("edges.csv", "--no-header"), "--no-header is for one graph; tables of many always have a header"),
        (
            {"labels": "graph,label\nO'Brien,star\nnobody,ring\n"},
            ("edges.csv", "--labels", "labels.csv"),
            "labels.csv: must label graphs of the input, but no graph has the id 'nobody'",
        ),
        (
            {"labels": "graph,label\nO'Brien,star\n007,star\ng5,ring\n"},
            ("edges.csv", "--labels", "labels.csv"),
            "labels.csv: labels must have at least 3 graphs of each class, or a fold would hold one class alone; "
            "got 1 of class 'ring'",
        ),
        (
            {"nodes": "graph,id\nO'Brien,0\n,5\n"},
            ("edges.csv", "--features", "nodes.csv"),
            "nodes.csv:3: graph must not be empty",
        ),
        (
            {"edges": "source,target\nu,w\n", "nodes": "graph,id\nfirst,u\nsecond,w\n"},
            ("edges.csv", "--features", "nodes.csv"),
            "edges.csv:2: an edge must stay within one graph, got one between the graphs 'first' and 'second'",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    change: dict[str, str], arguments: tuple[str, ...], message: str
) -> None:
    for file, text in change.items():
        Path(f"{file}.csv").write_text(text)
    _, error = run("embed", *arguments, *SMALL, "-o", "out")
    assert error is not None
    assert error.startswith(message)
    assert not Path("out").exists()


def test_labels_of_a_folder_that_cannot_be_cut_into_folds_are_refused_before_work() -> None:
    Path("tu").mkdir()
    for kind, text in {"A": "1,2\n2,1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n2\n"}.items():
        Path(f"tu/X_{kind}.txt").write_text(text)
    message = (
        "tu: labels must have at least 3 graphs of each class, or a fold would hold one class alone; got 1 of class '1'"
    )
    assert run("embed", "tu", *SMALL, "-o", "out")[1] == message
    assert not Path("out").exists()


@pytest.mark.usefixtures("tables")
def test_tables_come_through_a_pipe_and_in_another_encoding() -> None:
    text = Path("edges.csv").read_text().replace("O'Brien", "Zoë")
    Path("western.csv").write_bytes(text.encode("cp1252"))
    assert run("embed", "western.csv", "--encoding", "cp1252", *SMALL, "--no-report", "-o", "western")[1] is None
    arguments = ["embed", "-", *SMALL, "--no-report", "-o", "piped"]
    assert CliRunner().invoke(cli.app, arguments, input=text.encode()).exit_code == 0
    western, piped = (pq.read_table(f"{folder}/embeddings.parquet") for folder in ("western", "piped"))
    assert western.equals(piped)
    assert "Zoë" in western["id"].to_pylist()


@pytest.mark.usefixtures("tables")
def test_what_does_not_fit_the_model_names_its_file() -> None:
    assert run("embed", "edges.csv", *SMALL, "--no-report", "-o", "out")[1] is None
    message = "nodes.csv: the model knows no feature column 'weight_of_node', which the graph has"
    assert run("transform", "out", "edges.csv", "--features", "nodes.csv", "-o", "new.parquet")[1] == message
    assert (
        run("similar", "out", "--id", "g55")[1]
        == "out/embeddings.parquet: has no id 'g55'; did you mean 'g5' or 'g15'?"
    )
    assert not Path("new.parquet").exists()


@pytest.mark.usefixtures("tables")
def test_a_column_of_graphs_that_is_not_used_is_told() -> None:
    result = CliRunner().invoke(cli.app, ["embed", "edges.csv", *SMALL[2:], "--no-report", "-o", "one"])
    assert result.exit_code == 0
    assert "warning: all edges are one graph, as the column `graph` is not used" in result.stderr


def test_a_data_set_of_many_graphs_asks_for_its_level() -> None:
    assert (
        run("embed", "mutag")[1] == "'mutag' is a data set of many graphs: add --level graph (write ./mutag for a file)"
    )


def test_data_sets_of_many_graphs_are_listed() -> None:
    out, error = run("datasets")
    assert error is None
    assert "334 925" in out
