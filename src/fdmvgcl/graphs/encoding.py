"""A table of any columns as numbers: what is done to each column, fixed on one table and done the same way to others.

- **number**: as it is; a blank becomes the mean.
- **boolean**: 1 and 0 (``true``/``false``, ``yes``/``no``, ``t``/``f``, ``y``/``n``); a blank becomes the mean.
- **category**: a column of 1 and 0 for each of the most frequent values, at most 20; one for all others together.
- **date**: days since 1970 as a number, and its place in the year, in the week and, with a time of day, in the day,
  each as sine and cosine; a blank becomes the mean.
- **vector**: lists of numbers of one length, as they are, in a text written ``[0.5, 1]``; a blank becomes the mean.
- Columns with blanks get one more, 1 where it is blank.
- Left out, by name: texts that are (nearly) all distinct or long, columns with nothing in them, and row numbers.

What is what is told by :mod:`fdmvgcl.graphs.recognition`. Nothing is scaled here: that is for the model to decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, UserError, shown

Treatment = Literal["number", "boolean", "category", "date", "vector", "left out"]
# What an encoded column holds, so that a model can scale each kind its own way.
Kind = Literal["number", "boolean", "category", "date", "period", "vector", "missing"]

TREATMENTS = ("number", "boolean", "category", "date", "vector", "left out")
# What stands for a blank in a column of numbers, dates or truth values; in one of categories only "" does.
BLANKS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NaT", "<NA>", "NULL", "null", "None", "none")
_NAMED = 12  # plain numbers that are told by name
_DAY = 86_400_000_000  # microseconds
_PERIODS = {"year": 365.2425, "week": 7.0, "day": 1.0}  # in days; 1970-01-01 was a Thursday, which sine and cosine bear


@dataclass(frozen=True)
class Column:
    """What is done to one column of a table.

    Args:
        name: of the column.
        treatment: see the module.
        blanks: whether a column is added that tells where it is blank.
        mean: what stands for a blank; one number a column of a vector.
        values: the categories, most frequent first; of a boolean the words for no and for yes, if it is written in any.
        others: whether a column is added for all other categories.
        form: how the cells are written: ``""`` as Arrow has them, ``","`` a decimal comma, ``"iso"`` or a strptime
            format of dates.
        clock: whether dates have a time of day.
        reason: why it is left out.
    """

    name: str
    treatment: Treatment
    blanks: bool = False
    mean: tuple[float, ...] = ()
    values: tuple[str, ...] = ()
    others: bool = False
    form: str = ""
    clock: bool = False
    reason: str = ""

    @property
    def outputs(self) -> list[tuple[str, Kind]]:
        """Name and kind of each encoded column."""
        name, made = self.name, list[tuple[str, Kind]]()
        if self.treatment in ("number", "boolean"):
            made.append((name, self.treatment))
        elif self.treatment == "category":
            made += [(f"{name}={value}", "category") for value in self.values]
            made += [(f"{name} (others)", "category")] * self.others
        elif self.treatment == "date":
            periods = [period for period in _PERIODS if period != "day" or self.clock]
            made.append((f"{name} (days)", "date"))
            made += [(f"{name} ({period}, {wave})", "period") for period in periods for wave in ("sine", "cosine")]
        elif self.treatment == "vector":
            made += [(f"{name}[{i}]", "vector") for i in range(len(self.mean))]
        return made + [(f"{name} (blank)", "missing")] * self.blanks

    @property
    def plain(self) -> bool:
        """Whether it is a number that stays what it is."""
        return self.treatment == "number" and not self.blanks and not self.form

    @property
    def told(self) -> str:
        """``city: 20 categories and others``."""
        what: str = self.treatment
        if self.treatment == "category":
            count = len(self.values)
            what = f"{count} categor{'y' if count == 1 else 'ies'}{' and others' * self.others}"
        elif self.treatment == "vector":
            what = f"vector of {len(self.mean)}"
        elif self.treatment == "date":
            what = "date (days, periods)"
        elif self.treatment == "left out":
            what = f"left out ({self.reason})"
        return f"{self.name}: {what}{', blanks marked' * self.blanks}{', decimal comma' * (self.form == ',')}"


@dataclass(frozen=True)
class Encoding:
    """What is done to each column of a table, in its order."""

    columns: tuple[Column, ...] = field(default=())

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise UserError(f"two columns would be named {shown(name)} when encoded; rename one")
            seen.add(name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the encoded columns, (F,)."""
        return tuple(name for column in self.columns for name, _ in column.outputs)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each encoded column, (F,)."""
        return tuple(kind for column in self.columns for _, kind in column.outputs)

    @property
    def plain(self) -> bool:
        """Whether every column is a number that stays what it is."""
        return all(each.plain for each in self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on what was made of the columns, and one on what was left out."""
        plain = [each.name for each in self.columns if each.plain]
        kept = [each.told for each in self.columns if each.treatment != "left out" and not each.plain]
        left = [
            f"{each.name or shown(each.name)} ({each.reason})" for each in self.columns if each.treatment == "left out"
        ]
        if plain:
            which = f"{', '.join(plain)}: " if len(plain) <= _NAMED else f"{len(plain)} "
            kept.insert(0, f"{which}number{'s' * (len(plain) != 1)}")
        told = (("columns of features", kept), ("columns left out", left))
        return tuple(f"{what}: {_listed(entries)}" for what, entries in told if entries)

    def apply(self, table: pa.Table, where: Callable[[int], str] | None = None) -> NDArray[np.float32]:
        """The table's rows as numbers, shape (M, F); columns are found by name, all that is wrong is told at once.

        Args:
            table: must have every column that is not left out; others are not looked at.
            where: tells a row of the table as its file does, ``line 17``.
        """
        out = np.empty((table.num_rows, len(self.names)), dtype=np.float32)
        problems, first = [], 0
        known = table.column_names
        for column in self.columns:
            width = len(column.outputs)
            if column.treatment != "left out":
                try:
                    if column.name not in known:
                        raise UserError("is missing")
                    out[:, first : first + width] = _encoded(column, table.column(known.index(column.name)), where)
                except UserError as error:
                    problems.append(f"column {shown(column.name)} {error}")
            first += width
        refuse(problems)
        return out

    def unknown(self, table: pa.Table) -> tuple[str, ...]:
        """Sentences on what a table has that the one it was fixed on had not, and that is lost."""
        mine = {each.name: each for each in self.columns}
        new = [shown(name) for name in table.column_names if name not in mine]
        told = [f"columns not known from training, not used: {_listed(new, 5)}"] if new else []
        for name in table.column_names:
            if name in mine and mine[name].treatment == "category" and not mine[name].others:
                strange = _strange(mine[name], table.column(name))
                if strange:
                    told.append(f"{name}: in none of its categories, as training did not know them: {strange}")
        return tuple(told)

    @cached_property
    def blank(self) -> NDArray[np.float32]:
        """The row (F,) of a node of which nothing is known."""
        columns = {each.name: pa.nulls(1) for each in self.columns}
        row: NDArray[np.float32] = self.apply(pa.table(columns))[0]
        return row

    def record(self) -> list[dict[str, Any]]:
        """As JSON can hold it; without what is as it is by default."""
        default = asdict(Column("", "number"))
        return [
            {key: value for key, value in asdict(each).items() if key in ("name", "treatment") or value != default[key]}
            for each in self.columns
        ]

    @classmethod
    def of_record(cls, record: Any) -> "Encoding":
        """What :meth:`record` made; :class:`UserError` for anything else."""
        try:
            return cls(tuple(_column_of(entry) for entry in record))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise UserError(f"encoding of features cannot be read ({error})") from None


def refuse(problems: Sequence[str], most: int = 10) -> None:
    """One error for all problems, if there are any."""
    if problems:
        more = f"; and {len(problems) - most} more columns" if len(problems) > most else ""
        raise ArgumentError("features", "; ".join(problems[:most]) + more)


def _listed(entries: Sequence[str], most: int = 60) -> str:
    more = [f"and {len(entries) - most} more"] if len(entries) > most else []
    return "; ".join([*entries[:most], *more])


def _column_of(entry: dict[str, Any]) -> Column:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    made = Column(**fields)
    texts = (made.name, made.form, made.reason, *made.values)
    valid = made.treatment in TREATMENTS and all(isinstance(each, str) for each in texts)
    if not valid or not all(isinstance(each, int | float) for each in made.mean):
        raise UserError("a column must have a name, a known treatment and numbers for its mean")
    if made.treatment in ("number", "boolean", "date") and len(made.mean) != 1:
        raise UserError(f"column {shown(made.name)} must have one mean")
    return made


# -- one column -------------------------------------------------------------------------------------------------------


def _encoded(column: Column, cells: pa.ChunkedArray, where: Callable[[int], str] | None) -> NDArray[np.float32]:
    """A column's cells (M,) as numbers (M, width)."""
    if pa.types.is_null(cells.type):
        cells = pc.cast(cells, pa.list_(pa.float64()) if column.treatment == "vector" else pa.large_string())
    if column.treatment == "category":
        return _one_hot(column, as_text(cells, where))
    if column.treatment == "vector":
        values = vectors(cells, len(column.mean), where)
    elif column.treatment == "boolean":
        values = truth_values(column.values, cells, where)[:, None]
    elif column.treatment == "date":
        values = days(cells, column.form, where)[:, None]
    else:
        values = numbers(cells, column.form, where)[:, None]
    blank: NDArray[np.bool_] = np.asarray(np.isnan(values).any(axis=1))
    if blank.any():
        values = np.where(blank[:, None], np.array(column.mean), values)
    parts: list[NDArray[Any]] = [values]
    if column.treatment == "date":
        parts += [wave(2 * np.pi * values / length) for length in _lengths(column) for wave in (np.sin, np.cos)]
    if column.blanks:
        parts.append(blank[:, None])
    return check_single(np.concatenate(parts, axis=1) if len(parts) > 1 else values, where)


def _lengths(column: Column) -> list[float]:
    return [length for period, length in _PERIODS.items() if period != "day" or column.clock]


def _one_hot(column: Column, cells: pa.ChunkedArray) -> NDArray[np.float32]:
    places = pc.index_in(cells, value_set=pa.array(column.values, cells.type))
    number = np.asarray(pc.fill_null(places, -1))
    blank = np.asarray(pc.fill_null(pc.equal(cells, ""), True))
    out = np.zeros((len(number), len(column.outputs)), dtype=np.float32)
    known = np.flatnonzero(number >= 0)
    out[known, number[known]] = 1
    if column.others:
        out[(number < 0) & ~blank, len(column.values)] = 1
    if column.blanks:
        out[blank, -1] = 1
    return out


def _strange(column: Column, cells: pa.ChunkedArray) -> str:
    """The values that are none of the categories, listed."""
    found = as_text(cells).drop_null().unique()
    known = pa.array(["", *column.values], found.type)
    return _listed([shown(value) for value in found.filter(pc.invert(pc.is_in(found, value_set=known))).to_pylist()], 5)


def as_text(cells: pa.ChunkedArray, where: Callable[[int], str] | None = None) -> pa.ChunkedArray:
    """Cells as strings."""
    if pa.types.is_dictionary(cells.type):
        cells = pc.cast(cells, cells.type.value_type)
    try:
        return cells if pa.types.is_large_string(cells.type) else pc.cast(cells, pa.large_string())
    except pa.ArrowException:
        raise UserError(f"is of type {cells.type}, which is no text") from None


def numbers(cells: pa.ChunkedArray, form: str = "", where: Callable[[int], str] | None = None) -> NDArray[np.float64]:
    """Cells as numbers (M,), NaN where they are blank."""
    if is_text(cells.type):
        cells = without_blanks(as_text(cells))
        if form == ",":
            cells = pc.replace_substring(cells, ",", ".", max_replacements=1)
    try:
        found = np.asarray(pc.cast(cells, pa.float64(), safe=False).to_numpy(), dtype=np.float64)
    except pa.ArrowException:
        row, value = _first_bad(cells, lambda some: pc.cast(some, pa.float64()))
        raise UserError(f"must hold numbers, got {shown(value)}{_at(where, row)}") from None
    if np.isinf(found).any():
        row = int(np.flatnonzero(np.isinf(found))[0])
        raise UserError(f"must hold finite numbers, got {float(found[row])!r}{_at(where, row)}")
    return found


def truth_values(
    words: tuple[str, ...], cells: pa.ChunkedArray, where: Callable[[int], str] | None = None
) -> NDArray[np.float64]:
    """Cells as 1, 0 and NaN for blanks (M,)."""
    if not is_text(cells.type) or not words:
        return numbers(cells, where=where)
    cells = without_blanks(as_text(cells))
    places = pc.index_in(pc.utf8_lower(cells), value_set=pa.array(words, cells.type))
    unknown = np.asarray(pc.and_(pc.is_valid(cells), pc.is_null(places)))
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise UserError(f"must hold {words[0]} or {words[1]}, got {shown(cells[row].as_py())}{_at(where, row)}")
    return np.asarray(pc.cast(places, pa.float64()).to_numpy(), dtype=np.float64)


def days(cells: pa.ChunkedArray, form: str = "", where: Callable[[int], str] | None = None) -> NDArray[np.float64]:
    """Cells as days since 1970 (M,), NaN where they are blank."""
    if is_text(cells.type):
        cells = without_blanks(as_text(cells))
        form = form or "iso"
    try:
        times = pc.cast(parsed_dates(cells, form), pa.timestamp("us"), safe=False) if form else cells
        times = pc.cast(times, pa.timestamp("us"), safe=False)
    except pa.ArrowException:
        row, value = _first_bad(cells, lambda some: parsed_dates(some, form or "iso"))
        raise UserError(f"must hold dates, got {shown(value)}{_at(where, row)}") from None
    ticks = pc.cast(pc.cast(times, pa.int64()), pa.float64(), safe=False)
    return np.asarray(ticks.to_numpy(), dtype=np.float64) / _DAY


def parsed_dates(cells: Any, form: str) -> Any:
    """Texts as timestamps; an Arrow error if one is none."""
    if form != "iso":
        return pc.strptime(cells, format=form, unit="us")
    try:
        return pc.cast(cells, pa.timestamp("us"))
    except pa.ArrowInvalid:
        return pc.cast(pc.cast(cells, pa.timestamp("us", "UTC")), pa.timestamp("us"))


def vectors(cells: pa.ChunkedArray, width: int, where: Callable[[int], str] | None = None) -> NDArray[np.float64]:
    """Lists of ``width`` numbers as rows (M, width), NaN where a list is missing."""
    cells = as_lists(cells, where)
    if not is_vector(cells.type):
        raise UserError(f"must hold lists of {width} numbers, got {cells.type}")
    lengths = np.asarray(pc.fill_null(pc.list_value_length(cells), width))
    if (lengths != width).any():
        row = int(np.flatnonzero(lengths != width)[0])
        raise UserError(f"must hold lists of {width} numbers, got one of {lengths[row]}{_at(where, row)}")
    present = np.asarray(pc.is_valid(cells))
    flat = pc.list_flatten(cells.filter(pa.array(present)))
    out = np.full((len(cells), width), np.nan)
    out[present] = np.asarray(pc.cast(flat, pa.float64(), safe=False).to_numpy()).reshape(-1, width)
    bad = present & ~np.isfinite(out).all(axis=1)
    if bad.any():
        raise UserError(f"must hold finite numbers in its lists, got others{_at(where, int(np.flatnonzero(bad)[0]))}")
    return out


def as_lists(cells: pa.ChunkedArray, where: Callable[[int], str] | None = None) -> pa.ChunkedArray:
    """Texts as JSON, Python or NumPy write lists, ``[0.5, 1]`` or ``[0.5 1. ]``, as lists of numbers; others stay."""
    if not is_text(cells.type):
        return cells
    cells = without_blanks(as_text(cells))
    numbers_alone = pc.utf8_trim(cells, " \t\r\n[]")
    try:
        return _split_lists(numbers_alone)
    except pa.ArrowException:
        row, _ = _first_bad(numbers_alone, _split_lists)
        raise UserError(f"must hold lists of numbers, got {shown(cells[row].as_py())}{_at(where, row)}") from None


def _split_lists(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(pc.split_pattern_regex(cells, r"\s*,\s*|\s+"), pa.large_list(pa.float64()))


def check_single(values: NDArray[Any], where: Callable[[int], str] | None = None) -> NDArray[np.float32]:
    """As float32, refused where that overflows."""
    with np.errstate(over="ignore"):
        single = np.asarray(values, dtype=np.float32)
    if np.isinf(single).any():
        row, column = np.argwhere(np.isinf(single))[0]
        raise UserError(f"must hold numbers that fit float32, got {float(values[row, column])!r}{_at(where, int(row))}")
    return single


def is_text(kind: pa.DataType) -> bool:
    """Strings, or a dictionary of them."""
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value))


def is_vector(kind: pa.DataType) -> bool:
    """Lists of numbers."""
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return False
    inner = kind.value_type
    return bool(pa.types.is_floating(inner) or pa.types.is_integer(inner))


def without_blanks(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in place of what means nothing in a column of numbers."""
    blank = pc.is_in(cells, value_set=pa.array(BLANKS, cells.type))
    return pc.if_else(blank, pa.scalar(None, cells.type), cells)


def _first_bad(cells: pa.ChunkedArray, convert: Callable[[Any], Any]) -> tuple[int, Any]:
    """The first cell that cannot be converted, by halving: Arrow does not tell which."""
    low, high = 0, len(cells)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            convert(cells.slice(low, middle - low))
            low = middle
        except pa.ArrowException:
            high = middle
    return low, cells[low].as_py()


def _at(where: Callable[[int], str] | None, row: int) -> str:
    return f" in {where(row) if where is not None else f'row {row + 1}'}"
