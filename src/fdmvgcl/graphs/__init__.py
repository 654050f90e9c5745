"""What a graph is: ids, edges, features; how it comes in, what it is multiplied by, what can be told of it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdmvgcl.graphs.collection import GraphSet
    from fdmvgcl.graphs.graph import Graph
    from fdmvgcl.graphs.operators import Operator

__all__ = ["Graph", "GraphSet", "Operator"]


def __getattr__(name: str) -> Any:
    """Import on first use: ``fdmvgcl datasets`` reads tables and must not wait for torch."""
    if name == "Graph":
        from fdmvgcl.graphs.graph import Graph

        return Graph
    if name == "GraphSet":
        from fdmvgcl.graphs.collection import GraphSet

        return GraphSet
    if name == "Operator":
        from fdmvgcl.graphs.operators import Operator

        return Operator
    raise AttributeError(f"module 'fdmvgcl.graphs' has no attribute {name!r}")
