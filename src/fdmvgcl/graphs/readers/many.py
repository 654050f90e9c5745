"""Tables of many graphs: edges and nodes with a column ``graph``."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fdmvgcl.errors import InputError, RowError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.collection import GraphSet, block_prefix
from fdmvgcl.graphs.feature_tables import with_table
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.node_ids import encode_ids
from fdmvgcl.graphs.provenance import Origin
from fdmvgcl.graphs.readers.edges import PAIRS, WEIGHT_RULE, find_ends, find_weight
from fdmvgcl.graphs.readers.tables import Table, open_table

GRAPH, NODE = "graph", "id"
_EDGES = [frozenset({GRAPH}), *(frozenset(pair) for pair in PAIRS)]
_NODES = [frozenset({GRAPH, NODE}), frozenset({GRAPH}), frozenset({NODE})]


def read_graphs(
    edges: StrPath,
    nodes: StrPath | None = None,
    *,
    directed: bool = False,
    weight: str | None = None,
    fill_missing: bool = False,
    encoding: str | None = None,
) -> GraphSet:
    """Graphs from a table of edges, and perhaps one of nodes; the same graphs in any format give the same arrays.

    Graphs come in the order that nodes have in a Graph: as numbers if all ids are canonical integers, else by code
    point. Both files have a header (Parquet always has).

    Args:
        edges: columns ``graph``, source/target (or src/dst, from/to), perhaps a weight. Node ids are those within a
            graph. Without the column ``graph`` they are ids of the node table, where each stands once.
        nodes: columns ``graph``, ``id`` and others of any kind, the features (:mod:`fdmvgcl.graphs.encoding`). Nodes
            without edges, and graphs without, are here.
        directed: keep the direction of edges.
        weight: the column of the weights; ``weight``, if there is one, when not given.
        fill_missing: let nodes have no row of features: all their cells are blank.
        encoding: of text; None is UTF-8, or what a byte-order mark says.
    """
    edge_table = open_table(edges, _EDGES, "graph, source and target", encoding=encoding)
    node_table = None if nodes is None else open_table(nodes, _NODES, "graph and id", encoding=encoding)
    ends, graph = find_ends(edge_table), edge_table.find(GRAPH)
    column = find_weight(edge_table, weight)
    if node_table is not None:
        _require(node_table, GRAPH)
    elif graph is None:
        raise edge_table.error(f"must have a column {GRAPH}, or a node table beside it that has")
    elif not edge_table.num_rows:
        raise edge_table.error("holds no edges, and no node table is beside it")
    weights = None if column is None else edge_table.numbers([column], WEIGHT_RULE)[:, 0]
    if graph is not None:
        keys = [_keys(edge_table, graph, end) for end in ends]
    else:
        assert node_table is not None
        keys = _keys_by_node(edge_table, ends, node_table)
    used = {graph, *ends, column}
    origin = Origin(
        edge_table.format,
        source=edge_table.names[ends[0]],
        target=edge_table.names[ends[1]],
        header=edge_table.header,
        weight=None if column is None else edge_table.names[column],
        ignored=tuple(name for i, name in enumerate(edge_table.names) if i not in used),
        remarks=edge_table.remarks,
    )
    try:
        listed = None if node_table is None else _keys(node_table, _require(node_table, GRAPH), _node(node_table))
        block = Graph.from_edges(*keys, weight=weights, nodes=listed, directed=directed)
    except RowError as error:
        raise edge_table.error(error.rule, error.row) from None
    except InputError:
        raise
    except UserError as error:
        raise edge_table.error(str(error)) from None
    if node_table is not None:
        assert listed is not None
        block = _described(block, node_table, listed, fill_missing)
    written = pc.list_element(pc.split_pattern(pa.array(block.ids, pa.large_string()), "/", max_splits=1), 0)
    _, prefixes = encode_ids({GRAPH: written})
    names = [prefix.replace("%2F", "/").replace("%25", "%") for prefix in prefixes]
    _, ids = encode_ids({GRAPH: names})
    return GraphSet(ids, block, origin)


def _require(table: Table, name: str) -> int:
    found = table.find(name)
    if found is None:
        raise table.error(f"must have a column {name}")
    return found


def _node(table: Table) -> int:
    """The column of node ids: ``id``, else the first that is not ``graph``."""
    found = table.find(NODE)
    if found is not None:
        return found
    return 1 if table.find(GRAPH) == 0 else 0


def _keys(table: Table, graph: int, node: int) -> pa.Array:
    """``graph/node`` of each row, as the block of a GraphSet has it."""
    graphs, known = table.encoded(graph, GRAPH)
    nodes, names = table.encoded(node, table.names[node])
    prefixes = pa.array([block_prefix(each) for each in known], pa.large_string()).take(pa.array(graphs))
    own = pa.array(names, pa.large_string()).take(pa.array(nodes))
    return pc.binary_join_element_wise(prefixes, own, pa.scalar("/", pa.large_string()))


def _keys_by_node(edges: Table, ends: tuple[int, int], nodes: Table) -> list[pa.Array]:
    """The same where only the node table tells which graph a node is of."""
    try:
        ids = pa.array(nodes.ids(_node(nodes)), pa.large_string())
    except InputError as error:
        raise edges.error(f"must have a column {GRAPH}, as ids of nodes do not tell it: {error}") from None
    graphs, known = nodes.encoded(_require(nodes, GRAPH), GRAPH)
    keys = _keys(nodes, _require(nodes, GRAPH), _node(nodes))
    rows = []
    for end in ends:
        codes, names = edges.encoded(end, edges.names[end])
        found = pc.index_in(pa.array(names, pa.large_string()), value_set=ids)
        if found.null_count:
            missing = np.flatnonzero(np.asarray(pc.is_null(found)))
            row = int(np.flatnonzero(np.isin(codes, missing))[0])
            raise edges.error(f"{shown(names[codes[row]])} must be a node of {nodes.path}, which has no such id", row)
        rows.append(np.asarray(found, dtype=np.int64)[codes])
    apart = np.flatnonzero(graphs[rows[0]] != graphs[rows[1]])
    if len(apart):
        row = int(apart[0])
        pair = " and ".join(shown(known[graphs[side[row]]]) for side in rows)
        raise edges.error(f"an edge must stay within one graph, got one between the graphs {pair}", row)
    return [keys.take(pa.array(side)) for side in rows]


def _described(block: Graph, table: Table, keys: pa.Array, fill_missing: bool) -> Graph:
    """The block with the node table's other columns as features, if it has any."""
    used = {_require(table, GRAPH), _node(table)}
    columns = [i for i in range(len(table.names)) if i not in used]
    if not columns:
        _check_once(table, keys)
        return block
    cells = pa.table(table.values(columns), names=[table.names[i] for i in columns])
    try:
        made = with_table(
            block,
            cells,
            keys,
            fill_missing=fill_missing,
            decimal_comma=table.decimal_comma,
            where=table.where,
        )
    except RowError as error:
        raise table.error(error.rule, error.row) from None
    except UserError as error:
        raise table.error(str(error)) from None
    counts = replace(made.counts, **{n: getattr(block.counts, n) for n in ("self_loops", "repeated", "reciprocal")})
    return replace(made, counts=counts)


def _check_once(table: Table, keys: pa.Array) -> None:
    (codes,), known = encode_ids({NODE: keys})
    if len(known) < len(codes):
        _, first = np.unique(codes, return_index=True)
        row = int(np.setdiff1d(np.arange(len(codes)), first)[0])
        raise table.error(f"a node must have one row, got another of {shown(known[codes[row]])}", row)
