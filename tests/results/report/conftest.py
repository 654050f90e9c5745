"""Result folders to report on, and a browser to look at the reports with."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fdmvgcl import cli

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--",
    "a\"b'c`d&amp;",
    "שלום",
    "\u202eevil",
    "👩‍👩‍👧",
    "line\u2028break",
    "x" * 3000,
    "{{SCRIPT}}",
)


@pytest.fixture(scope="session")
def embed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``embed(edges, "--dim", 8, …)`` runs the command on these pairs and returns the folder, ``at`` if given."""

    def run(edges: list[tuple[str, str]], *options: object, at: Path | None = None) -> Path:
        folder = at or tmp_path_factory.mktemp("embedded") / "out"
        source = folder.with_name("edges.csv")
        quoted = [",".join('"' + end.replace('"', '""') + '"' for end in edge) for edge in edges]
        source.write_text("\n".join(["source,target", *quoted]) + "\n")
        result = CliRunner().invoke(cli.app, ["embed", str(source), "-q", "-o", str(folder), *map(str, options)])
        assert result.exit_code == 0, result.output
        return folder

    return run


@pytest.fixture(scope="session")
def hostile(embed: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph whose ids and labels try to be markup."""
    nodes = [*HOSTILE, *(f"n{i}" for i in range(30))]
    edges = [(node, nodes[(i * 7 + step) % len(nodes)]) for i, node in enumerate(nodes) for step in (1, 2)]
    labels = tmp_path_factory.mktemp("labels") / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"n{i},{('<b>bold</b>', 'plain')[i % 2]}\n" for i in range(30)))
    return embed(edges, "--dim", 8, "--epochs", 3, "--views", 3, "--labels", labels)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless browser. Without one a test skips, or fails under ``CI=true``."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        reason = "no Chromium on PATH; the report's looks are not tested"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Seen:
    """A page and what it complained of or asked for on the way."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def look(chromium: Any) -> Iterator[Callable[..., Seen]]:
    """``look(folder, width=390, …)`` opens the folder's report; afterwards nothing must have gone wrong."""
    opened: list[Seen] = []
    contexts = []

    def run(folder: Path, width: int = 1280, height: int = 900, **settings: Any) -> Seen:
        context = chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **settings)
        contexts.append(context)
        seen = Seen(context.new_page())
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.on("dialog", lambda dialog: seen.complaints.append(f"dialog {dialog.message}"))
        address = (folder / "report.html").as_uri()
        seen.page.on(
            "request", lambda request: request.url.startswith(("data:", address)) or seen.requests.append(request.url)
        )
        seen.page.goto(address)
        opened.append(seen)
        return seen

    yield run
    for seen in opened:
        assert seen.complaints == []
        assert seen.requests == []
    for context in contexts:
        context.close()
