"""Labels and splits brought together with a graph's nodes, by their ids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.datasets import Dataset, Metric, Split, seeded_splits
from fdmvgcl.errors import ArgumentError, InputError, UserError, shown
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.graphs.readers import read_labels, read_splits
from fdmvgcl.graphs.readers.attributes import PARTS

from .targets import LabelKind, numeric_target

TRAIN, VAL = 0.1, 0.1
_SHARES = f"{100 * TRAIN:.0f}/{100 * VAL:.0f}/{1 - TRAIN - VAL:.0%} train/val/test"


@dataclass(frozen=True, eq=False)
class Labelled:
    """What evaluation needs to know of a graph's nodes.

    Args:
        labels: class of each node, -1 for none, shape (N,); of a number to foretell its value, NaN for none.
        classes: names of the classes; none for numbers.
        splits: of the labelled nodes.
        told: what the splits are, in words.
        metric: how to score.
        remarks: sentences on what was left out, and on what labels were taken for.
    """

    labels: NDArray[Any]
    classes: tuple[str, ...]
    splits: tuple[Split, ...]
    told: str
    metric: Metric = "accuracy"
    remarks: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether labels are numbers to foretell."""
        return self.metric == "r2"

    @classmethod
    def of_data_set(cls, dataset: Dataset) -> "Labelled":
        """A data set's own labels and splits."""
        count = len(dataset.splits)
        kind = "public" if dataset.public_splits else "seeded"
        told = f"{count} {kind} split{'s' if count > 1 else ''}"
        return cls(dataset.labels, dataset.classes, dataset.splits, told, dataset.metric)

    @classmethod
    def match(
        cls,
        graph: Graph,
        ids: Sequence[str],
        names: Sequence[str],
        splits: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        told: str = "",
        kind: LabelKind = "auto",
    ) -> "Labelled":
        """Labels by id, those of ids that are no nodes left out; one :class:`ArgumentError` for what cannot be used.

        Args:
            graph: whose nodes.
            ids: distinct ids.
            names: the class of each.
            splits: ids of the parts train, val and test by the split's name; without it ten seeded splits.
            told: what to say of the splits that are given.
            kind: whether labels are classes or numbers; see :func:`fdmvgcl.evaluation.targets.numeric_target`.
        """
        number = {node: i for i, node in enumerate(graph.ids)}
        labels, classes = coded_labels(graph.ids, ids, names)
        if not classes:
            rule = f"must label nodes of the graph, but no node has the id {shown(ids[0])} or any other here"
            raise ArgumentError("labels", rule)
        known = np.flatnonzero(labels >= 0)
        values, doubt = numeric_target([classes[code] for code in labels[known]], kind)
        if len(classes) < 2:
            what = "classes" if values is None else "values"
            rule = f"must have at least two {what} among the graph's nodes, got only {shown(classes[0])}"
            raise ArgumentError("labels", rule)
        remarks = _remarks(labels, len(ids)) + ((doubt,) if doubt else ())
        if splits is not None:
            parted = tuple(_matched(number, labels, name, parts) for name, parts in splits.items())
            told = told or counted(len(parted), "split", "splits")
        else:
            parted = _seeded(labels)
            told = f"{len(parted)} seeded splits of {_SHARES}"
        if values is None:
            return cls(labels, classes, parted, told, remarks=remarks)
        numbers = np.full(len(labels), np.nan)
        numbers[known] = values
        return cls(numbers, (), parted, told, "r2", remarks)

    @classmethod
    def read(
        cls,
        graph: Graph,
        labels: Path,
        splits: Path | None = None,
        kind: LabelKind = "auto",
        encoding: str | None = None,
    ) -> "Labelled":
        """Labels from ``id,label``, splits from ``id,split,part``, else ten seeded ones; texts are in this encoding."""
        ids, names = read_labels(labels, encoding)
        parts = None if splits is None else read_splits(splits, encoding)
        told = "" if splits is None or parts is None else f"{counted(len(parts), 'split', 'splits')} of {splits.name}"
        try:
            return cls.match(graph, ids, names, parts, told, kind)
        except ArgumentError as error:
            raise InputError(splits if error.argument == "splits" and splits else labels, error.rule) from None


def coded_labels(
    nodes: Sequence[str], ids: Sequence[str], names: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The class of each of ``nodes``, -1 for none, and the names of the classes, those of other ids left out."""
    known = dict(zip(ids, names, strict=True))
    classes = tuple(sorted({known[node] for node in nodes if node in known}))
    code = {name: i for i, name in enumerate(classes)}
    return np.array([code[known[node]] if node in known else -1 for node in nodes], dtype=np.int64), classes


def _seeded(labels: NDArray[np.int64]) -> tuple[Split, ...]:
    try:
        return seeded_splits(labels, train=TRAIN, val=VAL)
    except UserError:
        few = counted(int((labels >= 0).sum()), "node is", "nodes are")
        raise ArgumentError("labels", f"must label enough nodes to split {_SHARES}; {few} labelled") from None


def _remarks(labels: NDArray[np.int64], given: int) -> tuple[str, ...]:
    known = int((labels >= 0).sum())
    others, without = given - known, len(labels) - known
    left_out = counted(others, "label of an id that is no node", "labels of ids that are no nodes") + " left out"
    unlabelled = counted(without, "node has", "nodes have") + " no label"
    return tuple(told for count, told in ((others, left_out), (without, unlabelled)) if count)


def _matched(
    number: Mapping[str, int], labels: NDArray[np.int64], name: str, parts: Mapping[str, Sequence[str]]
) -> Split:
    for node in (node for part in PARTS for node in parts[part]):
        if node not in number or labels[number[node]] < 0:
            rule = f"must name nodes with a label, but split {shown(name)} names {shown(node)}, which is none"
            raise ArgumentError("splits", rule)
    return Split(*(np.array([number[node] for node in parts[part]]) for part in PARTS))
