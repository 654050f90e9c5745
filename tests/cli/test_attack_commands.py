"""``attack`` and ``robustness`` from outside."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from fdmvgcl import Graph, cli

QUICK = ["--dim", "16", "--views", "2", "--epochs", "1", "--no-report", "-q"]
PLAIN = [
    "--structure",
    "none",
    "--set",
    "features.scaling=rows",
    "--set",
    "diffusion.skip=1",
    "--set",
    "diffusion.skip_weight=10",
]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli.app, [str(a) for a in arguments], prog_name="fdmvgcl")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two groups of 20 with odd ids, edges within them, and a feature that tells them apart."""
    rng, names = np.random.default_rng(0), ["O'Brien", "<script>", *(f"n{i}" for i in range(38))]
    ends = [(i, j) for i in range(40) for j in range(i) if rng.random() < (0.3 if i % 2 == j % 2 else 0.02)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{names[i]},{names[j]}\n" for i, j in ends))
    rows = [f"{names[i]},{int(rng.random() < 0.8 - 0.6 * (i % 2))},{int(rng.random() < 0.5)},1" for i in range(40)]
    (tmp_path / "nodes.csv").write_text("id,a,b,c\n" + "\n".join(rows) + "\n")
    (tmp_path / "labels.csv").write_text("id,label\n" + "".join(f"{names[i]},{'xy'[i % 2]}\n" for i in range(40)))
    (tmp_path / "one.csv").write_text("id,label\n" + "".join(f"{name},x\n" for name in names))
    rows = [f"{names[i]},one,{('train', 'val', 'test')[i // 2 % 3]}" for i in range(40)]
    (tmp_path / "splits.csv").write_text("id,split,part\n" + "\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.parametrize("kind", ["random", "dice", "prbcd", "metattack", "nettack"])
def test_attacked_edges_are_a_graph_again(kind: str, files: Path) -> None:
    given = [files / "edges.csv", "--kind", kind, "--rate", "0.1", "-o", files / "a.parquet"]
    result = run("attack", *given, "--features", files / "nodes.csv", "--labels", files / "labels.csv")
    assert result.exit_code == 0, result.output
    before, after = Graph.read(files / "edges.csv"), Graph.read(files / "a.parquet")
    assert set(after.ids) <= set(before.ids)
    edges = [
        {frozenset((g.ids[u], g.ids[v])) for u, v in zip(*g.adjacency.nonzero(), strict=True)} for g in (before, after)
    ]
    assert 0 < len(edges[0] ^ edges[1]) <= int(0.1 * before.num_edges)
    assert pq.read_schema(files / "a.parquet").names == ["source", "target"]
    for text in (given[:-1], ["--force", *given[:-1]]):
        assert kind != "random" or run("attack", *text, files / "a.csv").exit_code == 0
        assert kind != "random" or Graph.read(files / "a.csv").ids == after.ids
    again = run("attack", *given, "--force", "--features", files / "nodes.csv", "--labels", files / "labels.csv")
    assert again.exit_code == 0


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"--rate": "1.5"}, "--rate must lie in [0, 1], got 1.5"),
        ({"--rate": "nan"}, "--rate must lie in [0, 1], got nan"),
        ({"--kind": "metatack"}, "--kind must be one of random, dice"),
        ({"--kind": "dice"}, "--labels must be given for dice"),
        ({"--kind": "nettack", "--labels": "labels.csv"}, "--features must be given for nettack"),
        ({"--kind": "dice", "--labels": "one.csv"}, "two"),
        ({"-o": "edges.csv"}, "edges.csv"),
        ({"-o": "nowhere/a.parquet"}, "its folder does not exist"),
        ({"-o": "a.txt"}, "a.txt: must end in .csv or .parquet"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    changes: dict[str, str], rule: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    before = sorted(files.iterdir()), (files / "edges.csv").read_bytes()
    given = {"--kind": "random", "--rate": "0.1", "-o": "a.parquet", **changes}
    result = run("attack", "edges.csv", *(each for pair in given.items() for each in pair))
    assert result.exit_code == 2
    assert rule in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert (sorted(files.iterdir()), (files / "edges.csv").read_bytes()) == before


def test_a_rate_that_the_graph_has_no_room_for_is_named(files: Path) -> None:
    ends = [f"n{i},n{j}" for i in range(5) for j in range(i)]
    (files / "complete.csv").write_text("\n".join(["source,target", *ends]))
    result = run("attack", files / "complete.csv", "--kind", "random", "--rate", "1", "-o", files / "a.csv")
    assert result.exit_code == 2
    assert (
        "--rate of 1 makes a budget of 10 flips, which must lie in [0, 0], the pairs without an edge" in result.stderr
    )
    assert not (files / "a.csv").exists()


def test_robustness_leaves_a_record_and_a_picture(files: Path) -> None:
    out = files / "out"
    assert (
        run("embed", files / "edges.csv", "--features", files / "nodes.csv", "-o", out, *QUICK, *PLAIN).exit_code == 0
    )
    result = run(
        "robustness",
        out,
        "--labels",
        files / "labels.csv",
        "--splits",
        files / "splits.csv",
        "--rate",
        "0",
        "--rate",
        "0.2",
    )
    assert result.exit_code == 0, result.output
    found = json.loads((out / "robustness.json").read_text())
    assert set(found["rates"]) == {"0", "0.2"}
    assert set(found["rates"]["0"].values()) == {found["clean"]}
    hurt = found["rates"]["0.2"]
    assert min(hurt["adaptive prbcd"], hurt["adaptive greedy"]) <= found["clean"]
    assert (out / "robustness.png").read_bytes().startswith(b"\x89PNG")
    assert "raw features" in result.output


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"--rate": "2"}, "--rate must lie in [0, 1], got 2"),
        ({"--labels": "nowhere.csv"}, "nowhere.csv"),
        ({"--labels": "one.csv"}, "two"),
    ],
)
def test_bad_input_of_robustness_is_one_line_and_nothing_is_written(
    changes: dict[str, str], rule: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    assert run("embed", "edges.csv", "--features", "nodes.csv", "-o", "out", *QUICK, *PLAIN).exit_code == 0
    before = sorted((files / "out").iterdir())
    given = {"--labels": "labels.csv", "--rate": "0.1", **changes}
    result = run("robustness", "out", *(each for pair in given.items() for each in pair))
    assert result.exit_code == 2
    assert rule in result.stderr
    assert sorted((files / "out").iterdir()) == before


def test_robustness_needs_features(files: Path) -> None:
    assert run("embed", files / "edges.csv", "-o", files / "out", *QUICK).exit_code == 0
    result = run("robustness", files / "out", "--labels", files / "labels.csv")
    assert result.exit_code == 2
    assert "with features" in result.stderr
    assert not (files / "out" / "robustness.json").exists()
