"""An embedding's linear probe beside the controls that tell whether learning helped."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl import __version__
from fdmvgcl.datasets import Metric

from .controls import TIMES, Diffuse, diffused, majority, raw
from .fit import Search
from .labelled import Labelled
from .protocol import Outcome, Trial, evaluate
from .summary import paired_difference, summarise

if TYPE_CHECKING:
    from fdmvgcl.learning.controls import Step
    from fdmvgcl.learning.model import FDMVGCL
    from fdmvgcl.learning.prepare import Prepared

# Entries of diffused features past which the control would take more memory and time than the model did.
_WIDEST = 200_000_000


@dataclass(frozen=True)
class Contender:
    """One way to describe the nodes, and what the probe made of it, split by split."""

    name: str
    outcomes: list[Outcome]

    @property
    def tests(self) -> list[float]:
        """Test scores, one a split."""
        return [outcome.test for outcome in self.outcomes]

    def scored(self, metric: Metric) -> list[float]:
        """Test scores by one of the further metrics, or by the one that choices went by."""
        return [outcome.also.get(metric, outcome.test) for outcome in self.outcomes]


def compare(
    views: Sequence[NDArray[np.float32]],
    labelled: Labelled,
    prepared: "Prepared",
    model: "FDMVGCL",
    *,
    tune: bool,
    step: "Step" = lambda _: None,
) -> list[Contender]:
    """The embedding first, then its controls: untrained encoder, diffused features, raw features, majority class.

    With ``tune`` everything is chosen by each split's validation nodes: β, of the untrained encoder too, and the time
    of the diffused features, which otherwise is the model's. Of numbers the last control is their mean.

    Args:
        views: of the embedding, each (N, d).
        labelled: labels and splits.
        prepared: what was embedded.
        model: what embedded it.
        tune: see above.
        step: told what is done next.
    """
    labels, splits, metric = labelled.labels, labelled.splits, labelled.metric
    search, also = Search(tune_weights=tune), further_metrics(labelled)

    def probe(name: str, open_views: Callable[[], Sequence[NDArray[np.float32]]]) -> Contender:
        step(f"probing {name}")
        found = evaluate([Trial({}, open_views)], labels, splits, metric=metric, search=search, also=also)
        return Contender(name, found)

    def untrained() -> Sequence[NDArray[np.float32]]:
        from sklearn.base import clone  # late: slow to import

        fresh = clone(model).set_params(epochs=0)
        found = fresh.fit_transform_views(prepared)
        return list(found) if tune else [fresh.combine(found)]

    found = [probe("embedding", lambda: views), probe("untrained encoder", untrained)]
    if not too_wide(prepared):
        name = "diffused features" if tune else f"diffused features, T = {model.time:g}"
        step(f"probing {name}")
        times = TIMES if tune else (model.time,)
        found.append(
            Contender(name, diffused(_diffusions(prepared), labels, splits, metric=metric, times=times, also=also))
        )
    if prepared.graph.features is not None:
        step("probing raw features")
        table = {"none": prepared.graph.features}
        found.append(Contender("raw features", raw(table, labels, splits, metric=metric, also=also)))
    name = "mean of the training nodes" if labelled.numeric else "majority class"
    return [*found, Contender(name, majority(labels, splits, metric=metric, also=also))]


def further_metrics(labelled: Labelled) -> tuple[Metric, ...]:
    """What else the same choices are scored by: macro-F1, and the other of accuracy and ROC AUC for two classes."""
    if labelled.numeric:
        return ()
    two: tuple[Metric, ...] = ("roc_auc",) if len(labelled.classes) == 2 else ()
    every: tuple[Metric, ...] = ("accuracy", "macro_f1", *two)
    return tuple(each for each in every if each != labelled.metric)


def too_wide(prepared: "Prepared") -> bool:
    """Whether the control of diffused features is left out."""
    return prepared.graph.num_nodes * prepared.chosen.features.width > _WIDEST


def comparison_record(
    contenders: Sequence[Contender], labelled: Labelled, settings: dict[str, Any], *, tuned: bool
) -> dict[str, Any]:
    """All of it, as JSON can hold it."""
    return {
        "version": __version__,
        "settings": settings,
        "splits": labelled.told,
        "metric": labelled.metric,
        "classes": list(labelled.classes),
        "weights": "tuned on validation, split by split" if tuned else "uniform",
        "scores": [_scored(each, contenders[0]) for each in contenders],
    }


def _diffusions(prepared: "Prepared") -> dict[str, Diffuse]:
    """Diffusion of the features as the model takes them, by the model's operator."""
    import torch  # late: what else this room does needs none

    from fdmvgcl.diffusion.linear import diffuse

    operator, x = prepared.operator.to("cpu"), prepared.features.dense().cpu()

    def run(alpha: float, time: float) -> NDArray[np.float32]:
        with torch.no_grad():
            return diffuse(operator, x, alpha, time).numpy()

    return {prepared.chosen.features.scaling: run}


def _scored(contender: Contender, ours: Contender) -> dict[str, Any]:
    difference = None if contender is ours else paired_difference(ours.tests, contender.tests)
    return {
        "name": contender.name,
        **asdict(summarise([contender.tests])),
        "difference": None if difference is None else asdict(difference) | {"verdict": difference.verdict},
        "by_split": [{"split": o.split, "test": o.test, **o.choice.record()} for o in contender.outcomes],
    }
