"""SOURCE of the command line: a data set's name, or a user's file."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fdmvgcl.cli.presence import check_there
from fdmvgcl.datasets import Dataset, datasets, graph_datasets, load
from fdmvgcl.errors import UserError
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.graph import Graph


@dataclass(frozen=True)
class ReadOptions:
    """How a user's files are to be read; see :func:`fdmvgcl.graphs.readers.read_graph`."""

    features: Path | None = None
    directed: bool = False
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    no_header: bool = False
    repeated: str = "max"
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    encoding: str | None = None
    fill_missing: bool = False
    since: str | None = None
    until: str | None = None
    half_life: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """What is not as it is by default, by name."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    @property
    def words(self) -> dict[str, bool | str]:
        """The same as it is written on the command line."""
        listed = {name: ",".join(value) if isinstance(value, tuple) else value for name, value in self.given.items()}
        return {name: value if isinstance(value, bool) else str(value) for name, value in listed.items()}

    def read(self, source: StrPath) -> Graph:
        """The graph of a file."""
        options = self.given
        if options.pop("no_header", False):
            options["header"] = False
        return Graph.read(source, **options)


@dataclass(frozen=True)
class Source:
    """A graph, and the data set that it is of, if it is one."""

    graph: Graph
    dataset: Dataset | None = None


def names_data_set(source: str) -> bool:
    """A known name is a data set, whatever lies in the working folder; ``./cora`` is the file."""
    return source in datasets()


def open_source(source: str, options: ReadOptions, data_root: Path | None = None) -> Source:
    """The graph that SOURCE names."""
    if source in graph_datasets():
        raise UserError(f"{source!r} is a data set of many graphs: add --level graph (write ./{source} for a file)")
    if names_data_set(source):
        if options.given:
            option = next(iter(options.given)).replace("_", "-")
            raise UserError(f"--{option} is for files; {source!r} is a data set (write ./{source} for a file)")
        dataset = load(source, data_root)
        return Source(dataset.graph(), dataset)
    check_there(source)
    return Source(options.read(source))
