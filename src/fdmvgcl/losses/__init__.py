"""Losses between consecutive views: pure terms, and thin modules that name them.

A loss takes the views, shape (K, N, d), and returns its named terms, each summed over the ring of consecutive pairs,
and their weights in the total. The trainer adds and logs them.
"""

from collections.abc import Callable
from typing import Any

from fdmvgcl.losses.barlow_twins import BarlowTwins
from fdmvgcl.losses.base import Loss, ring, unit_rows
from fdmvgcl.losses.cca_ssg import CCASSG
from fdmvgcl.losses.cosmean import Cosmean, RegularisedCosmean, cosmean
from fdmvgcl.losses.direction import dominant_direction
from fdmvgcl.losses.euclidean import Euclidean
from fdmvgcl.losses.vicreg import VICReg

REGULARISED_COSMEAN = "regularised-cosmean"

LOSSES: dict[str, Callable[..., Loss]] = {
    REGULARISED_COSMEAN: RegularisedCosmean,
    "cosmean": Cosmean,
    "euclidean": Euclidean,
    "barlow-twins": BarlowTwins,
    "vicreg": VICReg,
    "cca-ssg": CCASSG,
}


def make_loss(name: str, **settings: Any) -> Loss:
    """The loss of that name, with the settings of its class: ``make_loss("barlow-twins", off_diagonal=0.01)``."""
    if name not in LOSSES:
        raise ValueError(f"loss must be one of {tuple(LOSSES)}, got {name!r}")
    return LOSSES[name](**settings)


__all__ = [
    "CCASSG",
    "LOSSES",
    "REGULARISED_COSMEAN",
    "BarlowTwins",
    "Cosmean",
    "Euclidean",
    "Loss",
    "RegularisedCosmean",
    "VICReg",
    "cosmean",
    "dominant_direction",
    "make_loss",
    "ring",
    "unit_rows",
]
