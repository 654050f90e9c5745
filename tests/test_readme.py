"""The README's figures are those of the records."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_figures_in_the_readme_are_those_of_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    render = runpy.run_path(str(ROOT / "benchmarks" / "render.py"))
    readme = (ROOT / "README.md").read_text()
    assert render["rendered"](readme) == readme, "run `python benchmarks/render.py`"
    assert render["rendered_page"]() == (ROOT / "docs" / "speed.md").read_text(), "run `python benchmarks/render.py`"
    for name in render["ROBUSTNESS_PAGES"]:
        page, table = (ROOT / "docs" / name).read_text(), render["robustness_table"]()
        assert render["replaced"](page, render["ROBUSTNESS"], table) == page, "run `python benchmarks/render.py`"
    page, marks = (ROOT / "docs" / "accuracy.md").read_text(), render["READINGS"]
    assert render["replaced"](page, marks, render["readings_table"]()) == page, "run `python benchmarks/render.py`"
    page, marks = (ROOT / "docs" / "how-to" / "many-graphs.md").read_text(), render["GRAPHS"]
    assert render["replaced"](page, marks, render["graphs_summary"]()) == page, "run `python benchmarks/render.py`"
