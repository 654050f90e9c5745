"""Losses between consecutive views: pure terms, and thin modules that name them.

A loss takes the views, shape (K, N, d), and returns its named terms, each summed over the ring of consecutive pairs,
and their weights in the total. The trainer adds and logs them.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

from fdmvgcl.errors import ArgumentError, near_misses
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
        raise ArgumentError("loss", f"must be one of {tuple(LOSSES)}, got {name!r}")
    known = signature(LOSSES[name]).parameters
    for setting in settings:
        if setting not in known:
            raise ArgumentError(setting, f"is no setting of the loss {name}{near_misses(setting, known)}")
    return LOSSES[name](**settings)


def describe_loss(loss: str | Loss) -> dict[str, Any]:
    """What JSON can hold of a loss: its name and settings, or ``{"own": …}`` with the class of a user's own."""
    made = make_loss(loss) if isinstance(loss, str) else loss
    for name, factory in LOSSES.items():
        if type(made) is factory:
            return {"name": name, **made.settings()}
    return {"own": f"{type(made).__module__}.{type(made).__qualname__}"}


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
    "describe_loss",
    "dominant_direction",
    "make_loss",
    "ring",
    "unit_rows",
]
