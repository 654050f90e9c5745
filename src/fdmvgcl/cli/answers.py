"""How a command that answers does so: a table for a person, tabs or JSON for programs, or a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdmvgcl.cli.console import Reporter
from fdmvgcl.evaluation.standing import Standing
from fdmvgcl.files import StrPath, refuse_overwrite
from fdmvgcl.results.export import table_kind, write_table

SHOWN = 20  # rows on a terminal

Table = Mapping[str, Sequence[Any]]  # columns of one length, by name


@dataclass(frozen=True)
class Wanted:
    """Where an answer is to go.

    Args:
        output: a CSV or Parquet file, None for stdout.
        force: whether to write over a file that is there.
        as_json: JSON on stdout.
    """

    output: Path | None = None
    force: bool = False
    as_json: bool = False

    def check(self, inputs: Iterable[StrPath]) -> None:
        """Refuse a file that cannot be, before any work."""
        if self.output is not None:
            table_kind(self.output)
            refuse_overwrite(self.output, self.force, inputs)


def deliver(
    table: Table, facts: Mapping[str, Any], wanted: Wanted, reporter: Reporter, *, text_columns: Sequence[int] = (0,)
) -> None:
    """Give the table, and with JSON the facts beside it: its rows are under ``"rows"``."""
    if wanted.output is not None:
        write_table(wanted.output, table)
        reporter.remark(f"written: {wanted.output}")
    if wanted.as_json:
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        reporter.json({**facts, "rows": rows})
    elif wanted.output is None:
        show(table, reporter, text_columns=text_columns)


def show(table: Table, reporter: Reporter, *, text_columns: Sequence[int] = (0,)) -> None:
    """The table on stdout; on a terminal its first rows."""
    shown = [list(map(_cell, row)) for row in zip(*table.values(), strict=True)]
    if reporter.out.is_terminal and len(shown) > SHOWN:
        reporter.answer(list(table), shown[:SHOWN], text_columns=text_columns)
        reporter.remark(f"and {len(shown) - SHOWN} more; -o FILE writes all")
    else:
        reporter.answer(list(table), shown, text_columns=text_columns)


def tell(standing: Standing, reporter: Reporter) -> None:
    """How good the answer is, beside its controls; a control that wins is a warning."""
    ours, *controls = standing.rows()
    reporter.remark(f"{standing.metric} {ours[1]}: {standing.told}")
    for name, score, difference in controls:
        reporter.remark(f"  {name} {score}: the embedding is above it by {difference}")
    if standing.sentence:
        (reporter.remark if standing.sentence.startswith("the embedding") else reporter.warn)(standing.sentence)


def _cell(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
