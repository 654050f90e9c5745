"""The command line, as a person or a script meets it."""

import inspect
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import typer
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, Graph, __version__, cli, datasets
from fdmvgcl.cli import endings, options
from fdmvgcl.cli.commands.embedding import embed
from fdmvgcl.cli.console import printable
from fdmvgcl.diffusion.cost import Workload
from fdmvgcl.learning import prepare
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.results import checkpoints
from fdmvgcl.results.checkpoints import graph_fingerprint
from fdmvgcl.results.outputs import ResultFolder

SMALL = ("--dim", "8", "--epochs", "3", "--views", "3")


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line that went wrong."""
        lines = self.err.splitlines()
        assert self.code == 2, self.out + self.err
        assert len(lines) == 1
        assert lines[0].startswith("error: ")
        return lines[0].removeprefix("error: ")


def run(*args: object) -> Result:
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="fdmvgcl")
    return Result(result.exit_code, result.stdout, result.stderr)


def done(*args: object) -> Result:
    result = run(*args)
    assert result.code == 0, result.out + result.err
    return result


@pytest.fixture
def edges() -> Path:
    """The karate club by name: two columns, no features."""
    lines = ["source,target", *(f"m{a},m{b}" for a, b in nx.karate_club_graph().edges)]
    path = Path("edges.csv")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def features() -> Path:
    table = np.random.default_rng(0).random((34, 3))
    rows = [f"m{i},{a},{b},{c}" for i, (a, b, c) in enumerate(table)]
    path = Path("features.csv")
    path.write_text("\n".join(["id,x,y,z", *rows]) + "\n")
    return path


def club_labels() -> Path:
    club = nx.karate_club_graph()
    path = Path("labels.csv")
    path.write_text("id,label\n" + "".join(f"m{i},{club.nodes[i]['club']}\n" for i in club))
    return path


def embedding(path: Path) -> tuple[list[str], np.ndarray]:
    table = pq.read_table(path)
    return table["id"].to_pylist(), np.stack(table["z"].to_numpy(zero_copy_only=False))


class TestHelp:
    def test_help_teaches(self) -> None:
        assert "embed" in done("--help").out
        assert done().out.split() == done("--help").out.split()
        assert "fdmvgcl embed edges.csv" in done("embed", "--help").out
        assert done("--version").out == f"fdmvgcl {__version__}\n"

    def test_embed_has_few_options_of_its_own(self) -> None:
        """Those that all commands have are not its own."""
        given = [each.annotation.__metadata__[0] for each in inspect.signature(embed).parameters.values()]
        shown = [each for each in given if getattr(each, "rich_help_panel", None) and not each.hidden]
        panels = [each.rich_help_panel for each in shown]
        everywhere = {"--device", "--data-root", "--quiet", "--help-all"}
        assert len({each.default for each in shown} - everywhere) <= 18
        assert set(panels) == {options.INPUT, options.OUTPUT, options.MODEL, options.COMMON}

    def test_help_all_shows_the_rarer_options(self) -> None:
        for name in ("--no-header", "--repeated", "--columns", "--drop", "--encoding", "--keep-views", "--no-report"):
            assert name not in done("embed", "--help").out
            assert name in done("embed", "--help-all").out

    @pytest.mark.parametrize(
        "args", [("--help",), ("embed", "--help"), ("similar", "none", "--id", "x"), ("datasets",)]
    )
    def test_what_must_be_quick_does_not_import_torch(self, args: tuple[str, ...]) -> None:
        script = (
            "import sys; from fdmvgcl.cli import app\n"
            "try: app(sys.argv[1:])\n"
            "except SystemExit: pass\n"
            "assert not {'torch', 'sklearn', 'torch_geometric'} & set(sys.modules)\n"
        )
        subprocess.run([sys.executable, "-c", script, *args], check=True, capture_output=True)


class TestEmbed:
    def test_everything_is_there(self, edges: Path, features: Path) -> None:
        result = done("embed", edges, "--features", features, "-o", "out", *SMALL)
        assert "34 nodes, 78 edges, undirected, unweighted, 3 features, ids from column `source`/`target`" in result.out
        assert "effective rank" in result.out.splitlines()[-4]
        assert result.out.splitlines()[-1].endswith("out/report.html")
        assert "out/embeddings.parquet" in result.out
        assert len(result.err.splitlines()) == 4
        names = {str(path.relative_to("out")) for path in Path("out").rglob("*") if path.is_file()}
        assert names == {
            "checks.json",
            "embeddings.parquet",
            "graph.npz",
            "model/structure.parquet",
            "history.jsonl",
            "report.html",
            "run.json",
            "model/config.json",
            "model/weights.safetensors",
        }
        ids, z = embedding(Path("out/embeddings.parquet"))
        graph = Graph.load("out/graph.npz")
        assert tuple(ids) == graph.ids
        assert z.shape == (34, 8)
        np.testing.assert_array_equal(z, FDMVGCL.load("out/model").transform(graph))
        history = [json.loads(line) for line in Path("out/history.jsonl").read_text().splitlines()]
        assert [record["epoch"] for record in history] == [0, 1, 2]
        told = {"loss", "alpha", "view_similarity", "cka", "alignment", "uniformity", "spectrum", "effective_rank"}
        assert told <= set(history[0])
        assert "class_ratio" not in history[0]

    def test_settings_come_from_a_file_then_set_then_options(self, edges: Path) -> None:
        Path("mine.toml").write_text('dim = 8\nviews = 2\nepochs = 2\nloss = "vicreg"\n[schedule]\nlr = 0.5\n')
        done("embed", edges, "--settings", "mine.toml", "--set", "schedule.lr=0.25", "--views", 3, "-o", "out")
        settings = FDMVGCL.load("out/model").settings
        assert (settings["dim"], settings["views"], settings["schedule"]["lr"]) == (8, 3, 0.25)
        assert settings["loss"]["name"] == "vicreg"

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[schedule]\nlrr = 1\n", "mine.toml: schedule.lrr is no setting of Schedule; did you mean 'lr'"),
            ("dim = [\n", "mine.toml: is not valid TOML"),
            ("[dim]\nx = 1\n", "mine.toml: dim is no setting"),
        ],
    )
    def test_a_file_of_settings_that_cannot_be(self, edges: Path, text: str, told: str) -> None:
        Path("mine.toml").write_text(text)
        assert told in run("embed", edges, "--settings", "mine.toml").error
        assert not Path("edges.fdmvgcl").exists()

    def test_everything_is_decided_and_computed_once(self, edges: Path, features: Path, monkeypatch: Any) -> None:
        counts: Counter[str] = Counter()

        def counted(owner: Any, name: str) -> None:
            wrapped = getattr(owner, name)

            def call(*args: Any, **kwargs: Any) -> Any:
                counts[name] += 1
                return wrapped(*args, **kwargs)

            monkeypatch.setattr(owner, name, call)

        counted(FeatureTransform, "fit")
        counted(prepare, "foresight")
        counted(Graph, "operator")
        counted(prepare, "diffusion_basis")
        counted(prepare.Prepared, "view_pieces")
        done("embed", edges, "--features", features, "--structure", "none", *SMALL, "--no-report")
        assert counts == dict.fromkeys(["fit", "foresight", "operator", "diffusion_basis", "view_pieces"], 1)

    def test_the_same_bytes_each_time_and_without_labels(self, edges: Path) -> None:
        done("embed", edges, "-o", "a", *SMALL)
        done("embed", edges, "-o", "b", *SMALL, "--labels", club_labels(), "--keep-views")
        done("embed", edges, "-o", "c", *SMALL, "--seed", 1)
        bytes_of = {name: Path(name, "embeddings.parquet").read_bytes() for name in "abc"}
        assert bytes_of["a"] == bytes_of["b"] != bytes_of["c"]
        assert not Path("a/views.parquet").exists()
        assert Path("b/views.parquet").exists()

    def test_labels_add_an_evaluation(self, edges: Path) -> None:
        labels = club_labels()
        labels.write_text(labels.read_text() + "stranger,Officer\n")
        out = done("embed", edges, "--labels", labels, *SMALL).out
        assert "1 label of an id that is no node left out" in out
        assert "10 seeded splits of 10/10/80% train/val/test" in out
        for control in ("untrained encoder", "diffused features", "majority class"):
            assert control in out
        record = json.loads(Path("edges.fdmvgcl/evaluation.json").read_text())
        assert record["weights"] == "uniform"
        assert [len(score["by_split"]) for score in record["scores"]] == [10] * 4

    def test_labels_add_the_class_ratio_of_each_view_to_the_history(self, edges: Path) -> None:
        labels = club_labels()
        labels.write_text(labels.read_text().replace("Officer", "alone", 1))
        done("embed", edges, "--labels", labels, "-o", "out", *SMALL)
        history = [json.loads(line) for line in Path("out/history.jsonl").read_text().splitlines()]
        for record in history:
            assert len(record["class_ratio"]) == len(record["alpha"])
            assert 0 <= record["neighbour_homophily"] <= 1
            hi, officer, alone = zip(*record["class_ratio"], strict=True)
            assert all(0 < ratio < 10 for ratio in hi + officer)
            assert set(alone) == {None}

    def test_quiet_is_quiet(self, edges: Path) -> None:
        result = done("embed", edges, "-q", *SMALL)
        assert (result.out, result.err) == ("", "")

    def test_a_graph_without_features_says_what_stands_in(self, edges: Path) -> None:
        assert "no features: 34 columns are made of the edges" in done("embed", edges, *SMALL).out

    def test_a_data_set_by_name_wins_over_a_file_and_says_so(self) -> None:
        Path("karate").write_text("source target\na b\n")
        out = done("embed", "karate", *SMALL).out
        assert "write ./karate for the file" in out
        assert "34 nodes, 78 edges" in out
        assert "2 nodes" in done("embed", "./karate", "-o", "file", *SMALL).out

    def test_an_unstable_scheme_is_warned_of(self, edges: Path) -> None:
        result = done("embed", edges, *SMALL, "--set", "diffusion.scheme=predictor", "--set", "diffusion.step=1")
        assert result.err.startswith("warning: scheme 'predictor' is unstable")

    def test_hostile_names_are_shown_as_they_are(self) -> None:
        Path("edges.csv").write_text("[red]x[/red],<script>\n<script>,[bold]\n[link=a],[bold]\n")
        done("embed", "edges.csv", "-o", "[red]out[/red]", *SMALL)
        out = done("similar", "[red]out[/red]", "--id", "[red]x[/red]").out
        assert sorted(line.split("\t")[1] for line in out.splitlines()) == ["<script>", "[bold]", "[link=a]"]
        assert printable("a\x1b[31m\nb\u2028") == "a\\x1b[31m\\nb\\u2028"

    def test_many_epochs_are_told_in_few_lines(self, edges: Path) -> None:
        err = done("embed", edges, "--dim", 4, "--views", 2, "--epochs", 50, "--set", "schedule.min_rank=0").err
        first_phase = [line for line in err.splitlines() if line.startswith("training")]
        assert 15 <= len(first_phase) <= 22
        assert "epoch 50 of 50" in first_phase[-1]


BAD_FILES: dict[str, tuple[str, str]] = {
    "missing": ("", "no such file"),
    "empty": ("", "is empty"),
    "one column": ("a\nb\n", "bad.csv"),
    "weight": ("source,target,weight\na,b,1\na,c,heavy\n", "bad.csv:3"),
    "negative": ("source,target,weight\na,b,-1\n", "bad.csv:2"),
    "no edges": ("a,a\n", "no edges"),
}


class TestBadInput:
    """Exit code 2, one line, nothing written."""

    @pytest.fixture(autouse=True)
    def _nothing_written(self, tmp_path: Path, edges: Path, features: Path) -> object:
        yield
        assert {path.name for path in tmp_path.iterdir()} <= {"edges.csv", "features.csv", "bad.csv", "mine"}

    @pytest.mark.parametrize("kind", BAD_FILES)
    def test_files(self, kind: str) -> None:
        text, told = BAD_FILES[kind]
        if kind != "missing":
            Path("bad.csv").write_text(text)
        assert told in run("embed", "bad.csv", "-o", "out", *SMALL).error

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("id,x\nm0,nan\n", "bad.csv: features must have a column that can be used; columns left out: x (blank"),
            ("id,x\nm0,1\n", "'m1' and 32 others have none"),
            ("", "is empty"),
        ],
    )
    def test_features(self, edges: Path, text: str, told: str) -> None:
        Path("bad.csv").write_text(text)
        assert told in run("embed", edges, "--features", "bad.csv", "-o", "out").error

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("id,label\nx,1\n", "must label nodes of the graph"),
            ("id,label\nm0,1\nm1,1\n", "at least two classes"),
            ("id,label\nm0,1\nm1,2\n", "2 nodes are labelled"),
        ],
    )
    def test_labels(self, edges: Path, text: str, told: str) -> None:
        Path("bad.csv").write_text(text)
        assert told in run("embed", edges, "--labels", "bad.csv", "-o", "out").error

    @pytest.mark.parametrize(
        ("option", "value", "told"),
        [
            ("--dim", "0", "--dim"),
            ("--dim", "x", "--dim"),
            ("--views", "1", "--views"),
            ("--set", "schedule.lr=-1", "--set schedule.lr must lie in [0, 10]"),
            ("--set", "diffusion.skip_weight=-1", "--set diffusion.skip_weight must be a finite number"),
            ("--set", "schedule.lrr=1", "--set schedule.lrr is no setting of Schedule; did you mean 'lr'"),
            ("--set", "schedul.lr=1", "--set schedul is no setting; did you mean 'schedule'?"),
            ("--set", "schedule=1", "--set schedule is a group of settings: name one of them"),
            ("--set", "lr", "--set must look like schedule.lr=0.01, got 'lr'"),
            ("--set", "loss.lambda=1", "--set loss.lambda is no setting of the loss"),
            ("--set", "seed=true", "--seed must be a whole number"),
            ("--time", "0", "time"),
            ("--seed", str(2**70), "--seed"),
            ("--set", "diffusion.scheme=euler", "scheme"),
            ("--set", "diffusion.scheme=l1", "step"),
            ("--set", "diffusion.activation=tanh", "diffusion.activation must be one of"),
            ("--set", "loss=infonce", "loss must be one of ('regularised-cosmean', 'cosmean'"),
            ("--set", "diffusion.normalisation=row", "diffusion.normalisation"),
            ("--set", "features.scaling=x", "--set features.scaling must be"),
            ("--device", "abacus", "device 'abacus' cannot be used"),
            ("--device", "meta", "device 'meta' cannot be used"),
            ("--dim", "1000000000", "of memory and this machine has"),
            ("--weight", "none", "none"),
            ("-o", "edges.csv", "edges.csv: cannot be written to (it is a file)"),
            ("-o", "edges.csv/out", "edges.csv/out: cannot be written to"),
            ("-o", "/proc/out", "/proc/out: cannot be written to"),
            ("--spam", "1", "--spam"),
        ],
    )
    def test_options(self, edges: Path, option: str, value: str, told: str) -> None:
        assert told in run("embed", edges, *SMALL, option, value).error

    def test_divergence_is_one_line(self, edges: Path) -> None:
        ids = Graph.read(edges).ids
        Path("bad.csv").write_text("id,x\n" + "".join(f"{node},1e38\n" for node in ids))
        huge = ("--features", "bad.csv", "--structure", "none", "--set", "features.scaling=none")
        assert run("embed", edges, *SMALL, "-q", "-o", "mine", *huge).error.startswith("the loss is nan")

    def test_a_folder_of_others_is_refused(self, edges: Path) -> None:
        Path("mine").mkdir()
        Path("mine/thesis.tex").touch()
        assert "is not empty" in run("embed", edges, "-o", "mine").error
        assert os.listdir("mine") == ["thesis.tex"]

    def test_names(self) -> None:
        assert "did you mean 'karate'?" in run("embed", "karete").error
        assert "--features is for files" in run("embed", "karate", "--features", __file__).error
        assert "is missing" in run("embed", "cora", "--data-root", "nowhere").error
        assert "No such command" in run("embde").error
        assert "SOURCE" in run("embed").error

    def test_an_internal_error_is_one_line_unless_asked_for(self, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(FDMVGCL, "prepare", lambda *_, **__: {}["a"])
        result = run("embed", edges)
        assert result.code == 1
        assert "internal error: KeyError: 'a'" in result.err
        assert "Traceback" not in result.err
        monkeypatch.setenv(endings.DEBUG_VARIABLE, "1")
        assert "Traceback" in run("embed", edges).err

    @pytest.mark.parametrize(
        ("ask", "told"),
        [
            (lambda: torch.empty(1 << 46), "ran out when 281475.0 GB more were asked for; fewer nodes"),
            (lambda: pa.allocate_buffer(1 << 50), "ran out when 1125899.9 GB more were asked for; fewer nodes"),
            (lambda: np.empty(1 << 46), "ran out; fewer nodes"),
            (lambda: bytearray(1 << 60), "ran out; fewer nodes"),
        ],
    )
    def test_memory_that_runs_out_is_no_fault_of_the_program(
        self, edges: Path, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object], told: str
    ) -> None:
        monkeypatch.setattr(FDMVGCL, "prepare", lambda *_, **__: ask())
        assert told in run("embed", edges, "--quiet").error
        assert not Path("edges.fdmvgcl/embeddings.parquet").exists()

    def test_a_value_error_of_our_own_is_no_bad_input(self, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(FDMVGCL, "prepare", lambda *_, **__: np.zeros(2) @ np.zeros(3))
        result = run("embed", edges)
        assert result.code == 1
        assert "internal error: ValueError: matmul" in result.err


class TestResults:
    @pytest.fixture
    def out(self, edges: Path, features: Path) -> Path:
        done("embed", edges, "--features", features, "-o", "out", *SMALL)
        return Path("out")

    def test_similar(self, out: Path) -> None:
        lines = [line.split("\t") for line in done("similar", out, "--id", "m0", "-k", 4).out.splitlines()]
        ids, z = embedding(out / "embeddings.parquet")
        unit = z / np.linalg.norm(z, axis=1, keepdims=True)
        truth = unit @ unit[ids.index("m0")]
        order = [i for i in np.argsort(-truth) if ids[i] != "m0"][:4]
        assert [line[:2] for line in lines] == [[str(rank), ids[i]] for rank, i in enumerate(order, start=1)]
        assert [float(line[2]) for line in lines] == pytest.approx(truth[order], abs=1e-4)

    def test_similar_imports_no_more_than_it_needs(self, out: Path) -> None:
        script = (
            "import sys; from fdmvgcl.cli import app\n"
            "try: app(['similar', sys.argv[1], '--id', 'm0'])\n"
            "except SystemExit as done: assert not done.code\n"
            "assert not {'torch', 'scipy', 'rich.console'} & set(sys.modules)\n"
        )
        subprocess.run([sys.executable, "-c", script, out], check=True, capture_output=True)

    def test_similar_suggests(self, out: Path) -> None:
        assert run("similar", out, "--id", "M0").error.endswith("has no id 'M0'; did you mean 'm0'?")

    def test_transform_of_the_same_graph_is_the_embedding(self, out: Path, edges: Path, features: Path) -> None:
        done("transform", out, edges, "--features", features, "-o", "again.parquet")
        assert Path("again.parquet").read_bytes() == (out / "embeddings.parquet").read_bytes()

    def test_transform_extends_the_training_graph(self, out: Path, edges: Path, features: Path) -> None:
        Path("new.csv").write_text("from,to\nnew1,m0\nnew1,m33\nm5,m6\nnew2,new1\n")
        Path("new-features.csv").write_text("id,z,x,y\nnew2,1,0,0\nnew1,0.5,0.5,0\nm0,9,9,9\nnew3,1,1,1\n")
        told = done("transform", out, "new.csv", "--features", "new-features.csv", "--extend", "-o", "new.parquet").out
        assert "1 row of features is of nodes known from training" in told
        ids, z = embedding(Path("new.parquet"))
        assert ids == ["new1", "new2", "new3"]
        Path("all.csv").write_text(edges.read_text() + "new1,m0\nnew1,m33\nm5,m6\nnew2,new1\n")
        Path("all-features.csv").write_text(features.read_text() + "new2,0,0,1\nnew1,0.5,0,0.5\nnew3,1,1,1\n")
        done("transform", out, "all.csv", "--features", "all-features.csv", "-o", "all.parquet")
        every, truth = embedding(Path("all.parquet"))
        np.testing.assert_allclose(z, truth[[every.index(node) for node in ids]], atol=1e-6)

    def test_transform_writes_what_its_ending_says(self, out: Path, edges: Path, features: Path) -> None:
        ids, z = embedding(out / "embeddings.parquet")
        for name in ("z.csv", "z.npy", "z.vec"):
            told = done("transform", out, edges, "--features", features, "-o", name).out
            assert name in told.splitlines()[-1]
        rows = [line.split(",") for line in Path("z.csv").read_text().splitlines()[1:]]
        assert [row[0].strip('"') for row in rows] == ids
        np.testing.assert_array_equal(np.array([row[1:] for row in rows], dtype=np.float32), z)
        np.testing.assert_array_equal(np.load("z.npy"), z)
        assert [line.strip('"') for line in Path("z.ids.csv").read_text().splitlines()[1:]] == ids
        assert Path("z.vec").read_text().splitlines()[0] == f"{len(ids)} {z.shape[1]}"
        Path("z.npy").unlink()
        told = run("transform", out, edges, "--features", features, "-o", "z.npy").error
        assert told == "z.ids.csv: is there already; write over it with --force, or name another"
        assert not Path("z.npy").exists()

    def test_transform_refuses(self, out: Path, edges: Path) -> None:
        Path("new.csv").write_text("source,target\nnew1,m0\n")
        Path("two.csv").write_text("id,x,y\nnew1,1,2\n")
        Path("other.csv").write_text("id,x,y,u\nnew1,1,2,3\n")
        to = ("-o", "new.parquet")
        assert "the model needs 3 feature columns" in run("transform", out, "new.csv", *to).error
        assert "give --features FILE" in run("transform", out, "new.csv", "--extend", *to).error
        told = "two.csv: features column 'z' is missing"
        assert told in run("transform", out, "new.csv", "--extend", "--features", "two.csv", *to).error
        assert "'z'" in run("transform", out, "new.csv", "--extend", "--features", "other.csv", *to).error
        assert "got none" in run("transform", out, edges, "--extend", *to).error
        assert "is a folder" in run("transform", out, edges, "-o", "out").error
        assert "its folder does not exist" in run("transform", out, edges, "-o", "nowhere/x").error
        assert not Path("new.parquet").exists()
        before = edges.read_bytes()
        assert "is an input of this command" in run("transform", out, edges, "-o", edges, "--force").error
        for name in ("new.csv.gz", "new.xlsx", "new"):
            assert "must end in .parquet" in run("transform", out, edges, "-o", name).error
        assert edges.read_bytes() == before
        Path("mine.parquet").write_bytes(b"mine")
        assert (
            "is there already; write over it with --force" in run("transform", out, edges, "-o", "mine.parquet").error
        )
        assert Path("mine.parquet").read_bytes() == b"mine"

    def test_evaluate_tunes_weights_and_keeps_a_record(self, out: Path) -> None:
        before = (out / "embeddings.parquet").read_bytes()
        parts = ("train", "val", "test", "test")
        rows = [f"m{i},{split},{parts[(i + split) % 4]}" for split in (0, 1) for i in range(34)]
        Path("splits.csv").write_text("\n".join(["id,split,part", *rows]) + "\n")
        told = done("evaluate", out, "--labels", club_labels(), "--splits", "splits.csv").out
        assert "2 splits of splits.csv" in told
        record = json.loads((out / "evaluation.json").read_text())
        ours = record["scores"][0]
        assert ours["name"] == "embedding"
        for split in ours["by_split"]:
            assert sum(split["beta"]) == pytest.approx(1)
        assert [score["name"] for score in record["scores"][1:]] == [
            "untrained encoder",
            "diffused features",
            "raw features",
            "majority class",
        ]
        assert (out / "embeddings.parquet").read_bytes() == before

    def test_evaluate_refuses(self, out: Path) -> None:
        labels = club_labels()
        Path("splits.csv").write_text("id,split,part\nm0,0,train\nm1,0,val\nx,0,test\n")
        told = run("evaluate", out, "--labels", labels, "--splits", "splits.csv").error
        assert told == "splits.csv: must name nodes with a label, but split '0' names 'x', which is none"
        assert "it must be the one that was embedded" in run("evaluate", out, "--labels", "digits").error

    @pytest.mark.parametrize(
        "name", ["embeddings.parquet", "model/config.json", "model/weights.safetensors", "graph.npz"]
    )
    @pytest.mark.parametrize("kept", [0, 0.5])
    def test_broken_files_are_one_line(self, out: Path, edges: Path, features: Path, name: str, kept: float) -> None:
        content = (out / name).read_bytes()
        (out / name).write_bytes(content[: int(kept * len(content))])
        if name == "embeddings.parquet":
            told = run("similar", out, "--id", "m0").error
        else:
            told = run("transform", out, edges, "--features", features, "-o", "x.parquet").error
        assert told.startswith(f"{out / name}")

    def test_another_folder_is_no_result(self, tmp_path: Path) -> None:
        assert "no results" in run("similar", tmp_path, "--id", "x").error
        assert "no such folder" in run("evaluate", "nowhere", "--labels", "x").error


class TestDatasets:
    def test_list(self) -> None:
        out = done("datasets", "--data-root", "nowhere").out
        assert "data root: nowhere" in out
        lines = [" ".join(line.split()) for line in out.splitlines()]
        for told in (
            "texas 183 279 1 703 5 0.06 0",
            "texas 309 1 793",  # the paper's edges and features
            "citeseer 3 327 4 552 3 703 6 0.74 48",
            "karate 34 78 0 2 0.86 0",
            "roman-empire 22 662 32 927 300 18",
            "arxiv-year no citations, time of publication",
        ):
            assert told in lines
        assert {line.split()[0] for line in lines if line} >= set(datasets.datasets())


class TestResume:
    def test_a_finished_run_says_so(self, edges: Path) -> None:
        done("embed", edges, *SMALL)
        before = Path("edges.fdmvgcl/embeddings.parquet").stat()
        assert "nothing to resume" in done("embed", edges, *SMALL, "--resume").out
        assert Path("edges.fdmvgcl/embeddings.parquet").stat() == before

    def test_a_finished_run_of_other_settings_is_refused_and_a_lost_file_starts_anew(self, edges: Path) -> None:
        told = "no checkpoint here: starting from the beginning"
        assert told in done("embed", edges, *SMALL, "--resume").out
        finished = "edges.fdmvgcl: is finished, with seed=0, not 3; leave out --resume to begin anew"
        assert run("embed", edges, *SMALL, "--seed", 3, "--resume").error == finished
        Path("edges.fdmvgcl/history.jsonl").unlink()
        assert told in done("embed", edges, *SMALL, "--seed", 3, "--resume").out
        edges.write_text(edges.read_text() + "m0,m9\n")
        assert "is finished, with another graph" in run("embed", edges, *SMALL, "--seed", 3, "--resume").error

    def test_a_checkpoint_of_another_run_is_refused(self, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            stop_after(patch, 1)
            assert run("embed", edges, *SMALL).code == 130
        assert "was made with seed=0, not 1" in run("embed", edges, *SMALL, "--seed", 1, "--resume").error
        edges.write_text(edges.read_text() + "m0,m9\n")
        assert "was made on another graph" in run("embed", edges, *SMALL, "--resume").error
        Path("edges.fdmvgcl/checkpoint.safetensors").write_bytes(b"rubbish" * 9)
        assert "is not a checkpoint" in run("embed", edges, *SMALL, "--resume").error

    @pytest.mark.parametrize("epochs", [1, 2, 3])
    def test_the_path_taken_is_kept(self, edges: Path, monkeypatch: pytest.MonkeyPatch, epochs: int) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(Workload, "faster_order", lambda self, limit: "project")
            done("embed", edges, *SMALL, "-o", "whole")
            stop_after(patch, epochs)
            assert run("embed", edges, *SMALL, "-o", "part").code == 130
        done("embed", edges, *SMALL, "-o", "part", "--resume")
        assert json.loads(Path("part/model/config.json").read_text())["chosen"]["order_of_work"] == "project"
        assert Path("part/embeddings.parquet").read_bytes() == Path("whole/embeddings.parquet").read_bytes()

    def test_the_fingerprint_tells_graphs_apart(self) -> None:
        path = Graph.from_edges(["a", "b"], ["b", "c"])
        others = [
            Graph.from_edges(["a", "a"], ["b", "c"]),
            Graph.from_edges(["a", "b"], ["b", "d"]),
            Graph.from_edges(["a", "b"], ["b", "c"], weight=[1, 2]),
            Graph.from_edges(["a", "b"], ["b", "c"], directed=True),
            path.with_features(np.ones((3, 2))),
            path.with_features(np.full((3, 2), 2.0)),
            path.with_features(np.ones((3, 2)), names=["x", "y"]),
        ]
        assert len({graph_fingerprint(graph) for graph in [path, *others]}) == len(others) + 1
        assert graph_fingerprint(Graph.from_edges(["c", "b"], ["b", "a"])) == graph_fingerprint(path)


def stop_after(monkeypatch: pytest.MonkeyPatch, epochs: int) -> None:
    """Behave as if Ctrl-C were pressed during that epoch."""
    call = checkpoints.Checkpointer.__call__

    def counting(self: checkpoints.Checkpointer, trainer: object, *, last: bool) -> None:
        if len(trainer.history) == epochs:  # type: ignore[attr-defined]
            self.stop.set()
        call(self, trainer, last=last)  # type: ignore[arg-type]

    monkeypatch.setattr(checkpoints.Checkpointer, "__call__", counting)


# Runs the command again and again in children that kill themselves at the n-th renaming of a file or folder, before it
# or after it.
KILLER = """
import os, signal, sys, torch
torch.set_num_threads(1)
torch.optim.Adam([torch.zeros(1, requires_grad=True)])
from fdmvgcl.cli import app
import fdmvgcl.cli.embed, fdmvgcl.diffusion.basis, fdmvgcl.results.report
fdmvgcl.diffusion.basis.ROWS = 5
ARGS = ["embed", "edges.csv", "--dim", "8", "--epochs", "3", "--views", "3", "-q", *sys.argv[1:]]

def child(args, kill_at=None, after=False):
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    calls = [0]
    def killing(rename):
        def call(*names):
            calls[0] += 1
            if calls[0] == kill_at and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            rename(*names)
            if calls[0] == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return call
    os.replace, os.rename = killing(os.replace), killing(os.rename)
    try:
        app(args)
    except SystemExit as end:
        os._exit(end.code or 0)

assert child([*ARGS, "-o", "whole"]) == 0
truth = open("whole/embeddings.parquet", "rb").read()
kills = 0
for number in range(1, 100):
    folder = f"killed{number}"
    status = child([*ARGS, "-o", folder], number, after=number % 2 == 0)
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL, status
    kills += 1
    assert child([*ARGS, "-o", folder, "--resume"]) == 0, number
    assert open(f"{folder}/embeddings.parquet", "rb").read() == truth, number
    assert sorted(os.listdir(folder)) == sorted(os.listdir("whole")), os.listdir(folder)
print(kills)
"""


class TestKilled:
    # Three checkpoints, model (three files), graph, history, run, embeddings, checks, report; in blocks of rows, the
    # basis and its panels too; read in pieces, the graph's store.
    @pytest.mark.parametrize(
        ("options", "files"),
        [
            ((), 12),
            (("--memory", "1KB", "--reader", "memory"), 15),
            (("--memory", "1KB", "--reader", "duckdb", "--basis-dtype", "float16"), 16),
        ],
    )
    def test_sigkill_at_every_file_then_resume_gives_the_same_bytes(
        self, edges: Path, options: tuple[str, ...], files: int
    ) -> None:
        environment = {**os.environ, checkpoints.SECONDS_VARIABLE: "0"}
        command = [sys.executable, "-c", KILLER, *options]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        assert int(result.stdout) == files

    @staticmethod
    def start(edges: Path, *args: str, until: Callable[[], bool]) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "fdmvgcl", "embed", str(edges), *args]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not until() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        return process

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_ctrl_c_and_kill_save_and_say_how_to_go_on(self, edges: Path, number: signal.Signals, code: int) -> None:
        args = ("--dim", "8", "--views", "2", "--epochs", "150", "--set", "schedule.min_rank=0", "-o")
        checkpoint = Path("part/checkpoint.safetensors")
        process = self.start(edges, *args, "part", until=checkpoint.exists)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        assert "Traceback" not in err
        assert "--resume" in err.splitlines()[-1]
        done("embed", edges, *args, "part", "--resume")
        done("embed", edges, *args, "whole")
        assert not checkpoint.exists()
        assert Path("part/embeddings.parquet").read_bytes() == Path("whole/embeddings.parquet").read_bytes()


def test_a_terminal_that_is_not_utf8_does_not_end_a_run() -> None:
    Path("edges.csv").write_text("source,target\nα,β\n")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "TERM": "dumb"}
    command = [sys.executable, "-m", "fdmvgcl", "embed", "edges.csv", *SMALL]
    result = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert b"loss" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("embed", "karate", "-o", ""), "must name a file or folder"),
        (
            ("reproduce", "views", "--datasets", "karate", "-o", "here.txt"),
            "here.txt: is a file; -o must name a folder",
        ),
        (("tune", "karate", "-o", "there"), "there: is a folder; -o must name a file"),
        (("reproduce", "views", "--datasets", "nonsense", "-o", "new"), "'nonsense' is no data set"),
        (
            ("reproduce", "nodes", "--methods", "dgi,grase", "-o", "new"),
            "--methods 'grase' is none; did you mean 'grace'",
        ),
        (("reproduce", "views", "--methods", "dgi", "-o", "new"), "--methods goes with nodes"),
        (("tune", "karate", "--method", "grase", "-o", "new"), "--method 'grase' is none; did you mean 'grace'"),
        (
            ("reproduce", "views", "--datasets", "karate,nonsense", "--datasets", "karate", "-o", "new"),
            "'nonsense' is no data set",
        ),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_any_work(arguments: tuple[str, ...], told: str) -> None:
    Path("here.txt").touch()
    Path("there").mkdir()
    result = run(*arguments)
    assert result.code == 2
    assert told in result.err
    assert sorted(path.name for path in Path().iterdir()) == ["here.txt", "there"]


def test_closed_streams_are_no_error() -> None:
    command = f"{sys.executable} -m fdmvgcl datasets >&- 2>&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0


class TestFolder:
    def test_two_runs_into_one_folder(self, edges: Path) -> None:
        Path("out").mkdir()
        with ResultFolder(Path("out")).locked():
            told = run("embed", edges, *SMALL, "-o", "out").error
            assert told.startswith(f"out: is written to by another run (process {os.getpid()} on ")
        done("embed", edges, *SMALL, "-o", "out")
        assert not list(Path("out").glob(".*"))
        with ResultFolder(Path("out")).locked():
            for command in (("evaluate", "out", "--labels", club_labels()), ("report", "out")):
                assert "is written to by another run" in run(*command).error

    def test_a_lock_that_a_killed_process_left_holds_nothing(self, edges: Path) -> None:
        Path("out").mkdir()
        Path("out/.fdmvgcl.lock").write_text("process 1\n")
        done("embed", edges, *SMALL, "-o", "out")

    def test_results_of_another_source_are_not_written_over(self, edges: Path) -> None:
        done("embed", edges, *SMALL, "-o", "out", "--no-report")
        before = Path("out/embeddings.parquet").read_bytes()
        told = run("embed", "karate", *SMALL, "-o", "out").error
        assert (
            told == "out: holds the results of edges.csv; use another folder with -o, or write over them with --force"
        )
        assert Path("out/embeddings.parquet").read_bytes() == before
        done("embed", edges, *SMALL, "-o", "out", "--no-report", "--seed", 1)
        done("embed", "karate", *SMALL, "-o", "out", "--no-report", "--force")

    def test_evaluate_sees_that_files_are_of_different_runs(self, edges: Path) -> None:
        for name, seed in (("one", 0), ("two", 1)):
            done("embed", edges, *SMALL, "--seed", seed, "-o", name, "--no-report")
        shutil.copy("two/embeddings.parquet", "one/embeddings.parquet")
        told = run("evaluate", "one", "--labels", club_labels(), "-q").error
        assert told.startswith("one/embeddings.parquet: is not what model/ makes of graph.npz")


@pytest.mark.parametrize("source", ["none.csv", "karatee"])
def test_a_missing_file_is_told_without_torch(source: str) -> None:
    script = (
        "import sys; from fdmvgcl.cli import app\n"
        "try: app(['embed', sys.argv[1]])\n"
        "except SystemExit as end: assert end.code == 2\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, source], check=True, capture_output=True)


def test_a_table_of_any_columns_goes_through(edges: Path) -> None:
    cities, when = ("Rome", "Oslo", "Bonn"), "2024-{:02}-{:02}"
    rows = [
        f"m{i};{i / 7:.2f};{cities[i % 3]};{when.format(1 + i % 12, 1 + i % 28)};".replace(".", ",") for i in range(34)
    ]
    Path("nodes.csv").write_bytes("\n".join(["name;score;city;joined;note", *rows]).encode("cp1252"))
    told = done("embed", edges, "--features", "nodes.csv", *SMALL, "-o", "out").out
    assert "columns of features: score: number, decimal comma; city: 3 categories; joined: date (days, periods)" in told
    assert "columns left out: note (blank in every row)" in told
    assert json.loads(Path("out/model/config.json").read_text())["features"]["encoding"][1]["values"][0] == "Rome"
    Path("new.csv").write_text("source,target\nx,m1\n")
    Path("news.csv").write_text("id,score,city,joined\nx,0.5,Paris,2024-05-05\n")
    done("transform", "out", "new.csv", "--features", "news.csv", "--extend", "-o", "x.parquet")
    ids, z = embedding(Path("x.parquet"))
    assert ids == ["x"]
    assert np.isfinite(z).all()
    Path("few.csv").write_text("source,target\nx,y\n")  # too few rows to tell a category or a date by themselves
    Path("fews.csv").write_text("id,score,city,joined,more\nx,0.5,Rome,2024-05-05,1\ny,1,Paris,,b\n")
    told = done("transform", "out", "few.csv", "--features", "fews.csv", "-o", "few.parquet").out
    assert "city: 3 categories; joined: date (days, periods)" in told
    assert "columns not known from training, not used: 'more'" in told
    assert "city: in none of its categories, as training did not know them: 'Paris'" in told
    kept = done("embed", edges, "--features", "nodes.csv", "--drop", "city,joined", *SMALL, "-o", "few").out
    assert "1 feature," in kept
    assert (
        "--columns must name columns of the features, got 'size'"
        in run("embed", edges, "--features", "nodes.csv", "--columns", "size").error
    )


def test_run_it_again_runs_and_gives_the_same_bytes(edges: Path, features: Path) -> None:
    source = Path("O'Brien's edges.csv")
    source.write_text(edges.read_text().replace("source,target", "a b,b c"))
    given = ("--source", "a b", "--target", "b c", "--features", features, "--drop", "x,y", "--repeated", "sum")
    more = ("--labels", club_labels(), "--keep-views", "--set", "diffusion.learn_alpha=false", "--set", "loss=vicreg")
    done("embed", source, *given, *more, *SMALL, "--seed", 3, "-o", "first")
    page = Path("first/report.html").read_text()
    again = json.loads(re.search(r'id="content">(.*?)</script>', page, re.S)[1])["again"]["command"]
    program, *words = shlex.split(again)
    assert program == "fdmvgcl"
    done(*words)
    for name in ("embeddings.parquet", "views.parquet", "graph.npz"):
        assert Path("first", name).read_bytes() == Path("O'Brien's edges.fdmvgcl", name).read_bytes()


AGAIN: dict[str, tuple[str, ...]] = {
    "bare": ("edges.txt", "--no-header", "--weight", "4", "--source", "1", "--target", "2", "--encoding", "cp1252"),
    "timed": ("timed.csv", "--since", "2024-01-02", "--until", "2024-03-01", "--half-life", "30d", "--directed"),
    "features": ("timed.csv", "--features", "f.csv", "--columns", "x,y", "--fill-missing", "--structure", "none"),
    "settings": ("timed.csv", "--settings", "s.toml", "--time", "2.5", "--device", "cpu", "--data-root", "nowhere"),
    "many": ("many.csv", "--level", "graph", "--no-report"),
    "data set": ("karate", "--structure", "only"),
    "control": ("timed.csv", "--features", "f.csv", "--fill-missing", "--control", "diffused"),
    "sampled": ("timed.csv", "--train-rows", "20", "--basis-dtype", "float16"),
}
# What decides where to write, and how loudly, is no part of the result.
NOT_AGAIN = {"output", "force", "resume", "memory", "quiet", "help-all", "reader", "scratch"}


@pytest.mark.parametrize("case", AGAIN)
def test_every_option_comes_back_in_run_it_again(case: str, edges: Path, features: Path) -> None:
    lines = edges.read_text().splitlines()[1:]
    days = [f"2024-{1 + i % 3:02}-{1 + i % 28:02}" for i in range(len(lines))]
    Path("edges.txt").write_bytes("".join(f"{line},é,{1 + i % 3}\n" for i, line in enumerate(lines)).encode("cp1252"))
    rows = [f"{line},{day}\n" for line, day in zip(lines, days, strict=True)]
    Path("timed.csv").write_text("source,target,time\n" + "".join(rows))
    Path("many.csv").write_text("graph,source,target\n" + "".join(f"g{i % 5},{line}\n" for i, line in enumerate(lines)))
    Path("f.csv").write_text("".join(features.read_text().splitlines(keepends=True)[:-2]))
    Path("s.toml").write_text('loss = "vicreg"\n[schedule]\nlr = 0.02\n')
    source, *given = AGAIN[case]
    done("embed", source, *given, *SMALL, "-o", "first")
    done("report", "first")
    page = Path("first/report.html").read_text()
    again = json.loads(re.search(r'id="content">(.*?)</script>', page, re.S)[1])["again"]["command"]
    done(*shlex.split(again)[1:], "-o", "second")
    for name in ("embeddings.parquet", "graph.npz"):
        assert Path("first", name).read_bytes() == Path("second", name).read_bytes()
    kept = [json.loads(Path(folder, "run.json").read_text())["options"] for folder in ("first", "second")]
    assert kept[0] == kept[1]


def test_every_option_of_embed_is_tried_again() -> None:
    first = inspect.getsource(test_run_it_again_runs_and_gives_the_same_bytes)
    text = " ".join([*sum(AGAIN.values(), ()), first, *SMALL])
    command = typer.main.get_command(cli.app).commands["embed"]
    names = {max(p.opts, key=len).removeprefix("--") for p in command.params if p.param_type_name == "option"}
    assert {name for name in names - NOT_AGAIN - {"help"} if f"--{name}" not in text} == set()


@pytest.mark.parametrize(
    "arguments",
    [
        "embed missing.csv",
        "embed there.csv --features missing.csv",
        "embed there.csv --labels missing.csv",
        "embed there.csv --settings missing.csv",
        "attack missing.csv --kind random --rate 0.1 -o a.csv",
        "attack there.csv --kind dice --rate 0.1 -o a.csv --labels missing.csv",
        "transform missing.csv there.csv -o z.csv",
        "update missing.csv there.csv",
        "evaluate missing.csv --labels there.csv",
        "predict missing.csv --labels there.csv",
        "report missing.csv",
    ],
)
def test_what_is_not_there_is_told_before_torch_comes_in(arguments: str) -> None:
    """A child in which torch cannot be imported at all."""
    Path("there.csv").write_text("source,target\na,b\n")
    script = "import sys; sys.modules.update(torch=None); from fdmvgcl.cli import main; main()"
    given = arguments.split()
    found = subprocess.run([sys.executable, "-c", script, *given], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr in ("error: missing.csv: no such file\n", "error: missing.csv: no such folder\n")
