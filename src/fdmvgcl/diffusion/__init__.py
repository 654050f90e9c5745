"""The engine: fractional diffusion of features over a graph, ``Y = φ(L) X``, as a spectral filter."""

from fdmvgcl.diffusion.linear import diffuse

__all__ = ["diffuse"]
