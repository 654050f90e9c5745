"""Vectors that need no training, which trained ones have to beat: models like any other, with nothing learnt in them.

Each is an ``FDMVGCL`` whose settings say all: it can be saved, loaded, cloned and fitted to another graph.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from fdmvgcl.errors import ArgumentError
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.prepare import Prepared, assemble
from fdmvgcl.learning.settings import Diffusion, StructureUse
from fdmvgcl.learning.structure import Structure

if TYPE_CHECKING:
    from fdmvgcl.graphs.graph import Graph
    from fdmvgcl.learning.model import FDMVGCL

Control: TypeAlias = Literal["untrained", "diffused", "raw", "structure"]
CONTROLS: dict[Control, str] = {
    "untrained": "untrained encoder",
    "diffused": "diffused features",
    "raw": "raw features",
    "structure": "columns made of the edges",
}
NO_TIME = 1e-12  # in which less than float32's rounding is diffused
VECTORS = "embedding"  # what they are compared with

Step: TypeAlias = Callable[[str], None]


def control(model: "FDMVGCL", prepared: Prepared, name: Control) -> "FDMVGCL":
    """A fitted model of a control, of as many columns as the model has or fewer.

    ``untrained`` is the model at its start. The others are columns themselves, centred and scaled as the model takes
    them, where they are more than its ``dim`` their principal components: ``raw`` those of the features, ``structure``
    those made of the edges, ``diffused`` all that the model takes, diffused once (order 0.7, the model's time).

    Args:
        model: whose settings count; it need not be fitted.
        prepared: what ``model.prepare`` made of the graph.
        name: see above.
    """
    if name not in CONTROLS:
        raise ArgumentError("control", f"must be one of {', '.join(CONTROLS)}, got {name!r}")
    if name == "untrained":
        untrained: FDMVGCL = clone(model).set_params(epochs=0)
        return untrained.fit(prepared)
    columns = prepared.chosen.features
    if name == "raw" and not columns.columns:
        rule = "must not be raw: there are no features; structure is the columns made of the edges"
        raise ArgumentError("control", rule)
    use: StructureUse = model.feature_settings.structure
    if name != "diffused":
        columns = _only_features(columns) if name == "raw" else _only_structure(model, prepared)
        use = "none" if name == "raw" else "only"
    diffusion = Diffusion(
        skip=0,
        learn_alpha=False,
        normalisation=model.diffusion.normalisation,
        self_loops=model.diffusion.self_loops,
        activation="identity",
        view_scaling="none",
        joins=model.diffusion.joins,
    )
    made: FDMVGCL = clone(model).set_params(
        dim=min(model.dim, columns.width),
        views=1,
        epochs=0,
        time=model.time if name == "diffused" else NO_TIME,
        diffusion=diffusion,
        features=replace(model.feature_settings, structure=use, initialisation="principal", anchor=0),
    )
    told = (f"{CONTROLS[name]}, and nothing is trained",)
    chosen = replace(
        prepared.chosen, features=columns, skip=0, skip_weight=1.0, view_scaling="none", order_of_work="project",
        sentences=told, anchored=0,
    )  # fmt: skip
    return made.fit(assemble(made, prepared.graph, chosen))


def controls_of(prepared: Prepared) -> list[Control]:
    """Those that the graph has: ``raw`` where there are features, ``structure`` where the model takes such columns."""
    columns = prepared.chosen.features
    there = {"raw": columns.columns > 0, "structure": columns.structure is not None}
    return [name for name in CONTROLS if there.get(name, True)]


def refitted(model: "FDMVGCL", graph: "Graph", step: Step) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Vectors (N, d) by name, first of a copy of the model that is fitted to this graph, then of each control there.

    What was learnt from another graph, or from more edges of this one, has no part in them.
    """
    step("training a copy")
    copy = clone(model)
    prepared = copy.prepare(graph)
    yield VECTORS, copy.combine(copy.fit_transform_views(prepared))
    for name in controls_of(prepared):
        step(CONTROLS[name])
        made = control(copy, prepared, name)
        yield CONTROLS[name], made.transform(prepared if name == "untrained" else graph)


def _only_features(columns: FeatureTransform) -> FeatureTransform:
    centre = None if columns.centre is None else columns.centre[: columns.columns]
    return replace(columns, structure=None, structure_scale=1.0, centre=centre)


def _only_structure(model: "FDMVGCL", prepared: Prepared) -> FeatureTransform:
    graph, found = prepared.graph, prepared.chosen.features.structure
    if found is None:
        found = Structure.fit(graph, prepared.operator.to("cpu"), int(model.seed))
    columns = FeatureTransform("none", 0, structure=found)
    return columns.centred(graph.without_features()) if model.feature_settings.centre else columns
