"""What README, docs and examples show is run, and what they say of defaults holds."""

import re
import runpy
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, cli
from fdmvgcl.learning.settings import dotted

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
NEED_DATA = {"docs/how-to/reproduce.md"}
NOT_RUN = {"", "{toctree}", "{eval-rst}", "{literalinclude}"}
NEED_JAVA = {"spark_edges.py"}
FENCE = re.compile(r"(?P<above>[^\n]*)\n+^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, and the line of prose above it."""

    above: str
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(**found.groupdict()) for found in FENCE.finditer(page.read_text())]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run_line(line: str) -> None:
    """A line of a shell block: a command of ours is run; of others it is seen that what they name exists."""
    program, *arguments = shlex.split(line, comments=True)
    if program.removeprefix(".venv/bin/") == "fdmvgcl":
        result = CliRunner().invoke(cli.app, arguments, prog_name="fdmvgcl")
        assert result.exit_code == 0, f"{line}\n{result.output}"
    elif program == "make":
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M)
        assert set(arguments) <= set(targets), line
    elif program == "python":
        assert (ROOT / arguments[0]).is_file(), line
    else:
        raise AssertionError(f"docs run fdmvgcl, make and python, not: {line}")


@pytest.fixture
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # graphs are tiny, and threads that wait are slow on a busy machine
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("_in_its_own_folder")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_examples_of_a_page_run_in_order(
    page: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name_of(page) in NEED_DATA:
        monkeypatch.setenv("FDMVGCL_DATA", str(request.getfixturevalue("data_root")))
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.language == "text":
            *_, file = re.findall(r"`([^`]+)`", block.above)
            Path(file).write_text(block.text)
        elif block.language == "python":
            exec(compile(block.text, name_of(page), "exec"), names)
        elif block.language == "bash":
            for line in block.text.splitlines():
                run_line(line)
        else:
            assert block.language in NOT_RUN, f"{block.language} is neither python, bash nor text"
            assert "fdmvgcl " not in block.text, f"call it bash, so that it is run: {block.text}"


@pytest.mark.usefixtures("_in_its_own_folder")
@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example_scripts_run(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if script.name in NEED_JAVA:
        pytest.importorskip("pyspark", reason="pyspark is not installed, and is no dependency: pip install pyspark")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java, and there is none on the path")
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{name_of(page)}: {target}"


def test_pictures_can_be_drawn_and_all_are_shown(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "docs" / "pictures.py"))["draw"](tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    there = {path.name for path in (ROOT / "docs" / "pictures").glob("*.svg")}
    assert drawn | {"rooms.svg"} == there, "run `python docs/pictures.py`"
    shown = {Path(name).name for page in PAGES for name in re.findall(r"pictures/\w+\.svg", page.read_text())}
    assert shown == there


def test_the_page_and_the_picture_of_the_rooms_are_those_of_the_code() -> None:
    rooms = runpy.run_path(str(ROOT / "docs" / "rooms.py"))
    assert rooms["PICTURE"].read_text() == rooms["picture"](), "run `python docs/rooms.py`"
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = {name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(rooms["imports"]())


def test_defaults_in_the_table_of_settings_are_those_of_the_model() -> None:
    page = (ROOT / "docs" / "how-to" / "settings-without-labels.md").read_text()
    rows = re.findall(r"^\| ((?:`[\w.]+`(?:, )?)+) \| ([^|]+) \|", page, re.M)
    assert len(rows) > 5
    defaults = {**dotted(FDMVGCL().settings), "loss": "regularised-cosmean"}
    for names, values in rows:
        for name, value in zip(re.findall(r"[\w.]+", names), values.split(", "), strict=True):
            default = defaults[name]
            assert value == (f"{default:g}" if isinstance(default, float) else str(default)), name
