"""Label-free graph embeddings by multi-view fractional diffusion (FD-MVGCL)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from fdmvgcl.diffusion.linear import diffuse
    from fdmvgcl.graphs.collection import GraphSet
    from fdmvgcl.graphs.graph import Graph
    from fdmvgcl.learning import FDMVGCL, Diffusion, Features, Readout, Schedule
    from fdmvgcl.learning.transforms import AddEmbedding

__all__ = ["FDMVGCL", "AddEmbedding", "Diffusion", "Features", "Graph", "GraphSet", "Readout", "Schedule", "diffuse"]

_HOMES = {
    "FDMVGCL": "fdmvgcl.learning.model",
    "Diffusion": "fdmvgcl.learning.settings",
    "Schedule": "fdmvgcl.learning.settings",
    "Features": "fdmvgcl.learning.settings",
    "Readout": "fdmvgcl.learning.settings",
    "AddEmbedding": "fdmvgcl.learning.transforms",
    "Graph": "fdmvgcl.graphs.graph",
    "GraphSet": "fdmvgcl.graphs.collection",
    "diffuse": "fdmvgcl.diffusion.linear",
}


def __getattr__(name: str) -> Any:
    """Import on first use: ``fdmvgcl --help`` must not wait for torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'fdmvgcl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
