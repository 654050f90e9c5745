"""What is asked of vectors once they are there: groups, labels, missing edges, oddities. No encoder is trained."""

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
