"""What a graph is: ids, edges, features; how it comes in, what it is multiplied by, what can be told of it."""

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import Operator

__all__ = ["Graph", "Operator"]
