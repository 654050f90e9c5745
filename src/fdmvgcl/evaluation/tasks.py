"""Three tasks that vectors are put to, each beside its controls: nodes' labels, groups of nodes, missing edges."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import TooSmall
from fdmvgcl.graphs.graph import Graph

from .clusterings import compare_clusterings
from .comparison import Contender, compare
from .labelled import Labelled
from .links import compare_links
from .metrics import METRICS
from .standing import Standing, standing_of

if TYPE_CHECKING:
    from fdmvgcl.learning.controls import Control, Step
    from fdmvgcl.learning.model import FDMVGCL
    from fdmvgcl.learning.prepare import Prepared


@dataclass(frozen=True)
class Task:
    """What vectors were put to, and how they stand.

    Args:
        name: of the task.
        standings: one a metric.
        left_out: why there are none.
    """

    name: str
    standings: tuple[Standing, ...]
    left_out: str = ""

    def record(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        found: dict[str, Any] = {"task": self.name, "metrics": [each.record() for each in self.standings]}
        return found | ({"left_out": self.left_out} if self.left_out else {})


def evaluate_tasks(
    model: "FDMVGCL", graph: Graph, labelled: Labelled, *, step: "Step" = lambda _: None
) -> tuple[Task, ...]:
    """Node classification (or regression), clustering and link prediction, each beside its controls.

    The linear probe and its protocol are those of :func:`compare`, with everything tuned on each split's validation
    nodes; the others are :func:`compare_clusterings` and :func:`compare_links`.

    Args:
        model: fitted on the graph.
        graph: its nodes are the labelled ones.
        labelled: labels and splits. Numbers are not grouped by.
        step: told what is done next.
    """
    from fdmvgcl.learning.prepare import assemble  # late: it brings torch

    prepared = assemble(model, graph, model.chosen_)
    views = model.transform_views(prepared)
    contenders = compare(list(views), labelled, prepared, model, tune=True, step=step)
    return (node_task(contenders, labelled), *further_tasks(model, prepared, model.combine(views), labelled, step))


def node_task(contenders: Sequence[Contender], labelled: Labelled) -> Task:
    """What the probe made of the contenders, by every metric that all of them could be scored by."""
    names = [labelled.metric, *contenders[0].outcomes[0].also]
    told = f"linear probe on {labelled.told}"
    found = [(METRICS[name], {each.name: each.scored(name) for each in contenders}) for name in names]
    whole = [(name, scores) for name, scores in found if np.isfinite(list(scores.values())).all()]
    task = "regression" if labelled.numeric else "node classification"
    return Task(task, tuple(standing_of(name, told, scores) for name, scores in whole))


def further_tasks(
    model: "FDMVGCL", prepared: "Prepared", z: NDArray[np.float32], labelled: Labelled, step: "Step"
) -> tuple[Task, ...]:
    """Groups, where labels are classes, and missing edges, for which labels are not needed."""
    groups = () if labelled.numeric else (_clustering(model, prepared, z, labelled, step),)
    return (*groups, _links(model, prepared, step))


def _clustering(
    model: "FDMVGCL", prepared: "Prepared", z: NDArray[np.float32], labelled: Labelled, step: "Step"
) -> Task:
    from fdmvgcl.learning.controls import CONTROLS, VECTORS, control, controls_of

    def rows(name: "Control") -> NDArray[np.float32]:
        made = control(model, prepared, name)
        return made.transform(prepared if name == "untrained" else prepared.graph)

    given = {VECTORS: lambda: z} | {CONTROLS[name]: partial(rows, name) for name in controls_of(prepared)}
    return Task("clustering", compare_clusterings(given, labelled.labels, step=step))


def _links(model: "FDMVGCL", prepared: "Prepared", step: "Step") -> Task:
    try:
        return Task("link prediction", compare_links(model, prepared.graph, step=step))
    except TooSmall as error:
        return Task("link prediction", (), str(error))
