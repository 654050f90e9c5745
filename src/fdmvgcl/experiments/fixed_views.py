"""Settings of the paper's figures: views of fixed orders from 0.01 to 1, its time and rates for the data set."""

from collections.abc import Mapping
from typing import Any

from fdmvgcl.experiments import published

REMARK = (
    "Views of fixed orders from 0.01 to 1 with the paper's T, learning rate, weight decay and η for the data set, the "
    "equation solved exactly, leaky activation, no early stop."
)
_TAKEN = ("time", "loss.eta", "schedule.lr", "schedule.weight_decay")


def fixed_views(
    dataset: str, views: int, *, dim: int, epochs: int, changes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Settings over the defaults; a data set that the paper has no settings for keeps the defaults' time and rates.

    The equation is solved exactly and without a skip-connection, features are not centred, all columns
    are trained, training does not end early.
    """
    printed = published.settings(dataset) if dataset in published.known_settings() else {}
    return {
        "dim": dim,
        "views": views,
        "epochs": epochs,
        "diffusion.learn_alpha": False,
        "diffusion.skip": 0,
        "schedule.min_rank": 0.0,
        "features.centre": False,
        "features.anchor": 0.0,
        **{name: printed[name] for name in _TAKEN if name in printed},
        **(changes or {}),
    }
