"""Right-hand sides F of a view's fractional equation ``D^α Y = F(Y)``: named ones, and the base of one's own."""

from fdmvgcl.dynamics.base import Dynamics, Factory
from fdmvgcl.dynamics.cde import Cde
from fdmvgcl.dynamics.edges import propagate
from fdmvgcl.dynamics.evolve import evolve, held_bytes, stepping
from fdmvgcl.dynamics.grand import Grand, GrandAttention
from fdmvgcl.dynamics.graphcon import GraphCON
from fdmvgcl.dynamics.gread import Gread
from fdmvgcl.dynamics.registry import DYNAMICS, LINEAR, describe_dynamics, factory_of, make_dynamics

__all__ = [
    "DYNAMICS",
    "LINEAR",
    "Cde",
    "Dynamics",
    "Factory",
    "Grand",
    "GrandAttention",
    "GraphCON",
    "Gread",
    "describe_dynamics",
    "evolve",
    "factory_of",
    "held_bytes",
    "make_dynamics",
    "propagate",
    "stepping",
]
