"""SOURCE of the command line: a data set's name, or a user's file."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from fdmvgcl.cli.console import gigabytes
from fdmvgcl.cli.groups import EdgeOptions, WindowOptions
from fdmvgcl.cli.presence import check_there
from fdmvgcl.datasets import Dataset, datasets, graph_datasets, load
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers.edges import EdgeColumns
from fdmvgcl.graphs.readers.opening import STDIN
from fdmvgcl.graphs.readers.outlook import look_ahead
from fdmvgcl.graphs.readers.pieces import size_of
from fdmvgcl.graphs.store import is_store, open_store, source_of

Reader = Literal["auto", "memory", "duckdb"]

# Bytes that an edge takes to read are at most this many times those of its file: two ids of three digits, packed.
_MOST_TIMES = 200


@dataclass(frozen=True)
class ReadOptions(EdgeOptions, WindowOptions):
    """How all of a user's files are to be read."""

    features: Path | None = None
    directed: bool = False
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def columns_of_edges(self) -> EdgeColumns:
        """Which columns of the edges were named."""
        return EdgeColumns(self.source, self.target, self.weight, False if self.no_header else None)

    @property
    def given(self) -> dict[str, Any]:
        """What is not as it is by default, by name."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    @property
    def words(self) -> dict[str, bool | str]:
        """The same as it is written on the command line."""
        listed = {name: ",".join(value) if isinstance(value, tuple) else value for name, value in self.given.items()}
        return {name: value if isinstance(value, bool) else str(value) for name, value in listed.items()}

    def read(self, source: StrPath, room: "Room | None" = None, encoded_as: Encoding | None = None) -> Graph:
        """The graph of a file, in memory if there is room for it, else from a store."""
        if is_store(source) and self.given:
            raise UserError(f"--{next(iter(self.given))} is for files; {source} is a graph store, which is whole")
        if room is not None and room.wants_store(source, self):
            return room.read(source, self)
        options = self.given
        if options.pop("no_header", False):
            options["header"] = False
        return Graph.read(source, encoded_as=encoded_as, **options)


@dataclass(frozen=True)
class Room:
    """What reading may take, and who is told of it.

    Args:
        memory: bytes.
        scratch: a folder for what does not fit; made if need be.
        reader: ``"memory"``, ``"duckdb"``, or ``"auto"``: by whether the file fits.
        tell: is told what is done.
    """

    memory: int
    scratch: Path
    reader: Reader = "auto"
    tell: Callable[[str], None] = lambda text: None

    def wants_store(self, source: StrPath, options: ReadOptions) -> bool:
        """Whether the file is to be read through DuckDB: it is too large, or that is asked for."""
        if str(source) == STDIN or is_store(source) or self.reader == "memory":
            return False
        only = next((name for name in ("since", "until", "half_life", "encoding") if getattr(options, name)), None)
        if self.reader == "duckdb":
            if only is not None:
                raise ArgumentError("reader", f"must be memory with --{only.replace('_', '-')}")
            return True
        if only is not None or _MOST_TIMES * size_of(source) <= self.memory:
            return False
        found = look_ahead(source, options.columns_of_edges)
        if found is None or found.bytes_in_memory <= self.memory:
            return False
        needed, allowed = gigabytes(found.bytes_in_memory), gigabytes(self.memory)
        edges = counted(found.edges, "edge", "edges")
        self.tell(
            f"about {edges} would take {needed} to read at once, more than {allowed}: DuckDB reads them in pieces"
        )
        return True

    def read(self, source: StrPath, options: ReadOptions) -> Graph:
        """The graph of a store in the scratch folder, made unless it is there from an earlier run."""
        from fdmvgcl.graphs.readers.external import Reading, read_external, require, source_record

        require()
        encode = {name: value for name in ("columns", "drop", "fill_missing") if (value := getattr(options, name))}
        how = Reading(
            options.columns_of_edges, options.directed, options.repeated, options.features, tuple(encode.items())
        )
        store = self.scratch / f"graph-{default_name(source)}"
        self.scratch.mkdir(parents=True, exist_ok=True)
        if is_store(store):
            if source_of(store) == json.loads(json.dumps(source_record(source, how))):
                self.tell(f"read before: {store}")
                return open_store(store)
            shutil.rmtree(store)
        return read_external(source, store, self.memory, how, self.tell)


def default_name(source: StrPath) -> str:
    """A name for what is made of a file."""
    return re.sub(r"\W", "-", Path(source).name)


@dataclass(frozen=True)
class Opened:
    """A graph, and the data set that it is of, if it is one."""

    graph: Graph
    dataset: Dataset | None = None


def names_data_set(source: str) -> bool:
    """A known name is a data set, whatever lies in the working folder; ``./cora`` is the file."""
    return source in datasets()


def check_one_graph(source: str) -> None:
    """Refuse a name that stands for many graphs."""
    if source in graph_datasets():
        raise UserError(f"{source!r} is a data set of many graphs: add --level graph (write ./{source} for a file)")


def open_source(
    source: str,
    options: ReadOptions,
    data_root: Path | None = None,
    room: Room | None = None,
    encoded_as: Encoding | None = None,
) -> Opened:
    """The graph that SOURCE names; ``encoded_as``: how features of a file were encoded before."""
    check_one_graph(source)
    if names_data_set(source):
        if options.given:
            option = next(iter(options.given)).replace("_", "-")
            raise UserError(f"--{option} is for files; {source!r} is a data set (write ./{source} for a file)")
        dataset = load(source, data_root)
        return Opened(dataset.graph(), dataset)
    check_there(source)
    return Opened(options.read(source, room, encoded_as))
