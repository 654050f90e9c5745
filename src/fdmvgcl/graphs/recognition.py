"""What a column of a table is: the rules by which :class:`~fdmvgcl.graphs.encoding.Encoding` is made.

A column of texts is what all its cells are: numbers (with a decimal comma, if cells are not separated by commas), lists
of numbers, truth values, or dates in one form. Else it is left out if its cells are nearly all distinct or long, or it
is a category. A column most of whose cells are numbers, and some not, is refused: whether the others are blanks only
its owner knows.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, UserError, near_misses, shown
from fdmvgcl.graphs import encoding as e
from fdmvgcl.graphs.encoding import Column, Encoding

MOST_CATEGORIES = 20
LONG_TEXT = 40  # characters on average, past which texts are read and not counted
_TRUTH = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"))
# A day and a month that could be swapped are told apart by a day past the twelfth, or refused.
_DAYS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S")
_DATES = ("iso", *(day + clock for clock in _CLOCKS for day in _DAYS))
_DATE = r"^([0-9]{4}[-./][0-9]{1,2}[-./][0-9]{1,2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{4})([T ].*)?$"
_SHORT_YEAR = r"^[0-9]{1,2}([./])[0-9]{1,2}[./][0-9]{2}([T ].*)?$"
# What people write numbers with, beside numbers: 1,000 and 1.000,5 and 12 % and $3.
_THOUSANDS = r"[+-]?[0-9]{1,3}([., '\x{a0}\x{202f}][0-9]{3})+([.,][0-9]+)?"
_DRESSED = rf"^({_THOUSANDS}|[$€£¥]\s?({_THOUSANDS}|[+-]?[0-9.,]+)|({_THOUSANDS}|[+-]?[0-9.,]+)\s?[%$€£¥])$"
_DECIMAL_COMMA = r"^[+-]?[0-9]*,[0-9]+$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_LIST = r"(?i)^\s*\[(nan|inf|[-+.,0-9e\s])*\]\s*$"
_ROW_NUMBERS = ("", "unnamed: 0", "index", "row", "rownames", "row_names")

Where = Callable[[int], str] | None


def fit_encoding(
    table: pa.Table,
    *,
    columns: tuple[str, ...] | None = None,
    drop: tuple[str, ...] = (),
    decimal_comma: bool = True,
    where: Where = None,
) -> Encoding:
    """What is to be done to the columns of a table; all problems are told at once.

    Args:
        table: without the column of ids.
        columns: only these; None for all.
        drop: but not these.
        decimal_comma: whether ``1,5`` may be a number.
        where: tells a row of the table as its file does.
    """
    for argument, asked in (("columns", columns or ()), ("drop", drop)):
        for name in asked:
            if name not in table.column_names:
                near = near_misses(name, table.column_names)
                raise ArgumentError(argument, f"must name columns of the features, got {shown(name)}{near}")
    made, problems = [], []
    for name in table.column_names:
        if name in drop or (columns is not None and name not in columns):
            continue
        try:
            made.append(_recognised(name, table.column(name), decimal_comma, where))
        except UserError as error:
            problems.append(f"column {shown(name)} {error}")
    e.refuse(problems)
    found = Encoding(tuple(made))
    if not found.names:
        left = "; ".join(found.notes) or "none are there"
        raise ArgumentError("features", f"must have a column that can be used; {left}")
    return found


def _recognised(name: str, cells: pa.ChunkedArray, decimal_comma: bool, where: Where) -> Column:
    kind = cells.type
    if e.is_text(kind):
        return _text(name, e.as_text(cells), decimal_comma, where)
    if pa.types.is_null(kind) or cells.null_count == len(cells):
        return Column(name, "left out", reason="blank in every row")
    if pa.types.is_boolean(kind):
        return _with_mean(name, "boolean", e.numbers(cells, where=where))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _number(name, e.numbers(cells, where=where), where=where)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _date(name, cells, "", where)
    if e.is_vector(kind):
        return _vector(name, cells, where)
    raise UserError(f"is of type {kind}, which is no number, truth value, text, date or list of numbers; drop it")


def _number(name: str, values: NDArray[Any], form: str = "", where: Where = None) -> Column:
    if name.strip().lower() in _ROW_NUMBERS and len(values) > 1 and not np.isnan(values).any():
        steps = np.diff(values)
        if values[0] in (0, 1) and (steps == 1).all():
            return Column(name, "left out", reason="row numbers")
    return _with_mean(name, "number", values, form=form, where=where)


def _with_mean(
    name: str,
    treatment: e.Treatment,
    values: NDArray[Any],
    *,
    words: tuple[str, ...] = (),
    form: str = "",
    clock: bool = False,
    where: Where = None,
) -> Column:
    blank = np.isnan(values)
    if blank.all():
        return Column(name, "left out", reason="blank in every row")
    e.check_single(values[:, None], where)
    mean = float(values[~blank].mean())
    return Column(name, treatment, bool(blank.any()), (mean,), values=words, form=form, clock=clock)


def _date(name: str, cells: pa.ChunkedArray, form: str, where: Where) -> Column:
    found = e.days(cells, form, where)
    known = found[~np.isnan(found)]
    return _with_mean(name, "date", found, form=form, clock=bool((known != np.floor(known)).any()))


def _vector(name: str, cells: pa.ChunkedArray, where: Where) -> Column:
    cells = e.as_lists(cells, where)
    width = pc.max(pc.list_value_length(cells)).as_py()
    if not width:
        return Column(name, "left out", reason="its lists are empty")
    found = e.vectors(cells, width, where)
    e.check_single(found, where)
    known = found[~np.isnan(found).any(axis=1)]
    return Column(name, "vector", len(known) < len(found), tuple(known.mean(axis=0).tolist()))


def _text(name: str, cells: pa.ChunkedArray, decimal_comma: bool, where: Where) -> Column:
    filled = e.without_blanks(cells)
    if filled.null_count == len(filled):
        return Column(name, "left out", reason="blank in every row")
    if _parses(filled, lambda cells: pc.cast(cells, pa.float64())):
        return _number(name, e.numbers(filled, where=where), where=where)
    # From here on distinct values are enough, which are few in a column of categories.
    counted = pc.value_counts(filled.drop_null().combine_chunks())
    values, counts = counted.field("values"), np.asarray(counted.field("counts"))
    if decimal_comma and pc.all(pc.match_substring_regex(values, _DECIMAL_COMMA + "|" + _NUMBER)).as_py():
        return _number(name, e.numbers(filled, ",", where), ",", where)
    if pc.all(pc.match_substring_regex(values, _LIST)).as_py():
        return _vector(name, filled, where)
    for words in _TRUTH:
        if len(values) >= 2 and set(pc.utf8_lower(values).unique().to_pylist()) == set(words):
            return _with_mean(name, "boolean", e.truth_values(words, filled, where), words=words)
    form = _date_form(values)
    if form is not None:
        return _date(name, filled, form, where)
    _refuse_mixture(filled, values, counts, where)
    _refuse_dressed(filled, values, where)
    return _category(name, cells)


def _date_form(values: pa.Array) -> str | None:
    """The form that all these texts are dates in, None if there is none."""
    if pc.all(pc.match_substring_regex(values, _SHORT_YEAR)).as_py():
        raise UserError(
            f"holds dates like {shown(values[0].as_py())}, whose year has two digits; write them as 2024-12-31"
        )
    if not pc.all(pc.match_substring_regex(values, _DATE)).as_py():
        return None
    found = [form for form in _DATES if _parses(values, partial(e.parsed_dates, form=form))]
    for clock in _CLOCKS:
        if {f"%d/%m/%Y{clock}", f"%m/%d/%Y{clock}"} <= {*found} or {f"%d-%m-%Y{clock}", f"%m-%d-%Y{clock}"} <= {*found}:
            raise UserError(
                f"holds dates like {shown(values[0].as_py())}, whose day and month could be swapped; "
                "write them as 2024-12-31"
            )
    return found[0] if found else None


def _parses(values: Any, convert: Callable[[Any], Any]) -> bool:
    try:
        convert(values)
    except pa.ArrowException:
        return False
    return True


def _refuse_mixture(filled: pa.ChunkedArray, values: pa.Array, counts: NDArray[Any], where: Where) -> None:
    for pattern, one, many in ((_NUMBER, "number", "numbers"), (_LIST, "list of numbers", "lists of numbers")):
        fits = np.asarray(pc.match_substring_regex(values, pattern))
        if counts[fits].sum() / counts.sum() <= 0.5:
            continue
        first = _first_of(filled, values.filter(pa.array(~fits)), where)
        others, cells = int(counts[~fits].sum()), int(counts.sum())
        told = f"{others} of its {cells} cells {f'is no {one}' if others == 1 else f'are no {many}'}"
        raise UserError(f"must hold {many}, but {told}, first {first}; mend or drop it")


def _refuse_dressed(filled: pa.ChunkedArray, values: pa.Array, where: Where) -> None:
    """Refuse numbers that are written with more than digits: as categories they would lose their order."""
    dressed = pc.match_substring_regex(values, _DRESSED)
    bare = pc.match_substring_regex(values, f"{_NUMBER}|{_DECIMAL_COMMA}")
    if pc.all(pc.or_(dressed, bare)).as_py():
        first = _first_of(filled, values.filter(pc.invert(pc.match_substring_regex(values, _NUMBER))), where)
        raise UserError(f"holds numbers written like {first}; write them with digits and a point, or drop it")


def _first_of(cells: pa.ChunkedArray, values: pa.Array, where: Where) -> str:
    """The first cell that holds one of the values, and where it is."""
    row = int(np.flatnonzero(np.asarray(pc.is_in(cells, value_set=values)))[0])
    return f"{shown(cells[row].as_py())} in {where(row) if where is not None else f'row {row + 1}'}"


def _category(name: str, cells: pa.ChunkedArray) -> Column:
    """A category by its most frequent values, or what is left out. Here ``NA`` is a value like any other."""
    texts = pc.if_else(pc.equal(cells, ""), pa.scalar(None, cells.type), cells).drop_null()
    counted = pc.value_counts(texts.combine_chunks())
    values, counts = counted.field("values"), np.asarray(counted.field("counts"))
    rows, distinct = int(counts.sum()), len(values)
    if distinct == rows and rows > 1:
        return Column(name, "left out", reason="its texts are all different, as ids are")
    lengths = np.asarray(pc.utf8_length(values))
    if (lengths * counts).sum() / rows > LONG_TEXT:
        return Column(name, "left out", reason="free text")
    if distinct > MOST_CATEGORIES and distinct > rows / 2:
        return Column(name, "left out", reason="its texts are nearly all different")
    if distinct == 1 and rows == len(cells):
        return Column(name, "left out", reason="the same in every row")
    order = np.lexsort((np.asarray(pc.rank(values)), -counts))[:MOST_CATEGORIES]
    kept = tuple(values.take(pa.array(order)).to_pylist())
    return Column(name, "category", rows < len(cells), values=kept, others=distinct > len(kept))
