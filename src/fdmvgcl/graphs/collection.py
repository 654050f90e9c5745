"""GraphSet: many graphs, which no edge joins, as one block-diagonal graph. One vector a graph begins here."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, RowError, near_misses, shown
from fdmvgcl.graphs.arrays import as_features, assemble_adjacency, canonical_csr, check_weights
from fdmvgcl.graphs.encoding import Column, Encoding
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.marks import MARKS, structural_marks
from fdmvgcl.graphs.node_ids import id_order
from fdmvgcl.graphs.provenance import Counts, Origin, counted
from fdmvgcl.graphs.stacking import Named, by_id, check_each, is_empty, stacked, summed

if TYPE_CHECKING:
    import networkx as nx

    from fdmvgcl.graphs.conversions import Attributes


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """Many graphs in an order that is kept. Treat its arrays as read-only.

    The graphs are the blocks of one :class:`~fdmvgcl.Graph`, and every rule of a Graph holds. In it a node's id is
    ``graph/node``, so that two graphs may have nodes of the same name; a slash in a graph's own id is written ``%2F``
    there, and a per cent sign ``%25``. Graphs without nodes, of one node, and without edges are graphs. All graphs have
    features, with the same columns, or none has.

    Args:
        ids: G distinct graph ids, strings.
        block: all nodes; at least one.
        origin: how files were understood, None for graphs that were not read from any.
    """

    ids: tuple[str, ...]
    block: Graph
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if not all(isinstance(each, str) and each for each in self.ids):
            raise ArgumentError("ids", "must be strings that are not empty")
        if len(set(self.ids)) < len(self.ids):
            seen: set[str] = set()
            twice = next(each for each in self.ids if each in seen or seen.add(each))  # type: ignore[func-returns-value]
            raise ArgumentError("ids", f"must be distinct, got {shown(twice)} twice")
        _ = self.owner

    # -- ways in ------------------------------------------------------------------------------------------------------

    @classmethod
    def from_numbers(
        cls,
        ids: Sequence[str],
        owner: NDArray[np.int64],
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        *,
        nodes: Sequence[str] | None = None,
        weight: Any = None,
        features: Any = None,
        feature_names: Sequence[str] | None = None,
        directed: bool = False,
    ) -> "GraphSet":
        """From flat arrays: the nodes of all graphs numbered together.

        Args:
            ids: G distinct graph ids.
            owner: place in ``ids`` of each node's graph, shape (N,).
            source, target: node numbers of each edge's ends, shape (E,); both ends in one graph.
            nodes: N node ids, distinct within a graph; without them a graph's nodes are ``"0"``, ``"1"``, … as listed.
            weight: (E,) numbers, None for ones.
            features: (N, F).
            feature_names: F names.
            directed: keep the direction of edges.
        """
        if not len(owner):
            raise ArgumentError("graphs", "must have at least one node in all, got none")
        names = _block_ids(ids, owner, _places(owner) if nodes is None else pa.array(nodes, pa.large_string()))
        apart = np.flatnonzero(owner[source] != owner[target])
        if len(apart):
            row = int(apart[0])
            ends = f"{shown(names[int(source[row])].as_py())} to {shown(names[int(target[row])].as_py())}"
            raise RowError(f"an edge must stay within one graph, got one from {ends}", row)
        order = id_order(names)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        values = None if weight is None else check_weights(weight, len(source))
        adjacency, counts = assemble_adjacency(number[source], number[target], values, len(owner), directed)
        block = Graph(_distinct(names.take(pa.array(order))), adjacency, directed=directed, counts=counts)
        if features is not None:
            block = block.with_features(as_features(features)[order], names=feature_names)
        return cls(tuple(ids), block)

    @classmethod
    def from_graphs(cls, graphs: Named) -> "GraphSet":
        """From graphs of any kind, None being one without nodes.

        Args:
            graphs: by id, or in a list, where the ids are ``"0"``, ``"1"``, … A :class:`Graph`, a SciPy matrix, a
                NetworkX graph or a PyG ``Data`` each; see :func:`fdmvgcl.graphs.inputs.as_graph`.
        """
        ids, given = by_id(graphs)
        made = [None if each is None or is_empty(each) else _as_graph(each) for each in given]
        there = [(i, graph) for i, graph in enumerate(made) if graph is not None]
        if not there:
            raise ArgumentError("graphs", "must have at least one node in all, got none")
        parts = [graph for _, graph in there]
        directed = parts[0].directed
        if any(graph.directed != directed for graph in parts):
            raise ArgumentError("graphs", "must all be directed or all undirected")
        first = np.fromiter(accumulate((graph.num_nodes for graph in parts[:-1]), initial=0), np.int64)
        entries = [graph.adjacency.tocoo() for graph in parts]
        source, target = (
            np.concatenate([getattr(e, end) + start for e, start in zip(entries, first, strict=True)])
            for end in ("row", "col")
        )
        kept = slice(None) if directed else source < target
        features, names = stacked(ids, there)
        made_set = cls.from_numbers(
            ids,
            np.repeat([i for i, _ in there], [graph.num_nodes for graph in parts]),
            source[kept],
            target[kept],
            nodes=[node for graph in parts for node in graph.ids],
            weight=np.concatenate([e.data for e in entries])[kept],
            features=features,
            feature_names=names,
            directed=directed,
        )
        return replace(made_set, block=replace(made_set.block, counts=summed([graph.counts for graph in parts])))

    @classmethod
    def from_networkx(
        cls,
        graphs: "Mapping[str, nx.Graph] | Iterable[nx.Graph]",
        *,
        weight: str | None = "weight",
        directed: bool = False,
        features: "Attributes" = (),
    ) -> "GraphSet":
        """From NetworkX graphs, by id or in a list; see :meth:`Graph.from_networkx`.

        Attributes of nodes are encoded together, so that a column means the same in every graph.
        """
        from fdmvgcl.graphs.conversions import of_many_networkx  # it builds graphs, as this module does

        ids, given = by_id(graphs)
        check_each(given, "adj", "a graph of NetworkX")
        there = [(f"{block_prefix(name)}/", graph) for name, graph in zip(ids, given, strict=True) if len(graph)]
        if not there:
            raise ArgumentError("graphs", "must have at least one node in all, got none")
        block = of_many_networkx(there, weight, directed, features)
        return cls(tuple(ids), replace(block, origin=None), block.origin)

    @classmethod
    def from_pyg(cls, graphs: Named, *, directed: bool = False) -> "GraphSet":
        """From PyTorch Geometric ``Data``, by id, in a list, or as a data set; see :meth:`Graph.from_pyg`."""
        ids, given = by_id(graphs)
        check_each(given, "num_nodes", "a Data of PyTorch Geometric")
        made = [Graph.from_pyg(each, directed=directed) if each.num_nodes else None for each in given]
        return cls.from_graphs(dict(zip(ids, made, strict=True)))

    @classmethod
    def from_scipy(
        cls, adjacencies: Named, features: Sequence[Any] | None = None, *, directed: bool = False
    ) -> "GraphSet":
        """From (n, n) SciPy or NumPy adjacencies, by id or in a list, and the (n, F) features of each in their order;
        see :meth:`Graph.from_scipy`."""
        ids, given = by_id(adjacencies)
        check_each(given, "shape", "a matrix")
        tables = [None] * len(given) if features is None else list(features)
        if len(tables) != len(given):
            raise ArgumentError("features", f"must have one table for each of {len(given)} graphs, got {len(tables)}")
        made = [
            Graph.from_scipy(matrix, table, directed=directed) if matrix.shape[0] else None
            for matrix, table in zip(given, tables, strict=True)
        ]
        return cls.from_graphs(dict(zip(ids, made, strict=True)))

    @classmethod
    def from_tu(cls, folder: str | os.PathLike[str]) -> "GraphSet":
        """From a folder of the TU collection's text files; see :func:`fdmvgcl.graphs.readers.tu.read_tu`."""
        from fdmvgcl.graphs.readers.tu import read_tu  # readers build graphs, so they import this module

        return read_tu(folder).graphs

    @classmethod
    def read(
        cls,
        edges: str | os.PathLike[str],
        nodes: str | os.PathLike[str] | None = None,
        *,
        directed: bool = False,
        weight: str | None = None,
        fill_missing: bool = False,
        encoding: str | None = None,
    ) -> "GraphSet":
        """From tables with a column ``graph``; see :func:`fdmvgcl.graphs.readers.many.read_graphs`."""
        from fdmvgcl.graphs.readers.many import read_graphs

        return read_graphs(edges, nodes, directed=directed, weight=weight, fill_missing=fill_missing, encoding=encoding)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the block graph's file with the graphs' ids in it."""
        from fdmvgcl.graphs.graph_file import save_graphs

        save_graphs(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "GraphSet":
        """Read what :meth:`save` wrote; :class:`~fdmvgcl.errors.InputError` for any other file."""
        from fdmvgcl.graphs.graph_file import load_graphs

        return load_graphs(path)

    # -- what there is ------------------------------------------------------------------------------------------------

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """Place in ``ids`` of the graph of each node of the block, shape (N,)."""
        prefixes = pc.list_element(pc.split_pattern(pa.array(self.block.ids, pa.large_string()), "/", max_splits=1), 0)
        found = pc.index_in(prefixes, value_set=_written(self.ids))
        if found.null_count:
            node = self.block.ids[int(np.flatnonzero(np.asarray(pc.is_null(found)))[0])]
            raise ArgumentError("block", f"must name each node as graph/node, got {shown(node)}")
        return np.asarray(found, dtype=np.int64)

    @cached_property
    def marked(self) -> Graph:
        """The block with marks of structure beside its features, or as its features: what a model takes.

        They mean the same in every graph; see :func:`fdmvgcl.graphs.marks.structural_marks`.
        """
        marks = structural_marks(self.block.adjacency, self.owner)
        table, encoding = self.block.features, self.block.encoding
        if table is None:
            return self.block.with_features(marks, names=MARKS)
        known = self.block.feature_names or tuple(f"x{column}" for column in range(self.block.num_features))
        beside = (
            np.concatenate([table, marks], axis=1)
            if isinstance(table, np.ndarray)
            else sparse.csr_array(sparse.hstack([table, sparse.csr_array(marks)]))
        )
        made = self.block.with_features(beside, names=(*known, *MARKS))
        if encoding is None:
            return made
        # The model keeps it with the marks' columns, and encodes the tables of new graphs in the same way.
        whole = Encoding((*encoding.columns, *(Column(name, "number", mean=(0.0,)) for name in MARKS)))
        cells = self.block.feature_table
        for name, mark in zip(MARKS, marks.T, strict=True):
            cells = None if cells is None else cells.append_column(name, pa.array(np.ascontiguousarray(mark)))
        return replace(made, encoding=whole, feature_table=cells)

    @property
    def num_graphs(self) -> int:
        return len(self.ids)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Nodes of each graph, shape (G,)."""
        return np.bincount(self.owner, minlength=self.num_graphs)

    @cached_property
    def edge_counts(self) -> NDArray[np.int64]:
        """Edges of each graph, one of an undirected graph counted once, shape (G,)."""
        ends = np.bincount(self.owner, weights=np.diff(self.block.adjacency.indptr), minlength=self.num_graphs)
        return (ends if self.block.directed else ends / 2).astype(np.int64)

    def __len__(self) -> int:
        return self.num_graphs

    def index(self, graph: str) -> int:
        """Place of the graph with this id; KeyError with near misses if there is none."""
        try:
            return self.ids.index(graph)
        except ValueError:
            raise KeyError(f"no graph has the id {shown(graph)}{near_misses(graph, self.ids[:1000])}") from None

    def graph(self, graph: str) -> Graph | None:
        """One graph, its nodes by their own ids; None if it has no nodes."""
        numbers = np.flatnonzero(self.owner == self.index(graph))
        if not len(numbers):
            return None
        names = [self.block.ids[i].partition("/")[2] for i in numbers]
        part = self.block.adjacency[numbers][:, numbers].tocoo()
        built = Graph.from_edges(
            [names[i] for i in part.row],
            [names[i] for i in part.col],
            weight=part.data,
            nodes=names,
            directed=self.block.directed,
        )
        built = replace(built, counts=Counts())
        if self.block.features is None:
            return built
        rows = self.block.features[numbers]
        return replace(built.with_features(rows, ids=names, names=self.block.feature_names), counts=Counts())

    def take(self, places: NDArray[np.int64]) -> "GraphSet":
        """Some of the graphs, in this order; at least one node among them."""
        chosen = np.zeros(self.num_graphs, dtype=bool)
        chosen[places] = True
        numbers = np.flatnonzero(chosen[self.owner])
        if not len(numbers):
            raise ArgumentError("graphs", "must have at least one node in all, got none")
        cells = self.block.feature_table
        # What is left of a block graph in node order is in node order: its ids hold a slash, so they sort as text.
        block = Graph(
            tuple(self.block.ids[i] for i in numbers),
            canonical_csr(self.block.adjacency[numbers][:, numbers], np.float64),
            None if self.block.features is None else self.block.features[numbers],
            self.block.feature_names,
            self.block.directed,
            encoding=self.block.encoding,
            feature_table=None if cells is None else cells.take(pa.array(numbers)),
        )
        return GraphSet(tuple(self.ids[i] for i in places), block)

    def batches(self, nodes: int) -> Iterator[tuple[NDArray[np.int64], "GraphSet"]]:
        """The graphs that have nodes, a few at a time: their places, and a set of them with about so many nodes.

        A graph is never cut; one that is larger is a batch of its own.
        """
        places = np.flatnonzero(self.sizes)
        number = (np.cumsum(self.sizes[places]) - self.sizes[places]) // nodes
        for part in np.split(places, np.flatnonzero(np.diff(number)) + 1):
            yield part, self if len(part) == self.num_graphs else self.take(part)

    def describe(self) -> str:
        """One line: ``188 graphs, 3 371 nodes, 3 721 edges, undirected, unweighted, 7 features``."""
        empty = int((self.sizes == 0).sum())
        without = f" ({counted(empty, 'of them')} without nodes)" if empty else ""
        return f"{counted(self.num_graphs, 'graph', 'graphs')}{without}, {self.block.describe()}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was understood, dropped, merged and filled."""
        return (() if self.origin is None else self.origin.notes) + self.block.notes

    def __repr__(self) -> str:
        return f"GraphSet({self.describe()})"


def block_prefix(graph: str) -> str:
    """How a graph's id is written in the ids of the block's nodes: no slash is left in it."""
    return graph.replace("%", "%25").replace("/", "%2F")


def _written(ids: Sequence[str]) -> pa.Array:
    return pa.array([block_prefix(graph) for graph in ids], pa.large_string())


def _block_ids(ids: Sequence[str], owner: NDArray[np.int64], nodes: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(_written(ids).take(pa.array(owner)), nodes, pa.scalar("/", pa.large_string()))


def _places(owner: NDArray[np.int64]) -> pa.Array:
    """Each node's place among those of its graph, as text."""
    order = np.argsort(owner, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(owner[order])) + 1])
    lengths = np.diff([*starts, len(owner)])
    places = np.empty(len(owner), dtype=np.int64)
    places[order] = np.arange(len(owner)) - np.repeat(starts, lengths)
    return pc.cast(pa.array(places), pa.large_string())


def _distinct(names: pa.Array) -> tuple[str, ...]:
    """Sorted names, of which no two may be the same."""
    texts = names.to_pylist()
    twice = next((first for first, second in pairwise(texts) if first == second), None)
    if twice is not None:
        raise ArgumentError("nodes", f"must be distinct within a graph, got {shown(twice)} twice")
    return tuple(texts)


def _as_graph(graph: Any) -> Graph:
    from fdmvgcl.graphs.inputs import as_graph  # it takes GraphSets too, so it imports this module

    return as_graph(graph)
