"""What comes after embedding, as a person or a script meets it."""

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, Graph, cli
from fdmvgcl.results.outputs import ResultFolder


def run(*args: object) -> SimpleNamespace:
    """Exit code, stdout, and the one line of an error."""
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="fdmvgcl")
    if result.exit_code == 0:
        return SimpleNamespace(out=result.stdout, err=result.stderr, error=None)
    assert result.exit_code == 2, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, result.output
    return SimpleNamespace(out=result.stdout, err=result.stderr, error=errors[0].removeprefix("error: "))


def done(*args: object) -> SimpleNamespace:
    result = run(*args)
    assert result.error is None, result.error
    return result


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture
def edges() -> Path:
    """The karate club, with names that have to be handled with care."""
    names = {0: "O'Brien", 1: "<script>"}
    lines = [f"{names.get(a, f'm{a}')},{names.get(b, f'm{b}')}" for a, b in nx.karate_club_graph().edges]
    Path("edges.csv").write_text("\n".join(["source,target", *lines]) + "\n")
    return Path("edges.csv")


@pytest.fixture
def out(edges: Path) -> Path:
    done("embed", edges, "-o", "out", "--dim", 8, "--epochs", 2, "--views", 3, "--no-report")
    return Path("out")


class TestSimilar:
    def test_many_are_as_one_by_one(self, out: Path) -> None:
        Path("ids.txt").write_text("id\n<script>\n\nm5\n")
        many = rows(done("similar", out, "--id", "O'Brien", "--ids", "ids.txt", "-k", 3).out)
        alone = [
            [node, *row]
            for node in ("O'Brien", "<script>", "m5")
            for row in rows(done("similar", out, "--id", node, "-k", 3).out)
        ]
        assert many == alone

    def test_json(self, out: Path) -> None:
        (found,) = json.loads(done("similar", out, "--id", "m5", "-k", 2, "--json").out)
        assert found["id"] == "m5"
        told = rows(done("similar", out, "--id", "m5", "-k", 2).out)
        assert [each["id"] for each in found["similar"]] == [row[1] for row in told]

    def test_of_transformed_nodes(self, out: Path) -> None:
        Path("new.csv").write_text("source,target\nnewcomer,m5\nnewcomer,m6\n")
        done("transform", out, "new.csv", "--extend", "-o", "new.parquet")
        found = rows(done("similar", out, "--of", "new.parquet", "-k", 3).out)
        assert [row[:2] for row in found] == [["newcomer", str(rank)] for rank in (1, 2, 3)]
        assert {"m5", "m6"} & {row[2] for row in found}

    def test_bad_input(self, out: Path) -> None:
        assert "name nodes with --id or --ids" in run("similar", out).error
        assert 'did you mean "O\'Brien"' in run("similar", out, "--id", "m5", "--id", "OBrien").error
        assert "no such file" in run("similar", out, "--ids", "none.txt").error
        done("export", out, "-o", "z.csv")
        assert "is not a whole Parquet file" in run("similar", out, "--of", "z.csv").error


class TestExport:
    def test_vectors_are_those_of_the_folder(self, out: Path) -> None:
        done("export", out, "-o", "z.npy", "--unit")
        z = np.load("z.npy")
        ids = Path("z.ids.csv").read_text().splitlines()[1:]
        i = ids.index('"m5"')
        cosines = dict(zip(ids, z @ z[i], strict=True))
        (found,) = json.loads(done("similar", out, "--id", "m5", "-k", 1, "--json").out)
        del cosines['"m5"']
        assert max(cosines.values()) == pytest.approx(found["similar"][0]["cosine"], abs=1e-5)

    def test_json_tells_the_files(self, out: Path) -> None:
        found = json.loads(done("export", out, "-o", "z.npy", "--json").out)
        assert found == {"format": "npy", "unit": False, "files": ["z.npy", "z.ids.csv"]}

    def test_nothing_is_written_over_unasked(self, out: Path) -> None:
        Path("z.ids.csv").write_text("mine")
        assert "z.ids.csv: is there already" in run("export", out, "-o", "z.npy").error
        assert not Path("z.npy").exists()
        done("export", out, "-o", "z.npy", "--force")
        before = (out / "embeddings.parquet").read_bytes()
        told = run("export", out, "-o", out / "embeddings.parquet", "--unit", "--force").error
        assert "is an input of this command" in told
        assert (out / "embeddings.parquet").read_bytes() == before
        assert run("export", out, "-o", "z.csv", "--format", "cvs").error.startswith("--format must be one of")


@pytest.fixture
def club(out: Path) -> Path:
    """The karate club with both factions' labels, in files."""
    graph = nx.karate_club_graph()
    names = {0: "O'Brien", 1: "<script>"}
    lines = [f"{names.get(n, f'm{n}')},{graph.nodes[n]['club']}" for n in graph]
    Path("all.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    Path("some.csv").write_text("\n".join(["id,label", *lines[:20]]) + "\n")
    return out


class TestCluster:
    def test_every_node_has_a_cluster(self, club: Path) -> None:
        result = done("cluster", club, "-k", 2, "--labels", "all.csv")
        found = rows(result.out)
        assert len(found) == 34
        assert {row[1] for row in found} == {"0", "1"}
        assert "silhouette" in result.err
        assert "NMI" in result.err
        done("cluster", club, "-k", 2, "-o", "c.csv")
        written = [line.split(",")[:2] for line in Path("c.csv").read_text().splitlines()]
        assert written == [["id", "cluster"], *([f'"{row[0]}"', row[1]] for row in found)]

    def test_json_tells_what_was_tried(self, club: Path) -> None:
        found = json.loads(done("cluster", club, "--json").out)
        assert set(map(int, found["tried"])) == set(range(2, 21))
        assert {row["cluster"] for row in found["rows"]} == set(range(found["k"]))
        assert found["labels"] is None

    def test_bad_input(self, club: Path) -> None:
        assert run("cluster", club, "-k", 35).error == "k must lie from 1 to 34, as many as there are vectors, got 35"
        assert "must end in .csv or .parquet" in run("cluster", club, "-o", "c.txt").error
        assert "is there already" in run("cluster", club, "-o", "all.csv").error
        Path("wrong.csv").write_text("id,label\nm55,a\nm66,b\n")
        assert "no node is 'm55'; did you mean 'm5'" in run("cluster", club, "--labels", "wrong.csv").error

    def test_equal_vectors_are_one_cluster_and_that_is_told(self) -> None:
        Path("pair.csv").write_text("source,target\na,b\n")
        done("embed", "pair.csv", "--dim", 4, "--epochs", 1, "--views", 2, "--no-report", "-o", "pair")
        told = done("cluster", "pair", "-k", 2)
        assert [row[:2] for row in rows(told.out)] == [["a", "0"], ["b", "0"]]
        assert "1 cluster, silhouette" in told.err
        assert "warning: there are no 2 clusters: nodes with equal vectors belong together" in told.err


class TestPredict:
    def test_the_rest_gets_labels(self, club: Path) -> None:
        result = done("predict", club, "--labels", "some.csv")
        truth = dict(line.split(",") for line in Path("all.csv").read_text().splitlines())
        found = rows(result.out)
        assert len(found) == 14
        assert sum(truth[node] == label for node, label, _ in found) > 9
        assert all(0.5 <= float(probability) <= 1 for *_, probability in found)
        assert "majority class" in result.err
        assert "5-fold cross-validation on 20 labels" in result.err

    def test_json_and_file_say_the_same(self, club: Path) -> None:
        found = json.loads(done("predict", club, "--labels", "some.csv", "--json", "-o", "p.csv").out)
        assert set(found["scores"]) == {"embedding", "majority class"}
        lines = Path("p.csv").read_text().splitlines()
        assert lines[0] == "id,label,probability"
        assert len(lines) - 1 == len(found["rows"]) == 14

    def test_bad_input(self, club: Path) -> None:
        one = Path("one.csv")
        one.write_text("id,label\nm5,a\nm6,a\nm7,a\n")
        assert (
            "at least two classes among the graph's nodes, got only 'a'" in run("predict", club, "--labels", one).error
        )
        one.write_text("id,label\nm5,a\nm6,b\n")
        assert run("predict", club, "--labels", one).error.startswith(
            "one.csv: at least 6 nodes must have a label, got 2"
        )
        told = run("predict", club, "--labels", "some.csv", "-o", "some.csv", "--force").error
        assert "must not be its output" in told

    def test_numbers_are_told_to_be_classes(self, club: Path) -> None:
        Path("ages.csv").write_text("id,label\n" + "".join(f"m{n},{20 + n // 1.2:.1f}\n" for n in range(2, 33)))
        told = done("predict", club, "--labels", "ages.csv").err
        assert "distinct numbers is taken for a class; evaluate foretells numbers" in told
        assert "is taken for a class" not in done("predict", club, "--labels", "some.csv").err


class TestLinks:
    def test_of_nodes_and_of_all(self, club: Path) -> None:
        result = done("links", club, "--id", "O'Brien", "--id", "m5", "-k", 1)
        assert [row[0] for row in rows(result.out)] == ["O'Brien", "m5"]
        assert "AUC" in result.err
        assert "common neighbours" in result.err
        again = done("links", club, "-k", 50, "-o", "links.csv")
        assert "hiding edges" not in again.err  # it is on record
        assert "AUC" in again.err
        lines = Path("links.csv").read_text().splitlines()
        assert lines[0] == "source,target,score"
        known = {frozenset(line.split(",")) for line in Path("edges.csv").read_text().splitlines()}
        found = [frozenset(cell.strip('"') for cell in line.split(",")[:2]) for line in lines[1:]]
        assert len(found) == 50
        assert not known & set(found)

    def test_json(self, club: Path) -> None:
        found = json.loads(done("links", club, "-k", 1, "--json").out)
        assert len(found["rows"]) == 1
        assert found["checks"][0]["metric"] == "AUC"

    def test_an_answer_at_once_measures_and_trains_nothing(self, club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = sorted(club.rglob("*"))
        for command in (("links", club, "--id", "m5"), ("anomalies", club)):
            with monkeypatch.context() as patch:
                patch.setattr(FDMVGCL, "fit", None)
                patch.setattr(FDMVGCL, "prepare", None)
                at_once = done(*command, "--no-check")
            assert "not measured yet" in at_once.err
            assert sorted(club.rglob("*")) == before
        answer = done("links", club, "--id", "m5")
        at_once = done("links", club, "--id", "m5", "--no-check")
        assert at_once.out == answer.out
        assert "AUC" in at_once.err

    def test_new_vectors_forget_what_was_measured(self, club: Path, edges: Path) -> None:
        done("links", club, "-k", 1)
        assert "links" in json.loads((club / "checks.json").read_text())
        done("embed", edges, "-o", club, "--dim", 4, "--epochs", 1, "--views", 2, "--no-report")
        assert "links" not in json.loads((club / "checks.json").read_text())

    def test_bad_input(self, club: Path) -> None:
        assert run("links", club, "--id", "m55").error.startswith("the graph has no node 'm55'; did you mean")

    def test_a_graph_too_small_to_check_still_gets_an_answer(self) -> None:
        Path("two.csv").write_text("source,target\na,b\n")
        done("embed", "two.csv", "-o", "two", "--dim", 4, "--epochs", 1, "--views", 2, "--no-report")
        result = done("links", "two")
        assert result.out == ""
        assert "too few" in result.err


class TestAnomalies:
    def test_every_node_is_ranked(self, club: Path) -> None:
        result = done("anomalies", club)
        found = rows(result.out)
        scores = [float(row[1]) for row in found]
        assert len(found) == 34
        assert scores == sorted(scores, reverse=True)
        assert "planted nodes with edges" in result.err
        assert "number of edges" in result.err
        listed = json.loads(done("anomalies", club, "--json").out)["rows"]
        assert [row["id"] for row in listed] == [row[0] for row in found]
        assert all(row["score"] == round(row["score"], 6) for row in listed)


class TestUpdate:
    @pytest.fixture
    def people(self) -> Path:
        """Edges and features of several kinds, embedded."""
        graph = nx.karate_club_graph()
        lines = [f"m{a},m{b}" for a, b in graph.edges]
        Path("edges.csv").write_text("\n".join(["source,target", *lines]) + "\n")
        towns = ["Ulm", "Bonn", "Graz"]
        table = [f"m{n},{20 + n},{towns[n % 3]}" for n in graph]
        Path("nodes.csv").write_text("\n".join(["id,age,town", *table]) + "\n")
        done("embed", "edges.csv", "--features", "nodes.csv", "-o", "out", "--dim", 8, "--epochs", 2, "--views", 3)
        return Path("out")

    def test_it_is_the_encoder_on_the_whole_graph(self, people: Path) -> None:
        Path("new.csv").write_text("source,target\nm0,O'Brien\nm5,m20\nO'Brien,m3\n")
        Path("new-nodes.csv").write_text("id,age,town\nO'Brien,50,Linz\nm7,99,Ulm\n")
        Path("gone-edges.csv").write_text("source,target\nm1,m0\n")
        Path("gone.txt").write_text("id\nm33\n")
        told = done(
            "update", people, "new.csv", "--features", "new-nodes.csv", "--removed", "gone.txt", "--removed",
            "gone-edges.csv",
        ).out  # fmt: skip
        assert "mean cosine of 33 nodes with their vectors before" in told
        old = [line for line in Path("edges.csv").read_text().splitlines() if "m33" not in line and line != "m0,m1"]
        Path("whole.csv").write_text("\n".join([*old, "m0,O'Brien", "m5,m20", "O'Brien,m3"]) + "\n")
        table = [line for line in Path("nodes.csv").read_text().splitlines() if not line.startswith(("m33,", "m7,"))]
        Path("whole-nodes.csv").write_text("\n".join([*table, "O'Brien,50,Linz", "m7,99,Ulm"]) + "\n")
        done("transform", people, "whole.csv", "--features", "whole-nodes.csv", "-o", "whole.parquet")
        assert (people / "embeddings.parquet").read_bytes() == Path("whole.parquet").read_bytes()

    def test_again_and_again(self, people: Path) -> None:
        before = (people / "embeddings.parquet").read_bytes()
        Path("one.csv").write_text("source,target\nm0,m9\n")
        Path("two.csv").write_text("source,target\nm0,m23\n")
        done("update", people, "one.csv", "--no-report")
        done("update", people, "two.csv")
        run_record = json.loads((people / "run.json").read_text())
        assert [each["edges"] for each in run_record["updates"]] == ["one.csv", "two.csv"]
        page = (people / "report.html").read_text()
        assert "fdmvgcl update edges.fdmvgcl one.csv\\nfdmvgcl update edges.fdmvgcl two.csv" in page
        Path("both.csv").write_text("source,target\nm0,m9\nm23,m0\n")
        done("update", people, "--removed", "both.csv", "--no-report")
        assert (people / "embeddings.parquet").read_bytes() == before

    def test_what_it_says_to_run_again_gives_the_same(self, people: Path) -> None:
        Path("one.csv").write_text("source,target\nm0,m9\n")
        done("update", people, "one.csv", "--train")
        content = (people / "report.html").read_text()
        lines = json.loads(content.split('"command":', 1)[1].split('","', 1)[0] + '"').split("\n")
        assert lines[1] == "fdmvgcl update edges.fdmvgcl one.csv --train"
        for line in lines:
            done(*shlex.split(line)[1:], "--no-report")
        again = Path("edges.fdmvgcl")
        assert (again / "embeddings.parquet").read_bytes() == (people / "embeddings.parquet").read_bytes()
        weights = [folder / "model" / "weights.safetensors" for folder in (again, people)]
        assert weights[0].read_bytes() == weights[1].read_bytes()

    def test_json_is_its_record(self, people: Path) -> None:
        Path("one.csv").write_text("source,target\nm0,m9\n")
        found = json.loads(done("update", people, "one.csv", "--json").out)
        assert found == json.loads((people / "run.json").read_text())["updates"][0]
        assert found["moved"]["nodes"] == 34

    def test_training_goes_on_and_history_with_it(self, people: Path) -> None:
        before = (people / "history.jsonl").read_text().splitlines()
        Path("one.csv").write_text("source,target\nm0,m9\n")
        done("update", people, "one.csv", "--train", "--no-report")
        after = (people / "history.jsonl").read_text().splitlines()
        assert after[: len(before)] == before
        assert len(after) > len(before)

    def test_training_goes_on_with_fewer_nodes_than_were_anchored(self, people: Path) -> None:
        Path("gone.txt").write_text("id\n" + "\n".join(f"m{n}" for n in range(2, 34)) + "\n")
        told = done("update", people, "--removed", "gone.txt", "--train", "--no-report").out
        assert "embeddings of 2 nodes" in told

    def test_what_was_not_trained_is_not_trained_on(self, edges: Path) -> None:
        small = ("--dim", 8, "--views", 3, "--no-report", "-o", "control")
        done("embed", edges, "--control", "untrained", *small)
        before = {path: path.read_bytes() for path in Path("control").rglob("*") if path.is_file()}
        Path("one.csv").write_text("source,target\nm2,m9\n")
        told = run("update", "control", "one.csv", "--train").error
        assert told == "--train has nothing to go on with: the model in control was not trained"
        assert {path: path.read_bytes() for path in Path("control").rglob("*") if path.is_file()} == before
        done("update", "control", "one.csv", "--no-report")

    def test_a_new_node_that_the_edges_tell_nothing_of_is_one_line(self, out: Path) -> None:
        Path("new.csv").write_text("source,target\nx,y\nm5,z\n")
        told = done("update", out, "new.csv").err
        assert told.count("no neighbour that the model knows") == 1
        assert "warning: 2 nodes have no neighbour that the model knows" in told

    def test_other_files_stay_and_stale_ones_go(self, people: Path) -> None:
        (people / "notes.txt").write_text("mine")
        done("links", people, "-k", 1)
        Path("one.csv").write_text("source,target\nm0,m9\n")
        done("update", people, "one.csv", "--no-report")
        names = {path.name for path in people.iterdir()}
        assert names == {"embeddings.parquet", "graph.npz", "history.jsonl", "model", "notes.txt", "run.json"}

    def test_a_killed_update_leaves_the_folder_as_it_was(self, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = {path: path.read_bytes() for path in people.rglob("*") if path.is_file()}
        Path("one.csv").write_text("source,target\nm0,m9\n")

        def dies(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(ResultFolder, "write_run", dies)
            CliRunner().invoke(cli.app, ["update", "out", "one.csv", "--no-report"])
        assert {path: path.read_bytes() for path in people.rglob("*") if path.is_file()} == before
        done("update", people, "one.csv", "--no-report")

    def test_bad_input(self, people: Path) -> None:
        before = {path: path.read_bytes() for path in people.rglob("*") if path.is_file()}
        assert "name a file of new edges, --features or --removed" in run("update", people).error
        Path("new.csv").write_text("source,target\nm0,fay\n")
        assert "give --features FILE" in run("update", people, "new.csv").error
        Path("f.csv").write_text("id,age,town\ngus,1,Ulm\n")
        told = run("update", people, "new.csv", "--features", "f.csv").error
        assert told == "f.csv: features must have a row for every new node; 'fay' has none"
        Path("gone.txt").write_text("id\nm99\n")
        assert run("update", people, "--removed", "gone.txt").error.startswith("gone.txt: the graph has no node 'm99'")
        Path("gone.csv").write_text("source,target\nm0,m33\n")
        assert (
            "gone.csv: the graph has no edge between 'm0' and 'm33'"
            in run("update", people, "--removed", "gone.csv").error
        )
        assert {path: path.read_bytes() for path in people.rglob("*") if path.is_file()} == before


def test_a_folder_of_another_version_is_refused_by_every_command(club: Path) -> None:
    config = club / "model" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"format": 99}))
    Path("some.csv").write_text("id,label\nm1,a\nm2,b\n")
    Path("new.csv").write_text("source,target\nm1,m9\n")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for command in (
        ("similar", club, "--id", "m1"),
        ("export", club, "-o", "vectors.npy"),
        ("cluster", club, "-o", "clusters.csv"),
        ("predict", club, "--labels", "some.csv", "-o", "rest.csv"),
        ("links", club, "-o", "links.csv"),
        ("anomalies", club, "-o", "odd.csv"),
        ("update", club, "new.csv"),
        ("transform", club, "new.csv", "-o", "new.parquet"),
        ("report", club),
    ):
        assert run(*command).error == f"{config}: must be a model of format 5, got 99"
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


class TestTime:
    EDGES = "source,target,time\na,b,1\nb,c,11\nc,d,21\nd,a,21\n"
    SMALL = ("--dim", 4, "--epochs", 1, "--views", 2, "--no-report")

    def weights(self, folder: str) -> dict[tuple[str, str], float]:
        graph = Graph.load(f"{folder}/graph.npz")
        return {(graph.ids[i], graph.ids[j]): w for (i, j), w in graph.adjacency.todok().items() if i < j}

    def test_windows_and_half_lives(self) -> None:
        Path("e.csv").write_text(self.EDGES)
        assert "times in `time`: all edges count alike" in done("embed", "e.csv", "-o", "all", *self.SMALL).out
        assert set(self.weights("all").values()) == {1}
        done("embed", "e.csv", "-o", "part", "--since", 11, "--until", 20, *self.SMALL)
        assert self.weights("part") == {("b", "c"): 1}
        done("embed", "e.csv", "-o", "aged", "--half-life", 10, *self.SMALL)
        assert self.weights("aged") == {("a", "b"): 0.25, ("b", "c"): 0.5, ("c", "d"): 1, ("a", "d"): 1}

    def test_old_weights_go_on_halving(self) -> None:
        lines = self.EDGES.splitlines()
        Path("e.csv").write_text("\n".join(lines[:3]) + "\n")
        Path("new.csv").write_text("\n".join([lines[0], *lines[3:]]) + "\n")
        Path("late.csv").write_text("source,target,time\na,c,1\n")
        Path("whole.csv").write_text(self.EDGES + "a,c,1\n")
        done("embed", "e.csv", "-o", "out", "--half-life", 10, *self.SMALL)
        done("update", "out", "new.csv", "--half-life", 10, "--no-report")
        done("update", "out", "late.csv", "--half-life", 10, "--no-report")
        done("embed", "whole.csv", "-o", "whole", "--half-life", 10, *self.SMALL)
        assert self.weights("out") == pytest.approx(self.weights("whole"))
        assert "weights of old edges stay" in done("update", "out", "new.csv", "--half-life", 5, "--no-report").err
        assert "new edges count in full" in done("update", "out", "new.csv", "--no-report").err

    def test_what_comes_late_is_as_if_it_had_come_in_time(self) -> None:
        late = "source,target,time\nd,a,1\na,c,1\n"
        Path("e.csv").write_text(self.EDGES)
        Path("late.csv").write_text(late)
        Path("whole.csv").write_text(self.EDGES + late.split("\n", 1)[1])
        done("embed", "e.csv", "-o", "out", "--half-life", 10, *self.SMALL)
        done("update", "out", "late.csv", "--half-life", 10, "--no-report")
        done("embed", "whole.csv", "-o", "whole", "--half-life", 10, *self.SMALL)
        assert self.weights("out") == pytest.approx(self.weights("whole"))

    def test_bad_input(self, edges: Path) -> None:
        told = run("embed", edges, "--since", 3, "-o", "x").error
        assert told == "edges.csv: must have a column time or timestamp, as a time is asked for"
        Path("e.csv").write_text(self.EDGES + "x,y,soon\n")
        assert run("embed", "e.csv", "--since", 3, "-o", "x").error.startswith("e.csv:6: time must be a finite number")
        Path("e.csv").write_text(self.EDGES)
        assert run("embed", "e.csv", "--half-life", "3d", "-o", "x").error.startswith("--half-life must be a number in")
        assert "--since leaves no edge" in run("embed", "e.csv", "--since", 99, "-o", "x").error
        assert not Path("x").exists()
