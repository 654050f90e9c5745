"""Fractional calculus on tensors: the Mittag-Leffler function, time stepping, and responses of linear diffusion."""

from fdmvgcl.fractional.integrate import ShortMemoryWarning, fdeint
from fdmvgcl.fractional.mittag_leffler import mittag_leffler
from fdmvgcl.fractional.response import Filter, StabilityWarning, response
from fdmvgcl.fractional.schemes import (
    GRUNWALD_LETNIKOV,
    L1,
    PECE,
    PREDICTOR,
    SCHEMES,
    TRAPEZOID,
    Scheme,
    find_scheme,
)

__all__ = [
    "GRUNWALD_LETNIKOV",
    "L1",
    "PECE",
    "PREDICTOR",
    "SCHEMES",
    "TRAPEZOID",
    "Filter",
    "Scheme",
    "ShortMemoryWarning",
    "StabilityWarning",
    "fdeint",
    "find_scheme",
    "mittag_leffler",
    "response",
]
