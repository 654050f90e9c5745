"""Graphs of other libraries as a :class:`~fdmvgcl.graphs.graph.Graph`: NetworkX, igraph, SciPy, PyTorch Geometric."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from fdmvgcl.errors import ArgumentError, UserError, near_misses, shown
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.matching import check_distinct
from fdmvgcl.graphs.node_ids import encode_ids
from fdmvgcl.graphs.provenance import SYMMETRISED, Origin

if TYPE_CHECKING:
    import torch

# Names of the attributes of nodes that are taken as features.
Attributes = Sequence[str] | Literal["all"]
_MOST_TOLD = 8


def of_networkx(given: Any, weight: str | None, directed: bool, repeated: str, features: Attributes) -> Graph:
    """See :meth:`Graph.from_networkx`."""
    return _listed(given, weight).graph(directed, repeated, features)


def of_many_networkx(
    given: Sequence[tuple[str, Any]], weight: str | None, directed: bool, features: Attributes
) -> Graph:
    """Graphs as one, which no edge joins; each comes with what the ids of its nodes begin with."""
    parts = [(prefix, _listed(graph, weight)) for prefix, graph in given]
    if any("" in part.ids for _, part in parts):
        raise ArgumentError("nodes", "must not be empty")
    attributes: dict[str, list[Any]] = {name: [] for _, part in parts for name in part.attributes}
    ids, source, target, weights = list[str](), list[str](), list[str](), list[Any]()
    for prefix, part in parts:
        both = directed and not part.one_way
        ids += [prefix + node for node in part.ids]
        source += [prefix + node for node in part.source + part.target * both]
        target += [prefix + node for node in part.target + part.source * both]
        weights += (part.weights or [1.0] * len(part.source)) * (1 + both)
        for name, values in attributes.items():
            values += part.attributes.get(name, [None] * len(part.ids))
    weighted = any(part.weights is not None for _, part in parts)
    one_way = directed or any(part.one_way for _, part in parts)
    together = _Listed("NetworkX", ids, source, target, weight, weights if weighted else None, one_way, attributes)
    return together.graph(directed, "max", features)


def _check_library(given: Any, library: str, method: str) -> None:
    """Refuse what has not the method that graphs of a library have."""
    if not hasattr(given, method):
        raise ArgumentError("graph", f"must be a graph of {library}, got {shown(given)}")


def _listed(given: Any, weight: str | None) -> "_Listed":
    _check_library(given, "NetworkX", "adjacency")
    ids = [str(node) for node in given.nodes]
    check_distinct(ids, "nodes, written as strings,")
    edges = [(str(tail), str(head), data) for tail, head, data in given.edges(data=True)]
    source, target = [edge[0] for edge in edges], [edge[1] for edge in edges]
    weights = None
    if weight is not None and any(weight in data for *_, data in edges):
        weights = [data.get(weight) for *_, data in edges]
    names = dict.fromkeys(str(name) for _, data in given.nodes(data=True) for name in data)
    rows = [{str(name): value for name, value in data.items()} for _, data in given.nodes(data=True)]
    attributes = {name: [row.get(name) for row in rows] for name in names}
    return _Listed("NetworkX", ids, source, target, weight, weights, given.is_directed(), attributes)


def of_igraph(given: Any, weight: str | None, directed: bool, repeated: str, features: Attributes) -> Graph:
    """See :meth:`Graph.from_igraph`."""
    _check_library(given, "igraph", "get_edgelist")
    attributes = {name: list(given.vs[name]) for name in given.vs.attributes()}
    named = attributes.pop("name", None)
    ids = [str(name) for name in (range(given.vcount()) if named is None else named)]
    check_distinct(ids, "names of nodes, written as strings,")
    ends = given.get_edgelist()
    source, target = [ids[tail] for tail, _ in ends], [ids[head] for _, head in ends]
    weights = given.es[weight] if weight is not None and weight in given.es.attributes() else None
    listed = _Listed("igraph", ids, source, target, weight, weights, given.is_directed(), attributes)
    return listed.graph(directed, repeated, features)


class _Listed:
    """Nodes and edges in lists, attributes beside them."""

    def __init__(
        self,
        library: str,
        ids: list[str],
        source: list[str],
        target: list[str],
        weight: str | None,
        weights: list[Any] | None,
        one_way: bool,
        attributes: dict[str, list[Any]],
    ) -> None:
        self.library, self.ids, self.one_way, self.attributes = library, ids, one_way, attributes
        self.source, self.target, self.weight, self.weights = source, target, weight, weights
        for tail, head, value in zip(source, target, weights or (), strict=weights is not None):
            if value is None:
                raise UserError(f"{weight!r} must be on every edge or on none, got none on {tail!r}, {head!r}")

    def graph(self, directed: bool, repeated: str, features: Attributes) -> Graph:
        wanted = list(self.attributes) if isinstance(features, str) and features == "all" else _named(features)
        for name in wanted:
            if name not in self.attributes:
                rule = f"must name attributes of the nodes, got {shown(name)}"
                raise ArgumentError("features", f"{rule}{near_misses(name, self.attributes)}")
        source, target, weights = self.source, self.target, self.weights
        if directed and not self.one_way:
            source, target = source + target, target + source
            weights = None if weights is None else weights + weights
        built = Graph.from_edges(source, target, weight=weights, nodes=self.ids, directed=directed, repeated=repeated)
        if wanted:
            built = built.with_features(_columns(self.attributes, wanted), ids=self.ids)
        remarks: tuple[str, ...] = (SYMMETRISED,) if self.one_way and not directed else ()
        left = [name for name in self.attributes if name not in wanted]
        if left:
            more = f" and {len(left) - _MOST_TOLD} more" if len(left) > _MOST_TOLD else ""
            named = ", ".join(f"`{name}`" for name in left[:_MOST_TOLD])
            remarks += (f'attributes of nodes left out: {named}{more} (take them with features=[…], or "all")',)
        used = None if weights is None else self.weight
        return replace(built, origin=Origin(self.library, weight=used, remarks=remarks))


def _named(features: Attributes) -> list[str]:
    if isinstance(features, str) or not all(isinstance(name, str) for name in features):
        raise ArgumentError("features", f'must be names of node attributes, or "all", got {shown(features)}')
    return list(features)


def _columns(attributes: dict[str, list[Any]], wanted: Sequence[str]) -> pa.Table:
    columns = {}
    for name in wanted:
        values = [value.tolist() if isinstance(value, np.ndarray) else value for value in attributes[name]]
        try:
            columns[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            reason = (str(error).splitlines() or [""])[0][:120]
            rule = f"attribute {shown(name)} of the nodes must hold values of one kind ({reason})"
            raise ArgumentError("features", rule) from None
    return pa.table(columns)


def of_scipy(adjacency: Any, features: Any, ids: Any, directed: bool) -> Graph:
    """See :meth:`Graph.from_scipy`."""
    matrix = sparse.csr_array(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError("adjacency", f"must be square, got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ArgumentError("adjacency", f"must hold real numbers, got {matrix.dtype}")
    matrix = matrix.copy()
    matrix.sum_duplicates()
    entries, count = matrix.tocoo(), matrix.shape[0]
    places, known = np.arange(count), numbered(count)
    if ids is not None:
        (places,), known = encode_ids({"ids": ids})
        if len(places) != count:
            raise ArgumentError("ids", f"must have one id for each of {count} nodes, got {len(places)}")
        if len(known) < count:
            check_distinct([known[place] for place in places], "ids")
    graph = _told_both_ways(Graph.from_numbers(known, places[entries.row], places[entries.col], entries.data, directed))
    return graph if features is None else graph.with_features(features, ids=ids)


def _told_both_ways(graph: Graph) -> Graph:
    """Where every edge is listed in both directions, as a symmetric matrix has it, that is nothing to tell of."""
    symmetric = graph.counts.reciprocal == graph.num_edges
    return replace(graph, counts=replace(graph.counts, reciprocal=0)) if symmetric else graph


def numbered(count: int) -> tuple[str, ...]:
    """The ids of nodes without names: ``"0"``, ``"1"``, …"""
    return tuple(map(str, range(count)))


# -- PyTorch Geometric ------------------------------------------------------------------------------------------------


def of_pyg(data: Any, directed: bool) -> Graph:
    """See :meth:`Graph.from_pyg`."""
    if hasattr(data, "node_types") and hasattr(data, "edge_types"):
        return _of_types(data, directed)
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise ArgumentError("data", "must have an edge_index, got none")
    count = int(data.num_nodes)
    source, target = _ends(edge_index, count, count)
    graph = _told_both_ways(Graph.from_numbers(numbered(count), source, target, _weight(data), directed))
    x = getattr(data, "x", None)
    return graph if x is None else graph.with_features(_from_tensor(x))


def _ends(edge_index: "torch.Tensor", sources: int, targets: int) -> NDArray[np.int64]:
    """Node numbers (2, E), within what there is."""
    ends = np.asarray(edge_index.detach().cpu(), dtype=np.int64)
    for numbers, count in zip(ends, (sources, targets), strict=True):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < count:
            raise ArgumentError("edge_index", f"must hold node numbers from 0 to {count - 1}, got others")
    return ends


def _weight(store: Any) -> NDArray[Any] | None:
    """One-dimensional ``edge_weight`` or ``edge_attr``."""
    found = (getattr(store, name, None) for name in ("edge_weight", "edge_attr"))
    weight = next((each for each in found if each is not None and each.dim() == 1), None)
    return None if weight is None else np.asarray(weight.detach().cpu())


def _of_types(data: Any, directed: bool) -> Graph:
    """All types of nodes as one graph; see :meth:`Graph.from_pyg`."""
    types = list(data.node_types)
    if not types or not data.edge_types:
        raise ArgumentError("data", "must have nodes and an edge_index, got none")
    counts = [int(data[kind].num_nodes) for kind in types]
    first = dict(zip(types, np.cumsum([0, *counts[:-1]]).tolist(), strict=True))
    size = dict(zip(types, counts, strict=True))
    parts, weights = [], []
    for tail, relation, head in data.edge_types:
        store = data[tail, relation, head]
        ends = _ends(store.edge_index, size[tail], size[head])
        parts.append(ends + np.array([[first[tail]], [first[head]]]))
        weights.append(_weight(store))
    weighted = all(weight is not None for weight in weights)
    ids = [f"{kind}/{number}" for kind in types for number in range(size[kind])]
    (places,), known = encode_ids({"ids": ids})
    source, target = places[np.concatenate(parts, axis=1)]
    values = np.concatenate([weight for weight in weights if weight is not None]) if weighted else None
    graph = Graph.from_numbers(known, source, target, values, directed)
    remarks = [f"{len(types)} types of nodes in one graph: {', '.join(types)}"]
    if not weighted and any(weight is not None for weight in weights):
        remarks.append("weights left out: not every type of edges has them")
    features, names = _columns_of_types(data, types, counts)
    graph = graph.with_features(features, ids=ids, names=names)
    return replace(graph, origin=Origin("PyTorch Geometric", remarks=tuple(remarks)))


def _columns_of_types(data: Any, types: list[str], counts: list[int]) -> tuple[sparse.csr_array, list[str]]:
    """A column for each type, 1 on its nodes, and columns of its own for the ``x`` of each, 0 on all others."""
    blocks, names = [], [f"type={kind}" for kind in types]
    for kind, count in zip(types, counts, strict=True):
        x = getattr(data[kind], "x", None)
        blocks.append(sparse.csr_array((count, 0)) if x is None else sparse.csr_array(_from_tensor(x)))
        names += [f"{kind}.x[{column}]" for column in range(blocks[-1].shape[1])]
    kinds = np.repeat(np.arange(len(types)), counts)
    marks = sparse.csr_array((np.ones(len(kinds), np.float32), (np.arange(len(kinds)), kinds)))
    own = sparse.block_diag([sparse.coo_array(block) for block in blocks])
    return sparse.csr_array(sparse.hstack([marks, own])), names


def _from_tensor(x: "torch.Tensor") -> Any:
    """A dense or sparse tensor (N, F) as NumPy array or SciPy matrix."""
    import torch

    x = x.detach().cpu().to(torch.float32)  # NumPy has no bfloat16
    if x.layout == torch.strided:
        return np.asarray(x)
    x = x.to_sparse_coo().coalesce()
    return sparse.coo_array((np.asarray(x.values()), tuple(np.asarray(x.indices()))), shape=tuple(x.shape))
