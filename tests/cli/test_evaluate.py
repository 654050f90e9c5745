"""``fdmvgcl evaluate``: three tasks in one record, and labels that are numbers."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from fdmvgcl import cli
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.report.content import page_content
from fdmvgcl.results.report.records import read_records

SMALL = ("--dim", "8", "--epochs", "3", "--views", "3", "-o", "out")


def run(*args: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli.app, [str(arg) for arg in args], prog_name="fdmvgcl")
    return result.exit_code, result.stdout, result.stderr


def done(*args: object) -> str:
    code, out, error = run(*args)
    assert code == 0, out + error
    return out


def shown() -> dict:
    return page_content(read_records(ResultFolder(Path("out"))))["evaluation"]


def record() -> dict:
    return json.loads(Path("out/evaluation.json").read_text())


@pytest.fixture(autouse=True)
def _club(_in_its_own_folder: None) -> None:
    """The karate club, its sides, and for each member a number that tells the side."""
    club = nx.karate_club_graph()
    Path("edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in club.edges))
    sides = [club.nodes[i]["club"] for i in club]
    Path("labels.csv").write_text("id,label\n" + "".join(f"{i},{side}\n" for i, side in enumerate(sides)))
    fees = np.random.default_rng(0).random(34) + [10 * (side == "Officer") for side in sides]
    Path("fees.csv").write_text("id,label\n" + "".join(f"{i},{fee:.3f}\n" for i, fee in enumerate(fees)))


def test_three_tasks_are_told_kept_and_shown() -> None:
    done("embed", "edges.csv", *SMALL)
    told = done("evaluate", "out", "--labels", "labels.csv")
    for part in ("macro-F1", "ROC AUC", "NMI", "ARI", "link prediction, 10% of the edges", "average precision"):
        assert part in told
    tasks = {task["task"]: task["metrics"] for task in record()["tasks"]}
    assert list(tasks) == ["node classification", "clustering", "link prediction"]
    assert tasks["node classification"][0]["scores"]["embedding"] == [
        each["test"] for each in record()["scores"][0]["by_split"]
    ]
    assert {"mean", "low", "high", "pairs"} == set(tasks["link prediction"][0]["differences"]["untrained encoder"])
    done("report", "out")
    tables = shown()["tasks"]
    assert [table["metrics"] for table in tables] == [
        ["macro-F1", "ROC AUC"],
        ["NMI", "ARI"],
        ["AUC", "average precision"],
    ]
    assert [len(table["cells"]) for table in tables] == [len(table["names"]) for table in tables]
    assert tables[1]["cells"][0][0]["mean"] == np.mean(tasks["clustering"][0]["scores"]["embedding"])


def test_the_same_command_gives_the_same_record() -> None:
    done("embed", "edges.csv", *SMALL)
    done("evaluate", "out", "--labels", "labels.csv")
    before = Path("out/evaluation.json").read_bytes()
    done("evaluate", "out", "--labels", "labels.csv")
    assert Path("out/evaluation.json").read_bytes() == before


def test_numbers_are_regressed_and_that_is_said() -> None:
    assert "34 distinct numbers: taken for a number to foretell" in done(
        "embed", "edges.csv", "--labels", "fees.csv", *SMALL
    )
    assert record()["metric"] == "r2"
    told = done("evaluate", "out", "--labels", "fees.csv")
    assert "34 distinct numbers: taken for a number to foretell" in told
    assert "test R² in %" in told
    assert "mean of the training nodes" in told
    assert [task["task"] for task in record()["tasks"]] == ["regression", "link prediction"]
    assert not Path("out/labels.parquet").exists()
    done("report", "out")
    assert shown()["metric"] == "R²"


def test_the_rule_can_be_overridden() -> None:
    done("embed", "edges.csv", *SMALL)
    Path("stars.csv").write_text("id,label\n" + "".join(f"{i},{i % 5}\n" for i in range(34)))
    assert "R²" in done("evaluate", "out", "--labels", "stars.csv", "--labels-are", "numbers")
    assert "accuracy" in done("evaluate", "out", "--labels", "stars.csv")
    code, _, error = run("evaluate", "out", "--labels", "labels.csv", "--labels-are", "numbers")
    assert code == 2
    assert error.splitlines()[-1] == "error: labels.csv: must be finite numbers, got 'Mr. Hi'"
    code, _, error = run("evaluate", "out", "--labels", "karate", "--labels-are", "numbers")
    assert code == 2
    assert "error: --labels-are must be classes for the data set 'karate'" in error


def test_a_record_that_was_edited_leaves_out_what_it_spoils() -> None:
    done("embed", "edges.csv", *SMALL)
    done("evaluate", "out", "--labels", "labels.csv")
    edited = record()
    edited["tasks"] = [
        1,
        {"task": "<b>"},
        {"task": 5, "metrics": [7, {"scores": {"a": [1], "b": []}}]},
        *edited["tasks"],
    ]
    edited["tasks"][4]["metrics"][0]["scores"]["embedding"][0] = float("nan")
    edited["metric"] = ["x"]
    Path("out/evaluation.json").write_text(json.dumps(edited))
    done("report", "out")
    found = shown()
    assert found["metric"] == "accuracy"
    assert [table["metrics"] for table in found["tasks"]][1:] == [["ARI"], ["AUC", "average precision"]]
