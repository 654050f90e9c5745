"""FD-MVGCL itself: views by fractional diffusion, trained to agree, pruned where their orders meet, and summed."""

from typing import TYPE_CHECKING, Any

from fdmvgcl.learning.settings import Diffusion, Features, Readout, Schedule

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

__all__ = ["FDMVGCL", "Diffusion", "Features", "Readout", "Schedule"]


def __getattr__(name: str) -> Any:
    """Import on first use: help shows the defaults of the settings and must not wait for torch."""
    if name == "FDMVGCL":
        from fdmvgcl.learning.model import FDMVGCL

        return FDMVGCL
    raise AttributeError(f"module 'fdmvgcl.learning' has no attribute {name!r}")
