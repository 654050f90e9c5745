"""Tables from records, as Markdown and as aligned text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fdmvgcl.evaluation import Difference, paired_difference, summarise
from fdmvgcl.experiments.records import Record
from fdmvgcl.files import atomic_write

MISSING = "–"


@dataclass(frozen=True)
class Table:
    """A title, a header, rows of cells and a sentence or two below."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        head = f"| {' | '.join(self.header)} |"
        rule = "| --- |" + " ---: |" * (len(self.header) - 1)
        body = [f"| {' | '.join(row)} |" for row in self.rows]
        lines = [f"**{self.title}**", "", head, rule, *body]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines) + "\n"

    def text(self) -> str:
        cells = [[_plain(cell) for cell in row] for row in (self.header, *self.rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.header))]
        lines = [self.title, ""]
        for row in cells:
            first, *others = (
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join([first, *others]).rstrip())
        return "\n".join([*lines, *(["", *map(_plain, self.notes)] if self.notes else [])]) + "\n"


def _plain(cell: str) -> str:
    return cell.replace("**", "")


def percent(share: float | None, digits: int = 1) -> str:
    """``0.8142`` as ``81.4``."""
    return MISSING if share is None else f"{100 * share:.{digits}f}"


def points(difference: Difference | None) -> str:
    """A difference of shares in points, ``+1.2 (-0.3 to +2.7)``; without an interval where there is none."""
    if difference is None:
        return MISSING
    mean = f"{100 * difference.mean:+z.1f}"
    if difference.low is None or difference.high is None:
        return mean
    return f"{mean} ({100 * difference.low:+z.1f} to {100 * difference.high:+z.1f})"


BESIDE_PAPER = ("paper", "measured", "± seeds", "untrained", "training adds")


def beside_paper(printed: tuple[float, float] | None, records: Sequence[Record]) -> list[str]:
    """Cells for ``BESIDE_PAPER``: the paper's figure, and records of ``beside_untrained``, one a seed."""
    tests, before = ([record["test"] for record in part] for part in (records, [r["untrained"] for r in records]))
    ours = summarise(tests)
    return [
        MISSING if printed is None else f"{printed[0]:.1f}",
        percent(ours.mean),
        percent(ours.over_seeds, 2),
        percent(summarise(before).mean),
        points(paired_difference(tests, before)),
    ]


def write_tables(tables: Sequence[Table], stem: Path, preface: Sequence[str] = ()) -> list[Path]:
    """``stem.md`` and ``stem.txt`` with the tables that have rows."""
    kept = [table for table in tables if table.rows]
    written = []
    for suffix, told in (("md", [table.markdown() for table in kept]), ("txt", [table.text() for table in kept])):
        path = stem.with_suffix(f".{suffix}")
        with atomic_write(path) as handle:
            handle.write("\n".join([*(f"{line}\n" for line in preface), *told]).encode())
        written.append(path)
    return written
