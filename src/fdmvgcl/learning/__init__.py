"""FD-MVGCL itself: views by fractional diffusion, trained to agree, pruned where their orders meet, and summed."""

from fdmvgcl.learning.model import FDMVGCL

__all__ = ["FDMVGCL"]
