"""Odd files of ``tests/data/odd`` in every place where a command takes one: one line, exit code 2, nothing written."""

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fdmvgcl import cli

ODD = Path(__file__).parent.parent / "data" / "odd"
NODES = [f"a{i}" for i in range(12)]

# Where a file of each kind goes in.
PLACES = {
    "edges": (
        "embed {} -o new",
        "plan {}",
        "transform out {} -o new.parquet",
        "update out {}",
        "attack {} --kind random --rate 0.1 -o new.csv",
    ),
    "features": (
        "embed edges.csv --features {} -o new",
        "attack edges.csv --features {} --labels labels.csv --kind prbcd --rate 0.1 -o new.csv",
    ),
    "features of a model": ("transform out edges.csv --features {} -o new.parquet",),
    "labels": (
        "embed edges.csv --labels {} -o new",
        "evaluate out --labels {}",
        "predict out --labels {} -o new.csv",
        "cluster out --labels {} -o new.csv",
        "robustness out --labels {}",
        "attack edges.csv --labels {} --features features.csv --kind dice --rate 0.1 -o new.csv",
    ),
    "splits": ("evaluate out --labels labels.csv --splits {}", "robustness out --labels labels.csv --splits {}"),
    "ids": ("similar out --ids {}", "links out --ids {} -o new.csv"),
    "removed": ("update out --removed {}",),
    "settings": ("embed edges.csv --settings {} -o new", "plan edges.csv --settings {}"),
    "vectors": ("similar out --of {}",),
}

# What is told of each, whatever the command.
TOLD = {
    "edges": {
        "two-words.csv": "could name the columns or be an edge",
        "three-numbers.csv": "which columns are the ends of the edges is not certain",
        "drawing.dot": "is a drawing by Graphviz",
        "node-link.json": "is one JSON document",
        "workbook.xlsx": "is an Excel workbook",
        "archive.zip": "is a ZIP archive",
        "empty.csv": "is empty",
        "header-alone.csv": "holds no edges",
        "one-column.csv": "has one column",
        "latin.csv": "must be text in UTF-8",
        "cut.csv.gz": "is not a whole gzip file",
        "cut.parquet": "is not a valid Parquet file",
        "not-there.csv": "no such file",
    },
    "features": {
        "features/other-nodes.csv": "must have rows of the graph's nodes, got none: their ids are 'yan' …",
        "features/some-nodes.csv": "features must have a row for every node; 'a0' and 9 others have none",
        "features/twice.csv": ":14: id 'a1' must have one row, got another in line 3",
        "features/infinite.csv": "column 'x' must hold finite numbers, got inf in line 5",
        "features/word-among-numbers.csv": "1 of its 12 cells is no number, first 'unknown' in line 5",
        "features/swapped-dates.csv": "whose day and month could be swapped",
        "features/uneven-lists.csv": "must hold lists of 3 numbers, got one of 2 in line 5",
        "features/shortened-lists.csv": "must hold lists of numbers, got '[1. 2. ... 9.]' in line 2",
        "features/all-texts-differ.csv": "must have a column that can be used",
        "features/empty.csv": "is empty",
        "features/header-alone.csv": "holds no features",
        "features/ids-alone.csv": "has one column; expected at least two (id and a feature)",
        "features/same-names.csv": "column names must be distinct, got 'x' twice",
        "features/objects.jsonl": "column 'place' is of type struct<x: int64>, which is no number",
        "features/no-header.csv": "could name the columns or be a node: call the column of ids id",
        "features/latin.csv": ":2: must be text in UTF-8, got the byte 0xfc",
        "features/huge.csv": "must hold numbers that fit float32, got 1e+39",
        "features/ragged.csv": ":3: every line must have as many cells as line 1",
        "features/open-quote.csv": "a quote must be closed",
        "drawing.dot": "is a drawing by Graphviz",
        "workbook.xlsx": "is an Excel workbook",
        "pickle.bin": "is a pickle",
        "not-there.csv": "no such file",
    },
    "labels": {
        "labels/other-nodes.csv": "zoe",
        "labels/one-class.csv": "at least two classes",
        "labels/twice.csv": ":4: id 'a1' must have one row, got another in line 2",
        "labels/empty.csv": "is empty",
        "labels/header-alone.csv": "holds no labels",
        "labels/blank.csv": ":3: label must not be empty",
        "labels/three-columns.csv": "which column holds the labels is not certain: call it label",
        "labels/ragged.csv": ":3: every line must have as many cells as line 1",
        "labels/latin.csv": ":2: must be text in UTF-8, got the byte 0xfc",
        "labels/one-column.csv": "has one column; expected at least two (id and label)",
        "workbook.xlsx": "is an Excel workbook",
        "people.graphml": "is GraphML; expected a table",
        "not-there.csv": "no such file",
    },
    "splits": {
        "splits/wrong-part.csv": ":4: part must be train, val or test, got 'tset'",
        "splits/no-test.csv": "split '0' must have train, val and test nodes, got no test nodes",
        "splits/two-parts.csv": "id 'a1' must have one part in split '0', got another",
        "splits/other-node.csv": "split '0' names 'zoe', which is none",
        "splits/two-columns.csv": "has 2 columns; expected id, split and part",
        "splits/empty.csv": "is empty",
        "not-there.csv": "no such file",
    },
    "ids": {
        "ids/empty.txt": "holds no ids",
        "ids/other-node.txt": " 'zoe'",
        "ids/latin.txt": "must be text in UTF-8, got the byte 0xeb",
        "not-there.csv": "no such file",
    },
    "removed": {
        "removed/other-node.txt": "the graph has no node 'zoe'",
        "removed/one-column.txt": "the graph has no node 'zoe'",
        "removed/other-edge.csv": "the graph has no",
        "removed/all.txt": "at least one node must stay, got all 12 to take away",
        "removed/empty.txt": "is empty",
        "not-there.csv": "no such file",
    },
    "settings": {
        "settings/broken.toml": "is not valid TOML",
        "settings/unknown.toml": "schedule.lrr is no setting of Schedule; did you mean 'lr'",
        "settings/value.toml": "dim must be",
        "settings/truth.toml": "views must be a whole number",
        "settings/latin.toml": "is not valid TOML",
        "not-there.csv": "no such file",
    },
    "vectors": {
        "gephi.csv": "is not a whole Parquet file of vectors",
        "cut.parquet": "is not a whole Parquet file of vectors",
        "not-there.csv": "no such file",
    },
}
# A model's features are what they were in training, here one column of numbers.
NEW = {
    **dict.fromkeys(["swapped-dates.csv", "uneven-lists.csv", "shortened-lists.csv"], "column 'x' is missing"),
    **dict.fromkeys(["all-texts-differ.csv", "objects.jsonl"], "column 'x' is missing"),
    "word-among-numbers.csv": "column 'x' must hold numbers, got 'unknown' in line 5",
}
TOLD["features of a model"] = TOLD["features"] | {f"features/{name}": told for name, told in NEW.items()}
CASES = [
    pytest.param(command, name, told, id=f"{command.split()[0]}-{name}")
    for kind, commands in PLACES.items()
    for command in commands
    for name, told in TOLD[kind].items()
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with good files and the results of them; no test may change it."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"a{i},a{(i + 1) % 12}\n" for i in range(12)))
    (folder / "features.csv").write_text("id,x\n" + "".join(f"{node},{i % 5}\n" for i, node in enumerate(NODES)))
    (folder / "labels.csv").write_text("id,label\n" + "".join(f"{node},{i % 2}\n" for i, node in enumerate(NODES)))
    colours = "id,label\n" + "".join(f"{node},{'rot' if i % 2 else 'grün'}\n" for i, node in enumerate(NODES[:10]))
    (folder / "western.csv").write_bytes(colours.encode("cp1252"))
    quick = ["--dim", "4", "--views", "2", "--epochs", "1", "--no-report", "-q", "-o", str(folder / "out")]
    files = [str(folder / "edges.csv"), "--features", str(folder / "features.csv")]
    assert CliRunner().invoke(cli.app, ["embed", *files, *quick]).exit_code == 0
    (folder / "there").symlink_to("out")
    return folder


@pytest.fixture(autouse=True)
def _nothing_is_written(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def there() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}

    monkeypatch.chdir(place)
    before = there()
    yield
    assert there() == before


@pytest.mark.parametrize(("command", "name", "told"), CASES)
def test_one_line_and_nothing_written(command: str, name: str, told: str) -> None:
    words = [str(ODD / name) if word == "{}" else word for word in command.split()]
    result = CliRunner().invoke(cli.app, words, prog_name="fdmvgcl")
    assert result.exit_code == 2, result.output
    line = result.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    assert result.stderr.count("error") == 1
    assert told in line


@pytest.mark.parametrize(
    "command",
    [
        "embed edges.csv --features out/embeddings.parquet -o out",
        "embed out/graph.npz -o out --force",
        "embed edges.csv --labels there/graph.npz -o out",
        "update out --features there/embeddings.parquet",
        "transform out edges.csv --features features.csv -o edges.csv --force",
        "transform out edges.csv --features features.csv -o there/embeddings.parquet --force",
        "export out -o out/embeddings.parquet --force",
        "predict out --labels labels.csv -o labels.csv --force",
        "cluster out --labels labels.csv -o labels.csv --force",
        "attack edges.csv --kind random --rate 0.1 -o ./edges.csv --force",
    ],
)
def test_no_command_writes_over_its_input(command: str) -> None:
    """``there`` is a link to the folder of results."""
    result = CliRunner().invoke(cli.app, command.split(), prog_name="fdmvgcl")
    assert result.exit_code == 2, result.output
    assert re.search("which this command writes to|is an input of this command", result.stderr.splitlines()[-1])


def test_pipes_are_read_once_and_nothing_is_lost(place: Path, tmp_path: Path) -> None:
    """Before a file is read embed looks ahead into it, which would take a pipe's first bytes away."""

    def pipe(name: str) -> str:
        os.mkfifo(tmp_path / name)
        content = (place / name).read_bytes()
        threading.Thread(target=(tmp_path / name).write_bytes, args=(content,), daemon=True).start()
        return str(tmp_path / name)

    quick = ["--dim", "4", "--views", "2", "--epochs", "1", "--no-report", "-o", str(tmp_path / "new")]
    given = ["embed", pipe("edges.csv"), "--features", pipe("features.csv"), *quick]
    result = CliRunner().invoke(cli.app, given, prog_name="fdmvgcl")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new" / "graph.npz").read_bytes() == (place / "out" / "graph.npz").read_bytes()


def test_what_the_line_advises_is_there() -> None:
    """``--encoding`` counts for labels, too, wherever they are asked for."""
    for command in ("predict out --json -q", "cluster out --json -q"):
        words = [*command.split(), "--labels", "western.csv"]
        told = CliRunner().invoke(cli.app, words, prog_name="fdmvgcl")
        assert (told.exit_code, "--encoding cp1252" in told.stderr) == (2, True)
        assert CliRunner().invoke(cli.app, [*words, "--encoding", "cp1252"], prog_name="fdmvgcl").exit_code == 0


def test_every_odd_file_has_its_line() -> None:
    there = {path.relative_to(ODD).as_posix() for path in ODD.glob("*/*")}
    assert there <= {name for told in TOLD.values() for name in told}
    assert len(CASES) >= 60
