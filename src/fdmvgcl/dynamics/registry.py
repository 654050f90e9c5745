"""Dynamics by name, and those of a user's own."""

from functools import partial

import torch

from fdmvgcl.dynamics.base import Dynamics, Factory
from fdmvgcl.dynamics.cde import Cde
from fdmvgcl.dynamics.grand import GrandAttention
from fdmvgcl.dynamics.graphcon import GraphCON
from fdmvgcl.dynamics.gread import Gread
from fdmvgcl.errors import ArgumentError

LINEAR = "grand"  # solved as a spectral filter, without time stepping

DYNAMICS: dict[str, Factory] = {
    "grand-attention": GrandAttention,
    "gread": partial(Gread, reaction="bs"),
    "gread-bs": partial(Gread, reaction="bs"),
    "gread-fisher": partial(Gread, reaction="fisher"),
    "gread-allen-cahn": partial(Gread, reaction="allen-cahn"),
    "gread-zeldovich": partial(Gread, reaction="zeldovich"),
    "cde": Cde,
    "graphcon": GraphCON,
}


def factory_of(dynamics: object) -> Factory:
    """The factory that a name stands for, or the one that was given; not for the linear dynamics, which need none."""
    if isinstance(dynamics, str):
        if dynamics not in DYNAMICS:
            raise ArgumentError("dynamics", f"must be one of {', '.join([LINEAR, *DYNAMICS])}, got {dynamics!r}")
        return DYNAMICS[dynamics]
    if not callable(dynamics):
        raise ArgumentError("dynamics", f"must be a name or a factory (dim, generator) -> Dynamics, got {dynamics!r}")
    return dynamics


def make_dynamics(dynamics: str | Factory, dim: int, generator: torch.Generator) -> Dynamics | None:
    """A view's dynamics, by name or from a factory ``(dim, generator) -> Dynamics``; None for the linear ones."""
    if dynamics == LINEAR:
        return None
    made = factory_of(dynamics)(dim, generator)
    if not isinstance(made, Dynamics):
        raise ArgumentError("dynamics", f"must make a fdmvgcl.dynamics.Dynamics, got a {type(made).__name__}")
    return made


def describe_dynamics(dynamics: str | Factory) -> str | dict[str, str]:
    """What JSON can hold of dynamics: their name, or ``{"factory": …}`` with the factory's and its arguments."""
    if isinstance(dynamics, str):
        return dynamics
    arguments = ""
    if isinstance(dynamics, partial):
        arguments = f"({', '.join([*map(repr, dynamics.args), *(f'{k}={v!r}' for k, v in dynamics.keywords.items())])})"
    named = dynamics.func if isinstance(dynamics, partial) else dynamics
    name = getattr(named, "__qualname__", type(named).__qualname__)
    return {"factory": f"{named.__module__}.{name}{arguments}"}
