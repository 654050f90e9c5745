"""What goes into the page: everything in the folder, nothing else, whatever the folder holds."""

import base64
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, Graph, cli
from fdmvgcl.errors import InputError
from fdmvgcl.results.outputs import ResultFolder, write_views
from fdmvgcl.results.report import write_report
from fdmvgcl.results.report.again import command
from fdmvgcl.results.report.nodes import shortened
from fdmvgcl.results.report.page import embedded_json
from fdmvgcl.results.vectors import write_vectors

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to"
Embed = Callable[..., Path]
RING = [(f"n{i}", f"n{(i + step) % 40}") for i in range(40) for step in (1, 3)]
SMALL = ("--dim", 8, "--epochs", 3, "--views", 3)


def content(folder: Path) -> dict[str, Any]:
    page = (folder / "report.html").read_text()
    (found,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', page, re.DOTALL)
    return json.loads(found)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli.app, [str(each) for each in arguments], prog_name="fdmvgcl")
    return result.exit_code, result.stdout + result.stderr


def write_folder(path: Path, graph: Graph, z: np.ndarray, views: np.ndarray | None = None) -> Path:
    """A result folder with these vectors and an encoder as initialised."""
    folder = ResultFolder(path)
    model = FDMVGCL(dim=z.shape[1], views=2, epochs=0).fit(graph)
    model.save(folder.model)
    graph.save(folder.graph)
    folder.write_history([])
    write_vectors(folder.embeddings, graph.ids, {"z": z})
    if views is not None:
        write_views(folder.views, graph.ids, views, model.alphas_.tolist(), model.betas_.tolist())
    return path


def check_steps(folder: Path, steps: dict[str, tuple[list[str], str]]) -> None:
    """Each is a command on this folder, and leads to a page that is there."""
    for words, page in steps.values():
        assert words[1] in {each.callback.__name__ for each in cli.app.registered_commands}
        assert words[2] == folder.name
        assert (HOW_TO / page.rpartition("/")[2]).is_file()


class TestContent:
    def test_all_of_it(self, embed: Embed) -> None:
        found = content(embed(RING, *SMALL))
        assert found["title"] == "edges.csv"
        assert dict(found["facts"]["in"])["Nodes"] == "40"
        assert [len(curve) for curve in found["response"]["phi"]] == [161] * 3
        assert found["response"]["spectrum"]["method"] == "exact"
        assert sum(found["response"]["spectrum"]["shares"]) == pytest.approx(1, abs=1e-3)
        assert {curve["name"] for curve in found["training"]["loss"]} == {"loss", "cosmean", "0.05 × direction"}
        total, *terms = ([y for piece in curve["pieces"] for _, y in piece] for curve in found["training"]["loss"])
        assert np.sum(terms, axis=0) == pytest.approx(total, rel=1e-3)
        assert [path[-1][0] for path in found["training"]["orders"]] == [3, 3, 3]
        assert [path[-1][1] for path in found["training"]["orders"]] == pytest.approx(
            [view["alpha"] for view in found["views"]], rel=1e-4
        )
        assert [layout["name"] for layout in found["map"]["layouts"]] == ["neighbours", "components"]
        assert {len(layout["maps"]) for layout in found["map"]["layouts"]} == {4}
        assert found["verdict"]["health"] in ("not collapsed", "narrowed", "collapsed")
        assert "80 edges are too few to hide some" in found["verdict"]["text"]
        assert dict(found["again"]["versions"])["fdmvgcl"]

    def test_it_tells_of_degrees_components_and_time(self, embed: Embed) -> None:
        folder = embed([*RING, ("x", "y"), ("y", "z"), ("y", "w")], *SMALL)
        found = content(folder)
        assert dict(found["facts"]["in"])["Components"] == "2; 90.9% of nodes in the largest"
        assert found["sizes"]["told"] == "median 4, mean 3.8, at most 4"
        assert found["sizes"]["bins"] == [["0", 0], ["1", 3], ["2", 0], ["3–4", 41]]
        assert dict(found["facts"]["out"])["Date"].startswith("20")
        assert " s, " in dict(found["facts"]["out"])["Took"]
        (folder / "run.json").unlink()
        write_report(folder)
        assert not {"Date", "Took"} & dict(content(folder)["facts"]["out"]).keys()

    def test_what_auto_chose_stands_with_its_reasons(self, embed: Embed) -> None:
        found = content(embed(RING, *SMALL, "--set", "diffusion.skip=1"))["chosen"]
        assert any("columns are made of the edges" in reason for reason in found["reasons"])
        settings = dict(found["settings"])
        assert settings["features.structure"].endswith("columns made of the edges")
        assert "diffusion.skip" not in settings
        assert settings["order of work"] in ("project", "diffuse", "interpolate")

    def test_the_same_folder_gives_the_same_bytes(self, embed: Embed) -> None:
        folder = embed(RING, *SMALL)
        before = (folder / "report.html").read_bytes()
        write_report(folder)
        assert (folder / "report.html").read_bytes() == before

    def test_next_steps_name_the_folder_and_a_node(self, embed: Embed) -> None:
        folder = embed([("O'Brien", "a b"), ("O'Brien", "c"), ("c", "d")], "--dim", 4, "--epochs", 1, "--views", 2)
        steps = {told: (shlex.split(step), page) for told, step, page in content(folder)["again"]["next"]}
        assert steps["Nodes like one"][0] == ["fdmvgcl", "similar", folder.name, "--id", "O'Brien"]
        check_steps(folder, steps)

    def test_next_steps_of_many_graphs_name_a_graph_and_what_serves_graphs(self, tmp_path: Path) -> None:
        (tmp_path / "edges.csv").write_text("graph,source,target\nO'Brien,1,2\nO'Brien,2,3\n007,x,y\n")
        options = ["--level", "graph", "--dim", "4", "--epochs", "1", "--views", "2", "-q"]
        folder = tmp_path / "out"
        assert run("embed", tmp_path / "edges.csv", "-o", folder, *options)[0] == 0
        steps = {told: (shlex.split(step), page) for told, step, page in content(folder)["again"]["next"]}
        assert steps["Graphs like one"][0] == ["fdmvgcl", "similar", folder.name, "--id", "O'Brien"]
        assert {words[1] for words, _ in steps.values()} == {"similar", "cluster", "predict", "transform", "export"}
        check_steps(folder, steps)

    def test_the_command_gives_the_same_vectors(self, embed: Embed, tmp_path: Path) -> None:
        folder = embed(RING, *SMALL, "--seed", 3, "--set", "diffusion.learn_time=true", "--set", "diffusion.skip=1")
        again = shlex.split(content(folder)["again"]["command"])
        assert run(*again[1:], "-o", tmp_path / "again")[0] == 0
        assert (tmp_path / "again/embeddings.parquet").read_bytes() == (folder / "embeddings.parquet").read_bytes()
        assert command(FDMVGCL(dim=8), {}) == "fdmvgcl embed SOURCE --dim 8"

    def test_views_that_were_not_kept_are_computed_anew(self, embed: Embed) -> None:
        kept, computed = (content(embed(RING, *SMALL, *more)) for more in (["--keep-views"], []))
        assert len(computed["map"]["stops"]) == 3
        assert computed["map"] == kept["map"]
        assert computed["spectra"] == kept["spectra"]

    def test_labels_and_their_evaluation_come_later(self, embed: Embed, tmp_path: Path) -> None:
        folder = embed(RING, *SMALL)
        assert content(folder)["map"]["label"] is None
        assert content(folder)["evaluation"] is None
        labels = tmp_path / "labels.csv"
        labels.write_text("id,label\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(39)))
        code, told = run("evaluate", folder, "--labels", labels)
        assert code == 0
        assert f"fdmvgcl report {folder}" in told
        assert run("report", folder, "-q") == (0, "")
        found = content(folder)
        assert found["map"]["label"]["names"] == ["a", "b"]
        assert [row["name"] for row in found["evaluation"]["rows"]][:2] == ["embedding", "untrained encoder"]
        assert dict(found["facts"]["in"])["Labels"].startswith("39 nodes in 2 classes")

    def test_embedding_anew_forgets_labels(self, embed: Embed, tmp_path: Path) -> None:
        labels = tmp_path / "labels.csv"
        labels.write_text("id,label\n" + "".join(f"n{i},{'ab'[i % 2]}\n" for i in range(40)))
        folder = embed(RING, *SMALL, "--labels", labels)
        assert content(folder)["map"]["label"] is not None
        embed(RING, *SMALL, "--seed", 1, "--no-report", at=folder)
        assert {path.name for path in folder.iterdir()} == {
            "checks.json", "embeddings.parquet", "graph.npz", "history.jsonl", "run.json", "model",
        }  # fmt: skip

    def test_neighbours_are_those_that_similar_tells(self, embed: Embed) -> None:
        folder = embed(RING, *SMALL)
        found = content(folder)["map"]
        places = np.frombuffer(base64.b64decode(found["neighbours"]), "<i4").reshape(40, 8)
        told = run("similar", folder, "--id", "n5", "-k", 8)[1]
        own = found["ids"].index("n5")
        assert [found["ids"][i] for i in places[own]] == [line.split("\t")[1] for line in told.splitlines()]

    def test_20_000_nodes_stay_under_5_mb(self, tmp_path: Path) -> None:
        generator = np.random.default_rng(0)
        ids = [f"a rather long name, as titles are, of node {i}" for i in range(20_000)]
        ends = generator.integers(0, 20_000, (2, 60_000))
        graph = Graph.from_edges([ids[i] for i in ends[0]], [ids[i] for i in ends[1]], nodes=ids)
        z = generator.standard_normal((20_000, 16), dtype=np.float32)
        folder = write_folder(tmp_path / "large", graph, z, np.stack([z, z + 1]))
        write_report(folder)
        assert (folder / "report.html").stat().st_size < 5_000_000
        found = content(folder)["map"]
        assert (found["count"], found["total"]) == (5000, 20_000)


class TestOddities:
    @pytest.mark.parametrize("edges", [[("a", "a")], [("a", "b")], [("a", "b"), ("b", "c")]])
    def test_tiny_graphs(self, tmp_path: Path, edges: list[tuple[str, str]]) -> None:
        graph = Graph.from_edges(*map(list, zip(*edges, strict=True)))
        z = np.eye(graph.num_nodes, 4, dtype=np.float32)
        folder = write_folder(tmp_path / "tiny", graph, z, np.stack([z, z]))
        write_report(folder)
        assert content(folder)["map"]["count"] == graph.num_nodes

    @pytest.mark.parametrize("kind", ["constant", "zero", "one dimension"])
    def test_degenerate_vectors(self, tmp_path: Path, kind: str) -> None:
        graph = Graph.from_edges(*map(list, zip(*RING, strict=True)))
        z = {"constant": np.ones((40, 3)), "zero": np.zeros((40, 3)), "one dimension": np.arange(40.0)[:, None]}[kind]
        folder = write_folder(tmp_path / "odd", graph, z.astype(np.float32), np.stack([z, z]).astype(np.float32))
        write_report(folder)
        assert content(folder)["training"] is None

    def test_edited_records_leave_out_what_they_spoil(self, embed: Embed) -> None:
        folder = embed(RING, *SMALL)
        lines = (folder / "history.jsonl").read_text().splitlines()
        odd = [
            '{"phase": 0, "loss": NaN, "alpha": [Infinity, 1], "effective_rank": "high"}',
            "[1, 2]",
            '{"phase": [], "loss": {"a": 1}, "alpha": "x", "</script>": 1e999, "new": 2}',
        ]
        (folder / "history.jsonl").write_text("\n".join([*lines, *odd]) + "\n")
        (folder / "evaluation.json").write_text('{"scores": [1, {"name": [], "mean": NaN}, {"name": 5, "mean": 0.5}]}')
        (folder / "run.json").write_text('{"source": 7, "notes": "x", "versions": [], "features": {"a": 1}}')
        write_report(folder)
        found = content(folder)
        assert [row["name"] for row in found["evaluation"]["rows"]] == ["5"]
        assert found["title"] == ""

    @pytest.mark.parametrize(
        "name", ["history.jsonl", "evaluation.json", "run.json", "labels.parquet", "views.parquet"]
    )
    def test_what_cannot_be_read_is_one_line(self, embed: Embed, name: str) -> None:
        folder = embed(RING, *SMALL)
        (folder / name).write_text("{broken")
        code, told = run("report", folder)
        assert code == 2
        assert str(folder / name) in told.splitlines()[-1]

    def test_vectors_of_other_nodes_are_refused(self, embed: Embed) -> None:
        folder = embed(RING, *SMALL)
        write_vectors(folder / "embeddings.parquet", ["x"], {"z": np.zeros((1, 8), dtype=np.float32)})
        with pytest.raises(InputError, match="must hold z of the 40 nodes"):
            write_report(folder)

    def test_a_folder_that_is_none(self, tmp_path: Path) -> None:
        assert run("report", tmp_path)[0] == 2

    def test_a_report_that_fails_comes_after_the_vectors(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("fdmvgcl.results.report.write_report", fail)
        source = tmp_path / "edges.csv"
        source.write_text("source,target\na,b\nb,c\n")
        code, told = run("embed", source, "-o", tmp_path / "out", *SMALL)
        assert code == 2
        assert told.splitlines()[-1] == "error: No space left on device"
        assert (tmp_path / "out/embeddings.parquet").exists()


class TestText:
    def test_json_cannot_end_its_element(self) -> None:
        text = embedded_json({"id": "</script><!--\u2028&"})
        assert not set("<>&\u2028") & set(text)
        assert json.loads(text) == {"id": "</script><!--\u2028&"}

    def test_hostile_names_do_not_reach_the_markup(self, hostile: Path) -> None:
        page = (hostile / "report.html").read_text()
        assert "<img" not in page
        assert "alert(1)</script>" not in page
        assert page.count("<script") == 2

    def test_long_names_are_cut_in_the_middle(self) -> None:
        assert shortened(["short"]) == (["short"], None)
        (name,), limit = shortened(["begin" + "x" * 5000 + "end"])
        assert limit == len(name) == 72
        assert name.startswith("begin")
        assert name.endswith("end")
        many, limit = shortened(["👩" * 100 + str(i) for i in range(45_000)])
        assert limit == 6
        assert sum(len(each.encode()) for each in many) < 1_500_000
