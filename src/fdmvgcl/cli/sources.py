"""SOURCE and ``--labels`` of the command line: a data set's name, or a user's files."""

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Dataset, Metric, Split, datasets, load, seeded_splits
from fdmvgcl.errors import InputError, UserError, shown
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers import read_labels, read_splits

TRAIN, VAL = 0.1, 0.1


@dataclass(frozen=True)
class ReadOptions:
    """How a user's files are to be read; see :func:`fdmvgcl.graphs.readers.read_graph`."""

    features: Path | None = None
    directed: bool = False
    weight: str | None = None
    header: bool = False
    fill_missing: bool = False


@dataclass(frozen=True)
class Source:
    """A graph, and the data set that it is of, if it is one."""

    graph: Graph
    dataset: Dataset | None = None


@dataclass(frozen=True)
class Labelled:
    """What evaluation needs to know of a graph's nodes.

    Args:
        labels: class of each node, -1 for none, shape (N,).
        classes: names of the classes.
        splits: of the labelled nodes.
        told: what the splits are, in words.
        metric: how to score.
        remarks: sentences on what was left out.
    """

    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    splits: tuple[Split, ...]
    told: str
    metric: Metric = "accuracy"
    remarks: tuple[str, ...] = ()

    @property
    def few_labels(self) -> bool:
        return any(split.few_labels for split in self.splits)


def names_data_set(source: str) -> bool:
    """A known name is a data set, whatever lies in the working folder; ``./cora`` is the file."""
    return source in datasets()


def open_source(source: str, options: ReadOptions, data_root: Path | None = None) -> Source:
    """The graph that SOURCE names."""
    if names_data_set(source):
        given = [name for name, value in vars(options).items() if value]
        if given:
            option = given[0].replace("_", "-")
            raise UserError(f"--{option} is for files; {source!r} is a data set (write ./{source} for a file)")
        dataset = load(source, data_root)
        return Source(dataset.graph(), dataset)
    is_path = os.sep in source or bool(os.path.splitext(source)[1])
    if not is_path and not Path(source).exists():
        close = difflib.get_close_matches(source.lower(), datasets(), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "; see fdmvgcl datasets"
        raise InputError(source, f"is neither a file nor a data set{hint}")
    return Source(Graph.read(source, **vars(options)))


def default_folder(source: str) -> Path:
    """``edges.fdmvgcl`` for ``data/edges.csv``, in the working folder."""
    return Path(f"{Path(source).stem or 'graph'}.fdmvgcl")


def data_set_labels(dataset: Dataset) -> Labelled:
    """A data set's own labels and splits."""
    count = len(dataset.splits)
    kind = "public" if dataset.public_splits else "seeded"
    told = f"{count} {kind} split{'s' if count > 1 else ''}"
    return Labelled(dataset.labels, dataset.classes, dataset.splits, told, dataset.metric)


def file_labels(path: Path, graph: Graph, splits: Path | None = None) -> Labelled:
    """Labels from ``id,label``; splits from ``id,split,part``, else ten seeded ones."""
    ids, names = read_labels(path)
    labels, classes, remarks = _match_labels(path, ids, names, graph)
    if splits is not None:
        found = _match_splits(splits, graph, labels)
        return Labelled(
            labels, classes, found, f"{counted(len(found), 'split', 'splits')} of {splits.name}", remarks=remarks
        )
    try:
        made = seeded_splits(labels, train=TRAIN, val=VAL)
    except ValueError:
        few = counted(int((labels >= 0).sum()), "node is", "nodes are")
        raise InputError(path, f"must label enough nodes to split {_shares()}; {few} labelled") from None
    return Labelled(labels, classes, made, f"{len(made)} seeded splits of {_shares()}", remarks=remarks)


def _shares() -> str:
    return f"{TRAIN:.0%}/{VAL:.0%}/{1 - TRAIN - VAL:.0%} train/val/test".replace("%/", "/")


def _match_labels(
    path: Path, ids: Sequence[str], names: Sequence[str], graph: Graph
) -> tuple[NDArray[np.int64], tuple[str, ...], tuple[str, ...]]:
    number = {node: i for i, node in enumerate(graph.ids)}
    known = [(number[node], name) for node, name in zip(ids, names, strict=True) if node in number]
    if not known:
        raise InputError(
            path, f"must label nodes of the graph, but no node has the id {shown(ids[0])} or any other here"
        )
    classes = tuple(sorted({name for _, name in known}))
    if len(classes) < 2:
        raise InputError(path, f"must have at least two classes among the graph's nodes, got only {shown(classes[0])}")
    code = {name: i for i, name in enumerate(classes)}
    labels = np.full(graph.num_nodes, -1, dtype=np.int64)
    for node, name in known:
        labels[node] = code[name]
    others, without = len(ids) - len(known), graph.num_nodes - len(known)
    remarks = []
    if others:
        remarks.append(
            counted(others, "label of an id that is no node", "labels of ids that are no nodes") + " left out"
        )
    if without:
        remarks.append(counted(without, "node has", "nodes have") + " no label")
    return labels, classes, tuple(remarks)


def _match_splits(path: Path, graph: Graph, labels: NDArray[np.int64]) -> tuple[Split, ...]:
    number = {node: i for i, node in enumerate(graph.ids)}
    made = []
    for name, parts in read_splits(path).items():
        for node in (node for part in parts.values() for node in part):
            if labels[number.get(node, 0)] < 0 or node not in number:
                raise InputError(path, f"split {shown(name)} names {shown(node)}, which is no node with a label")
        made.append(Split(*(np.array([number[node] for node in parts[part]]) for part in ("train", "val", "test"))))
    return tuple(made)
