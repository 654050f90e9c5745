"""Edges that do not fit into memory, through DuckDB to a store: the graph, counts and words of the reader in memory.

The file is read in pieces by the rules of every other table. DuckDB numbers the nodes and sorts the entries within a
limit of memory, on disk where they exceed it; what is merged is merged by the same function as in memory, a run of
equal entries at a time. An entry is one number of 63 bits: its row, its column, and whether it is listed or reversed.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError, RowError, UserError
from fdmvgcl.files import StrPath, atomic_folder
from fdmvgcl.graphs.arrays import check_repeated, check_weights, merged
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.node_ids import id_order, plain_ids
from fdmvgcl.graphs.provenance import Counts, counted
from fdmvgcl.graphs.readers.edges import EdgeColumns, find_ends, find_weight, origin_of
from fdmvgcl.graphs.readers.external_features import Wide, read_wide, write_wide
from fdmvgcl.graphs.readers.header import known_pair
from fdmvgcl.graphs.readers.pieces import Pieced, open_pieces, parts_of
from fdmvgcl.graphs.readers.tables import WEIGHT_RULE, Table
from fdmvgcl.graphs.readers.timing import by_time
from fdmvgcl.graphs.store import MOST_NODES, EdgeFiles, Told, finish, open_store, write_ids
from fdmvgcl.graphs.temporal import Window

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

INSTALL = "reading edges that exceed memory needs DuckDB: pip install 'fdmvgcl[big]'"
# Bytes an edge that DuckDB may hold before it goes to disk, and the least that it works with.
_HELD, _LEAST = 40, 256 << 20
_SHARE = 0.6  # of the limit; the rest is for pieces, ids and numbers of nodes
_BATCH = 1 << 20
_BITS = 31
_LOW = (1 << _BITS) - 1

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Reading:
    """How a large file is read.

    Args:
        columns: which columns hold what.
        directed, repeated: see :meth:`Graph.from_edges`.
        features: a file for :func:`fdmvgcl.graphs.readers.read_features`.
        encode: ``columns``, ``drop`` and ``fill_missing`` of the features.
    """

    columns: EdgeColumns = field(default=EdgeColumns())
    directed: bool = False
    repeated: str = "max"
    features: StrPath | None = None
    encode: tuple[tuple[str, Any], ...] = ()


def read_external(
    path: StrPath,
    store: StrPath,
    memory: int,
    how: Reading = Reading(),  # noqa: B008, it is frozen
    tell: Tell = lambda text: None,
) -> Graph:
    """The graph of a file, left in a store that must not be there yet.

    Args:
        path: Parquet or delimited text.
        store: the folder to write; what is sorted on disk lies beside it meanwhile.
        memory: bytes that this may take, roughly.
        how: what the file means.
        tell: is told what is being done.
    """
    check_repeated(how.repeated)
    table = open_pieces(path, how.columns)
    ends = find_ends(table.head, how.columns)
    column = find_weight(table.head, how.columns.weight)
    if column in ends:
        raise table.head.error(f"weight column {how.columns.weight!r:.60} must be another than those of the ends")
    if not table.head.num_rows:
        raise InputError(path, "holds no edges")
    origin = origin_of(table.head, ends, column, by_time(table.head, {*ends, column}, None, Window()))
    wide = None if how.features is None else read_wide(how.features, memory, dict(how.encode))
    with _database(Path(store), table.rows, memory) as base:
        listed = _Listed(base, path, how, table, ends, column, wide)
        listed.load(tell)
        tell("numbering the nodes")
        ids = listed.number()
        listed.check_header(ids)
        with atomic_folder(store) as folder:
            write_ids(folder, ids)
            tell(f"sorting the entries of {counted(len(ids), 'node', 'nodes')}")
            counts = _entries(base, EdgeFiles(folder, len(ids), listed.weighted), how, listed.counts)
            if not (folder / "indices.i32").stat().st_size:
                raise InputError(path, "holds no edges other than self-loops and edges of weight 0")
            told = Told(how.directed, replace(counts, added=listed.added), origin)
            if wide is not None:
                tell("writing the features")
                told = write_wide(folder, wide, base, told, len(ids))
            finish(folder, told, source_record(path, how))
    return open_store(store)


def source_record(path: StrPath, how: Reading) -> dict[str, Any]:
    """What a store is made of: files by size and time of change, and how they were read."""

    def stamp(file: StrPath) -> list[Any]:
        parts = [os.stat(part) for part in parts_of(file)]
        return [os.path.abspath(file), *([part.st_size, part.st_mtime_ns] for part in parts)]

    options = {"columns": repr(how.columns), "directed": how.directed, "repeated": how.repeated}
    features = None if how.features is None else stamp(how.features)
    return options | {"edges": stamp(path), "features": features, "encode": repr(how.encode)}


class _Listed:
    """Edges as they are listed, on their way into the database."""

    def __init__(
        self,
        base: "DuckDBPyConnection",
        path: StrPath,
        how: Reading,
        table: Pieced,
        ends: tuple[int, int],
        column: int | None,
        wide: Wide | None,
    ) -> None:
        self._base, self._path, self._how, self._table, self._ends, self._wide = base, path, how, table, ends, wide
        self._column = column
        self.counts = Counts(merged=how.repeated)
        self.added = 0

    @property
    def weighted(self) -> bool:
        """Whether edges come to have weights."""
        return self._column is not None or self._how.repeated in ("sum", "count")

    def load(self, tell: Tell) -> None:
        """All pieces into the table ``raw``: as integers if all ids are, else as texts."""
        for kind, integers in (("BIGINT", True), ("VARCHAR", False)):
            self._base.execute(f"CREATE OR REPLACE TABLE raw (tail {kind}, head {kind}, row BIGINT, weight DOUBLE)")
            self._base.execute(f"CREATE OR REPLACE TABLE extra (id {kind}, row BIGINT)")
            if self._load(tell, integers):
                return

    def _load(self, tell: Tell, integers: bool) -> bool:
        base, row, loops, empty, total, told = self._base, 0, 0, 0, 0.0, 0
        base.execute("BEGIN")
        if self._wide is not None and not self._wide.load_ids(base, integers):
            base.execute("ROLLBACK")
            return False
        wanted = [*self._ends] + ([] if self._column is None else [self._column])
        for piece, places in self._table.pieces(wanted):
            found = self._checked(piece, places, integers)
            if found is None:
                base.execute("ROLLBACK")
                return False
            tails, heads, weight = found
            same = np.asarray(pc.equal(tails, heads))
            loops += int(same.sum())
            empty += 0 if weight is None else int(((weight == 0) & ~same).sum())
            total += 0.0 if weight is None else float(weight.sum())
            if not np.isfinite(2 * total):
                raise InputError(self._path, "weight must have a finite sum, got one that overflows float64")
            numbers = pa.array(np.arange(row, row + len(same)))
            weights = pa.array(np.ones(len(same)) if weight is None else weight)
            names = ["tail", "head", "row", "weight"]
            rows = pa.Table.from_arrays([tails, heads, numbers, weights], names=names)
            base.register("piece", rows)
            base.execute("INSERT INTO raw SELECT * FROM piece")
            base.unregister("piece")
            row += len(same)
            share = min(9, 10 * row // max(1, self._table.rows))
            if share > told:
                told = share
                tell(f"reading {self._path}: {counted(row, 'edge', 'edges')}, about {share}0 %")
        base.execute("COMMIT")
        self.counts = replace(self.counts, self_loops=loops, zero_weights=empty)
        return True

    def _checked(self, piece: Table, places: Any, integers: bool) -> tuple[Any, Any, NDArray[np.float64] | None] | None:
        """The ends and weights of a piece, None where ids should be integers and are not."""
        weight = piece.numbers([places[2]], WEIGHT_RULE)[:, 0] if len(places) == 3 else None
        try:
            if weight is not None:
                weight = check_weights(weight, len(weight))
            columns = piece.strings(places[:2])
            ends = [plain_ids(each, name, integers) for each, name in zip(columns, ("source", "target"), strict=True)]
        except RowError as error:
            raise piece.error(error.rule, error.row) from None
        except InputError:
            raise
        except UserError as error:
            raise piece.error(str(error)) from None
        return None if ends[0] is None or ends[1] is None else (ends[0], ends[1], weight)

    def number(self) -> pa.ChunkedArray:
        """Ids in node order, (N,), and the table ``nodes`` of each with its number."""
        base = self._base
        base.execute("CREATE TABLE ends AS SELECT tail AS id FROM raw UNION SELECT head FROM raw")
        told = base.sql("SELECT id FROM ends UNION SELECT id FROM extra")
        ids = told.to_arrow_table().column(0).combine_chunks()
        if len(ids) > MOST_NODES:
            raise InputError(self._path, f"must have at most {MOST_NODES} nodes, got {len(ids)}")
        if pa.types.is_integer(ids.type):
            order = np.argsort(np.asarray(ids), kind="stable")
        else:
            order = id_order(pc.cast(ids, pa.large_string()))
        ids = ids.take(pa.array(order))
        self.added = len(ids) - int(base.sql("SELECT count(*) FROM ends").fetchall()[0][0])
        base.register("piece", pa.table({"id": ids, "n": np.arange(len(ids))}))
        base.execute("CREATE TABLE nodes AS SELECT id, n FROM piece")
        base.unregister("piece")
        by_row = ", raw.row" if self._how.repeated in ("first", "sum") and self.weighted else ""
        weight = ", raw.weight" if self._column is not None else ""
        where = "tail <> head" + (" AND weight <> 0" if self._column is not None else "")
        base.execute(
            f"CREATE TABLE entries AS SELECT ((a.n << {_BITS}) | b.n) << 1 AS entry{by_row}{weight} FROM raw "
            f"JOIN nodes a ON raw.tail = a.id JOIN nodes b ON raw.head = b.id WHERE {where}"
        )
        base.execute("DROP TABLE raw; DROP TABLE ends")
        return pa.chunked_array([pc.cast(ids, pa.large_string())])

    def check_header(self, ids: pa.ChunkedArray) -> None:
        """Refuse a header that was told by ids of the head, and comes again as an id further down."""
        head, columns = self._table.head, self._how.columns
        asked = columns.source is not None or columns.header is not None
        if not head.header or asked or known_pair(head.names) is not None:
            return
        names = pa.array([head.names[end] for end in self._ends], pa.large_string())
        if pc.any(pc.is_in(names, value_set=ids)).as_py():
            told = f"the first line, {', '.join(head.names)!r:.60}, could name the columns or be an edge"
            raise InputError(self._path, f"{told}: name them with --source COL --target COL, or say --no-header")


def _entries(base: "DuckDBPyConnection", files: EdgeFiles, how: Reading, counts: Counts) -> Counts:
    """Write what is listed, sorted and merged; the counts with what was merged."""
    reverse = f"((((entry >> 1) & {_LOW}) << {_BITS + 1}) | ((entry >> {_BITS + 1}) << 1) | 1)"
    held = [row[0] for row in base.sql("DESCRIBE entries").fetchall()]
    others = "".join(f", {name}" for name in held[1:])
    both = f"SELECT entry{others} FROM entries"
    if not how.directed:
        both += f" UNION ALL SELECT {reverse}{others} FROM entries"
    order = "entry >> 1, row" if "row" in held else "entry"
    listed = int(base.sql("SELECT count(*) FROM entries").fetchall()[0][0])
    weight = ", weight" if "weight" in held else ""
    sorted_entries = base.sql(f"SELECT entry{weight} FROM ({both}) ORDER BY {order}")
    one_way = pairs = 0
    for batch in _whole_runs(sorted_entries.to_arrow_reader(_BATCH)):
        key, back = batch[0] >> 1, (batch[0] & 1).astype(bool)
        found, weights = merged(key, batch[1] if weight else None, how.repeated)
        rows, columns = found >> _BITS, found & _LOW
        files.add(rows, columns, weights)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        ways = np.logical_or.reduceat(back, first).astype(int) + np.logical_or.reduceat(~back, first)
        counted_once = rows < columns if not how.directed else np.ones(len(rows), bool)
        one_way += int(ways[counted_once].sum())
        pairs += int(counted_once.sum())
    files.close()
    return replace(counts, repeated=listed - one_way, reciprocal=one_way - pairs)


def _whole_runs(reader: Any) -> Iterator[list[NDArray[Any]]]:
    """Batches of sorted entries, and perhaps weights, that begin and end between different edges."""
    rest: list[NDArray[Any]] = []
    for batch in reader:
        columns = [np.asarray(column) for column in batch.columns]
        if not len(columns[0]):
            continue
        rest = [np.concatenate(pair) for pair in zip(rest, columns, strict=True)] if rest else columns
        cut = int(np.searchsorted(rest[0] >> 1, rest[0][-1] >> 1))
        if cut:
            yield [column[:cut] for column in rest]
            rest = [column[cut:] for column in rest]
    if rest:
        yield rest


@contextmanager
def _database(store: Path, edges: int, memory: int) -> Iterator["DuckDBPyConnection"]:
    """An empty database in a folder beside the store, which vanishes with it."""
    duckdb = require()
    limit = max(_LEAST, min(int(_SHARE * memory), _HELD * edges))
    folder = tempfile.mkdtemp(prefix=f".{store.name}.", suffix=".tmp", dir=store.parent)
    try:
        settings = {
            "memory_limit": f"{limit}B",
            "temp_directory": folder,
            "preserve_insertion_order": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        with duckdb.connect(os.path.join(folder, "edges.duckdb"), config=settings) as base:
            base.execute("SET enable_progress_bar = false")  # which it writes to stdout
            try:
                yield base
            except duckdb.Error as error:
                raise _told(error, store, memory) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _told(error: Exception, store: Path, memory: int) -> Exception:
    """What DuckDB ran out of, as any other part of this library would say it; other faults as they are."""
    text = str(error)
    if "No space left" in text or "max_temp_directory_size" in text:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(store.parent))
    if type(error).__name__ == "OutOfMemoryException":
        return ArgumentError("memory", f"must be more than {memory} bytes to sort this file's edges")
    return error


def require() -> Any:
    """DuckDB, or one line that says how to get it."""
    try:
        import duckdb
    except ImportError:
        raise UserError(INSTALL) from None
    return duckdb


__all__ = ["Reading", "read_external", "require", "source_record"]
