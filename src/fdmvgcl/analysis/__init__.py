"""What is asked of vectors once they are there: groups, labels, missing edges, oddities. No encoder is trained."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fdmvgcl.analysis.anomalies import anomaly_scores, check_anomalies
    from fdmvgcl.analysis.clusters import Clusters, cluster
    from fdmvgcl.analysis.links import Links, check_links, links_of, top_links
    from fdmvgcl.analysis.predictions import Predictions, predict
    from fdmvgcl.evaluation.standing import Measured, Standing

__all__ = [
    "Clusters",
    "Links",
    "Measured",
    "Predictions",
    "Standing",
    "anomaly_scores",
    "check_anomalies",
    "check_links",
    "cluster",
    "links_of",
    "predict",
    "top_links",
]

_HOMES = {
    "analysis.anomalies": ("anomaly_scores", "check_anomalies"),
    "analysis.clusters": ("Clusters", "cluster"),
    "analysis.links": ("Links", "check_links", "links_of", "top_links"),
    "analysis.predictions": ("Predictions", "predict"),
    "evaluation.standing": ("Measured", "Standing"),
}


def __getattr__(name: str) -> Any:
    """Import on first use: a question about one node must not wait for what the others need."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'fdmvgcl.analysis' has no attribute {name!r}")
    return getattr(import_module(f"fdmvgcl.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
