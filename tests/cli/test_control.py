"""``embed``'s verdict on what vectors know of hidden edges, and ``--control``, which writes what does better."""

import json
import shlex
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, Graph, cli
from fdmvgcl.learning.controls import CONTROLS, control
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.report.content import page_content
from fdmvgcl.results.report.records import read_records
from fdmvgcl.results.vectors import VectorFile

SMALL = ("--dim", "8", "--epochs", "2", "--views", "2")


def run(*args: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="fdmvgcl")
    return result.exit_code, result.stdout, result.stderr


def done(*args: object) -> str:
    code, out, error = run(*args)
    assert code == 0, out + error
    return out


def vectors(folder: str) -> np.ndarray:
    with VectorFile(ResultFolder(Path(folder)).embeddings) as file:
        return file.read("z")


@pytest.fixture(autouse=True)
def _groups(_in_its_own_folder: None) -> None:
    """Three planted groups, and columns of noise."""
    groups = nx.stochastic_block_model([40] * 3, np.eye(3) * 0.25 + 0.01, seed=1)
    Path("edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in groups.edges))
    noise = np.random.default_rng(0).standard_normal((120, 12)).round(4)
    rows = "".join(f"{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(noise))
    Path("noise.csv").write_text("id," + ",".join(f"x{j}" for j in range(12)) + "\n" + rows)


def test_the_verdict_is_told_kept_and_on_the_page() -> None:
    told = done("embed", "edges.csv", *SMALL, "-o", "out")
    (line,) = (line for line in told.splitlines() if "of hidden edges they know" in line)
    assert json.loads(Path("out/checks.json").read_text())["hidden edges"]["hidden"] > 20
    assert page_content(read_records(ResultFolder(Path("out"))))["verdict"]["text"] == line


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_is_written_and_its_folder_is_like_any_other(name: str) -> None:
    told = done("embed", "edges.csv", "--features", "noise.csv", *SMALL, "--control", name, "-o", "out")
    assert "not collapsed: effective rank" in told
    assert "(nothing is trained)" in told
    graph = Graph.read("edges.csv", features="noise.csv")
    model = FDMVGCL(dim=8, epochs=2, views=2)
    z = vectors("out")
    made = control(model, model.prepare(graph), name)
    np.testing.assert_allclose(z, made.transform(graph), atol=1e-6)
    done("transform", "out", "edges.csv", "--features", "noise.csv", "-o", "again.parquet")
    again = shlex.split(page_content(read_records(ResultFolder(Path("out"))))["again"]["command"])
    done(*again[1:], "-o", "second")
    np.testing.assert_allclose(vectors("second"), z, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (("--control", "raw"), "--control must not be raw: there are no features"),
        (("--control", "raw", "--resume"), "--control trains nothing"),
        (("--control", "raw", "--level", "graph"), "--control is for the nodes of one graph"),
        (("--control", "best"), "best"),
    ],
)
def test_a_control_that_cannot_be_is_refused_in_a_line_and_nothing_is_written(options: tuple, rule: str) -> None:
    code, _, error = run("embed", "edges.csv", *SMALL, *options, "-o", "out")
    assert code == 2
    assert rule in error.splitlines()[-1]
    assert not Path("out").exists()
