"""``report.html``: one self-contained page on a result folder, made from its records only.

The same folder gives the same bytes. Nothing of the folder becomes markup: it goes into the page as JSON, and from
there by ``textContent``.
"""

from pathlib import Path

from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.files import atomic_write
from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.report.content import page_content
from fdmvgcl.results.report.page import render
from fdmvgcl.results.report.records import read_records

__all__ = ["write_report"]


def write_report(folder: ResultFolder | Path, resources: Resources | None = None) -> Path:
    """Write the page into a folder that ``embed`` has filled; its path. ``resources`` are what it may take."""
    if isinstance(folder, Path):
        folder = ResultFolder(folder)
    page = render(page_content(read_records(folder.require(), resources)))
    with atomic_write(folder.report) as handle:
        handle.write(page)
    return folder.report
