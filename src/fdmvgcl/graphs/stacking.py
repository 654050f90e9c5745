"""What many graphs have in common, when they become one: their ids, feature columns, and counts of what was dropped."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from fdmvgcl.errors import ArgumentError, shown
from fdmvgcl.graphs.arrays import Features
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import Counts

Named: TypeAlias = Mapping[str, Any] | Iterable[Any]


def by_id(graphs: Named) -> tuple[list[str], list[Any]]:
    if isinstance(graphs, Mapping):
        return [str(each) for each in graphs], list(graphs.values())
    given = list(graphs)
    return [str(i) for i in range(len(given))], given


def check_each(graphs: Sequence[Any], attribute: str, kind: str) -> None:
    """Refuse what is not of this kind, as its lack of an attribute tells."""
    stranger = next((each for each in graphs if not hasattr(each, attribute)), None)
    if stranger is not None:
        raise ArgumentError("graphs", f"must each be {kind}, got a {type(stranger).__name__}")


def is_empty(graph: Any) -> bool:
    """Whether a graph of NetworkX, PyG or igraph or a SciPy matrix has no nodes."""
    for name in ("num_nodes", "number_of_nodes", "vcount"):
        count = getattr(graph, name, None)
        if count is not None:
            return not (count() if callable(count) else count)
    return bool(sparse.issparse(graph)) and not graph.shape[0]


def stacked(ids: Sequence[str], there: Sequence[tuple[int, Graph]]) -> tuple[Features | None, tuple[str, ...] | None]:
    """The features of all graphs, columns in the order of the first one's."""
    place, first = there[0]
    tables: list[Features] = []
    for i, graph in there:
        if (graph.features is None) != (first.features is None):
            without = ids[i] if graph.features is None else ids[place]
            raise ArgumentError("graphs", f"must all have features or none; {shown(without)} has none, others have")
        if graph.num_features != first.num_features:
            told = f"{shown(ids[i])} has {graph.num_features} and {shown(ids[place])} {first.num_features}"
            raise ArgumentError("graphs", f"must have the same feature columns, but {told}")
        if graph.features is None:
            continue
        table = graph.features
        if None not in (graph.feature_names, first.feature_names) and graph.feature_names != first.feature_names:
            table = table[:, _matched(ids[i], graph.feature_names or (), first.feature_names or ())]
        tables.append(table)
    if not tables:
        return None, None
    dense = [table for table in tables if isinstance(table, np.ndarray)]
    stacked = np.concatenate(dense) if len(dense) == len(tables) else sparse.csr_array(sparse.vstack(tables))
    return stacked, first.feature_names


def _matched(graph: str, names: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    position = {name: i for i, name in enumerate(names)}
    missing = next((name for name in wanted if name not in position), None)
    if missing is not None:
        raise ArgumentError("graphs", f"must have the same feature columns, but {shown(graph)} has no {shown(missing)}")
    return [position[name] for name in wanted]


def summed(counts: Sequence[Counts]) -> Counts:
    """Of all graphs together; how edges were merged is told where it was the same for all."""
    numbers = {name: sum(getattr(each, name) for each in counts) for name in vars(Counts()) if name != "merged"}
    ways = {each.merged for each in counts}
    return Counts(**numbers, merged=ways.pop() if len(ways) == 1 else Counts().merged)
