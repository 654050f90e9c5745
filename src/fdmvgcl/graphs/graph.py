"""Graph: the library's one graph type. Ids, edges, weights and features, in an order that is the graph's own."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, UserError, shown
from fdmvgcl.graphs.arrays import (
    Features,
    as_features,
    assemble_adjacency,
    check_weights,
    is_table,
    take_rows,
)
from fdmvgcl.graphs.encoding import Encoding, Kind
from fdmvgcl.graphs.matching import matched
from fdmvgcl.graphs.node_ids import ArrowIds, Ids, Places, encode_ids
from fdmvgcl.graphs.provenance import Counts, Origin, counted

if TYPE_CHECKING:
    import igraph
    import networkx as nx
    import torch

    from fdmvgcl.graphs.conversions import Attributes
    from fdmvgcl.graphs.operators import Normalisation, Operator


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with named nodes. Treat its arrays as read-only.

    - Ids are strings exactly as written. Nodes are ordered as numbers if all ids are canonical integers (``0``, ``17``,
      ``-3``; not ``007``, ``+1`` or ``-0``), else by code point: however it is listed, a graph has the same arrays.
    - An edge listed more than once (if undirected, in either direction) counts once, with its largest weight.
    - Self-loops are dropped and their nodes kept, because the operator adds its own. So are edges of weight 0.
    - Weights are finite and not negative. Nodes without edges are kept.
    - Directed input is made undirected, unless ``directed=True``.

    Args:
        ids: N distinct node ids, in node order: a tuple, or of a graph in a store what reads like one.
        adjacency: (N, N) float64; entry [i, j] is the weight of the edge from i to j. Symmetric unless ``directed``.
        features: (N, F) float32, dense or sparse (see :func:`~fdmvgcl.graphs.arrays.as_features`), or None.
        feature_names: F names, or None.
        directed: whether the direction of edges was kept.
        counts: what was dropped or merged on the way in.
        origin: how a file was understood, None for a graph that was not read from one.
        encoding: what was done to the columns of a table to make ``features`` of it; None where they came as numbers.
        feature_table: the table's own columns, rows in node order, where they are more than numbers: a model encodes
            them the way it was trained. Not kept by :meth:`save`.
    """

    ids: Ids
    adjacency: sparse.csr_array
    features: Features | None = None
    feature_names: tuple[str, ...] | None = None
    directed: bool = False
    counts: Counts = field(default=Counts())
    origin: Origin | None = None
    encoding: Encoding | None = None
    feature_table: pa.Table | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        if n == 0:
            raise ArgumentError("ids", "must hold at least one node, got none")
        if self.adjacency.shape != (n, n):
            raise ArgumentError("adjacency", f"must have shape ({n}, {n}) to match ids, got {self.adjacency.shape}")
        if self.features is not None and self.features.shape[0] != n:
            raise ArgumentError("features", f"must have {n} rows to match ids, got {self.features.shape[0]}")
        if self.feature_table is not None and self.feature_table.num_rows != n:
            raise ArgumentError("feature_table", f"must have {n} rows, got {self.feature_table.num_rows}")
        if self.feature_names is not None and len(self.feature_names) != self.num_features:
            raise ArgumentError("feature_names", f"must hold {self.num_features} names, got {len(self.feature_names)}")

    @classmethod
    def from_edges(
        cls,
        edges: Any = None,
        target: Any = None,
        *,
        source: Any = None,
        weight: Any = None,
        nodes: Any = None,
        features: Any = None,
        feature_ids: Any = None,
        feature_names: Sequence[str] | None = None,
        fill_missing: bool = False,
        directed: bool = False,
        repeated: str = "max",
        since: str | None = None,
        until: str | None = None,
        half_life: str | None = None,
    ) -> "Graph":
        """A graph from its edges: ``from_edges(frame)``, or ``from_edges(sources, targets)``.

        Args:
            edges: a table with a row an edge that speaks Arrow (pandas, Polars, pyarrow). Or the ids of the edges'
                sources, shape (E,): strings or integers, as sequence, NumPy or Arrow array.
            source, target, weight: of a table, the names of its columns; those not given are recognised as in files
                (see :mod:`fdmvgcl.graphs.readers.header`), or asked for. Else ids of the ends, (E,), and (E,) numbers,
                None for ones.
            nodes: ids that are nodes even if no edge names them.
            features: (M, F), row r belonging to ``feature_ids[r]``; or a table, see :meth:`with_features`.
            feature_ids: M distinct ids, in any order; ``nodes`` if not given. Those without edges become nodes too.
            feature_names, fill_missing: as for :meth:`with_features`.
            directed: keep the direction of edges.
            repeated: what an edge that is listed more than once weighs: the ``"max"``, ``"sum"`` or ``"count"`` of its
                weights, or the ``"first"``.
            since, until, half_life: of a table with a column ``time`` or ``timestamp``, which edges count, and for how
                much; see :class:`fdmvgcl.graphs.temporal.Window`.
        """
        how = {"nodes": nodes, "directed": directed, "repeated": repeated}
        times = (since, until, half_life)
        if is_table(edges):
            from fdmvgcl.graphs.readers.edges import EdgeColumns, table_graph  # readers build graphs

            graph = table_graph(edges, EdgeColumns(source, target, weight), times, **how)
        else:
            if (edges is None) == (source is None):
                raise ArgumentError("edges", "must be a table, or ids of the edges' sources beside target")
            if any(time is not None for time in times):
                raise ArgumentError("edges", "must be a table with a column time, as a time is asked for")
            graph = cls._from_ends(edges if source is None else source, target, weight, **how)
        if features is None:
            return graph
        row_ids = nodes if feature_ids is None and not is_table(features) else feature_ids
        if row_ids is None and not is_table(features):
            raise ArgumentError("feature_ids", "must name the node of each row of features, got None")
        return graph.with_features(features, ids=row_ids, names=feature_names, fill_missing=fill_missing)

    @classmethod
    def _from_ends(cls, source: Any, target: Any, weight: Any, *, nodes: Any, directed: bool, repeated: str) -> "Graph":
        if target is None:
            raise ArgumentError("target", "must hold the other end of each edge, got None")
        columns = {"source": source, "target": target, **({} if nodes is None else {"nodes": nodes})}
        (tails, heads, *_), ids = encode_ids(columns)
        if len(tails) != len(heads):
            raise UserError(f"source and target must have the same length, got {len(tails)} and {len(heads)}")
        return cls.from_numbers(ids, tails, heads, weight, directed, repeated)

    @classmethod
    def from_numbers(
        cls,
        ids: tuple[str, ...],
        source: NDArray[Any],
        target: NDArray[Any],
        weight: Any = None,
        directed: bool = False,
        repeated: str = "max",
    ) -> "Graph":
        """A graph from numbers (E,) of nodes whose ``ids`` are in node order already."""
        values = None if weight is None else check_weights(weight, len(source))
        adjacency, counts = assemble_adjacency(source, target, values, len(ids), directed, repeated)
        return cls(ids, adjacency, directed=directed, counts=counts)

    @classmethod
    def from_pyg(cls, data: Any, *, directed: bool = False) -> "Graph":
        """From PyTorch Geometric: a ``Data``, or a ``HeteroData``, whose types become one graph.

        Weights are a one-dimensional ``edge_weight`` or ``edge_attr`` (one of more dimensions is left out).

        - Of a ``Data``, ids are ``"0"``, ``"1"``, … and features ``x``.
        - Of a ``HeteroData``, ids are ``"paper/0"``, ``"author/0"``, …; edges are those of all types. Features are a
          column of ones for each type of nodes, and columns of their own for the ``x`` of each: what two types call
          ``x`` need not mean the same. Weights are taken if every type of edges has them.
        """
        from fdmvgcl.graphs.conversions import of_pyg  # it builds graphs, so it imports this module

        return of_pyg(data, directed)

    @classmethod
    def from_networkx(
        cls,
        graph: "nx.Graph",
        *,
        weight: str | None = "weight",
        directed: bool = False,
        repeated: str = "max",
        features: "Attributes" = (),
    ) -> "Graph":
        """From a NetworkX graph; a node's id is ``str(node)``.

        The edge attribute ``weight``, where there is one, must be on every edge. Parallel edges are merged as
        ``repeated`` says, see :meth:`from_edges`. With ``directed=True`` the edges of an undirected graph run both
        ways. Attributes of nodes that ``features`` names, or ``"all"``, are features, encoded as those of a table
        (see :mod:`fdmvgcl.graphs.encoding`); others are left out, and :attr:`notes` say so.
        """
        from fdmvgcl.graphs.conversions import of_networkx

        return of_networkx(graph, weight, directed, repeated, features)

    @classmethod
    def from_igraph(
        cls,
        graph: "igraph.Graph",
        *,
        weight: str | None = "weight",
        directed: bool = False,
        repeated: str = "max",
        features: "Attributes" = (),
    ) -> "Graph":
        """From a graph of python-igraph; a node's id is its attribute ``name``, else its number.

        The rest as for :meth:`from_networkx`.
        """
        from fdmvgcl.graphs.conversions import of_igraph

        return of_igraph(graph, weight, directed, repeated, features)

    @classmethod
    def from_scipy(cls, adjacency: Any, features: Any = None, *, ids: Any = None, directed: bool = False) -> "Graph":
        """From an (N, N) SciPy sparse (or dense NumPy) adjacency.

        Entries stored twice are summed, as SciPy means them. Of an asymmetric pair the larger counts.

        Args:
            adjacency: weights, row to column.
            features: (N, F), rows in the adjacency's order.
            ids: N distinct ids of its rows; ``"0"``, ``"1"``, … if not given.
            directed: keep the direction of edges.
        """
        from fdmvgcl.graphs.conversions import of_scipy

        return of_scipy(adjacency, features, ids, directed)

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        features: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> "Graph":
        """From files; ``options`` are those of :func:`fdmvgcl.graphs.readers.read_graph`."""
        from fdmvgcl.graphs.readers import read_graph  # readers build graphs, so they import this module

        return read_graph(path, features=features, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph as an ``.npz`` without pickle, aside and renamed; the same graph gives the same bytes.

        ``counts`` and ``origin`` tell of the input, not of the graph, and are not kept.
        """
        from fdmvgcl.graphs.graph_file import save_graph  # it builds graphs, so it imports this module

        save_graph(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Graph":
        """Read what :meth:`save` wrote; :class:`~fdmvgcl.errors.InputError` for any other file."""
        from fdmvgcl.graphs.graph_file import load_graph

        return load_graph(path)

    def with_features(
        self,
        features: Any,
        *,
        ids: Any = None,
        names: Sequence[str] | None = None,
        fill_missing: bool = False,
        encoding: Encoding | None = None,
    ) -> "Graph":
        """The same graph with a feature table.

        Args:
            features: (M, F) real, finite numbers, dense or sparse, whose rows belong to ``ids``; or a table of columns
                of any kind that speaks Arrow (pandas, Polars, pyarrow).
            ids: M distinct ids that the rows belong to, in any order. None if the rows of numbers are in node order;
                those of a table then belong to its column ``id``, or to the index of a data frame that has none.
                Ids that are no node yet are added as nodes without edges; an index must name nodes alone.
            names: F column names of numbers.
            fill_missing: let nodes have no row, instead of refusing: they get zeros, or the mean of a table's columns.
            encoding: how a table's columns become numbers, as ``encoding`` of another graph says; None tells it from
                the columns.
        """
        if is_table(features):
            from fdmvgcl.graphs.feature_tables import with_table  # it builds graphs, so it imports this module

            return with_table(self, features, ids, fill_missing=fill_missing, encoding=encoding)
        table = as_features(features)
        feature_names = None if names is None else tuple(names)
        if ids is None:
            return self._with_encoded(table, feature_names)
        graph, rows = matched(self, ids, table.shape[0], fill_missing)
        return graph._with_encoded(take_rows(table, rows), feature_names)

    def _with_encoded(
        self,
        features: Features | None,
        names: tuple[str, ...] | None,
        encoding: Encoding | None = None,
        table: pa.Table | None = None,
    ) -> "Graph":
        return replace(self, features=features, feature_names=names, encoding=encoding, feature_table=table)

    def encoded(self, encoding: Encoding) -> "Graph":
        """The same graph, its table of features encoded in another way: as a model was trained on."""
        if self.features is None or self.encoding == encoding:
            return self
        from fdmvgcl.graphs.feature_tables import encoded_again

        return encoded_again(self, encoding)

    def without_features(self) -> "Graph":
        """The edges alone."""
        return replace(self, features=None, feature_names=None, encoding=None)

    @property
    def num_nodes(self) -> int:
        return len(self.ids)

    @property
    def num_edges(self) -> int:
        """Edges; one of an undirected graph counts once."""
        return int(self.adjacency.nnz) // (1 if self.directed else 2)

    @property
    def num_features(self) -> int:
        return 0 if self.features is None else self.features.shape[1]

    @property
    def feature_kinds(self) -> tuple[Kind, ...] | None:
        """What each column of the features is, (F,); None where they came as numbers without a table."""
        return None if self.encoding is None else self.encoding.kinds

    @cached_property
    def weighted(self) -> bool:
        """Whether any edge has a weight other than 1."""
        return bool((self.adjacency.data != 1).any())

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Sum of the weights of the edges that leave each node, shape (N,)."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64)

    @cached_property
    def isolated(self) -> NDArray[np.int64]:
        """Numbers of the nodes without edges."""
        touched = np.diff(self.adjacency.indptr) > 0
        touched[self.adjacency.indices] = True
        return np.flatnonzero(~touched)

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same ids, edges, weights and features, and no others."""
        from fdmvgcl.graphs.fingerprint import fingerprint  # it knows graphs, so it imports this module

        return fingerprint(self)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        if isinstance(self.ids, ArrowIds):
            return Places(self.ids)
        return {node: number for number, node in enumerate(self.ids)}

    def index(self, node: str) -> int:
        """Number of the node with this id; KeyError if there is none."""
        try:
            return self._numbers[node]
        except KeyError:
            raise KeyError(f"no node has the id {shown(node)}") from None

    def operator(
        self, normalisation: "Normalisation | None" = None, self_loops: float = 0.0, dtype: "torch.dtype | None" = None
    ) -> "Operator":
        """The normalised adjacency, computed in float64 and stored in ``dtype`` (float32 if not given).

        ``normalisation`` is ``"sym"``, or ``"rw"`` for a directed graph, if not given.
        """
        import torch  # late, so that reading and describing a graph needs no torch

        from fdmvgcl.graphs.operators import Operator

        if not self.directed and not self_loops:
            return Operator.from_adjacency(self.adjacency, normalisation or "sym", dtype or torch.float32)
        entries = self.adjacency.tocoo()
        edge_index = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
        operator = Operator.from_edges(
            edge_index,
            torch.tensor(entries.data),
            self.num_nodes,
            normalisation=normalisation or ("rw" if self.directed else "sym"),
            self_loops=self_loops,
            directed=self.directed,
        )
        return operator.to(dtype=dtype or torch.float32)

    def describe(self) -> str:
        """One line: ``2 708 nodes, 5 278 edges, undirected, unweighted, 1 433 features``."""
        isolated = f" ({counted(len(self.isolated), 'isolated')})" if len(self.isolated) else ""
        parts = [
            counted(self.num_nodes, "node", "nodes") + isolated,
            counted(self.num_edges, "edge", "edges"),
            "directed" if self.directed else "undirected",
            "weighted" if self.weighted else "unweighted",
            counted(self.num_features, "feature", "features") if self.features is not None else "no features",
        ]
        if self.origin is not None and self.origin.ids_from is not None:
            parts.append(self.origin.ids_from)
        return ", ".join(parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was understood, dropped, merged and filled; empty if there is nothing to say."""
        read = () if self.origin is None else self.origin.notes
        return read + self.counts.notes + (() if self.encoding is None else self.encoding.notes)

    def __repr__(self) -> str:
        return f"Graph({self.describe()})"
