"""Honest numbers: the linear probe, weights of views, the protocol of choices, controls and summaries."""

from .controls import diffused, majority, raw
from .fit import COARSE, Search
from .metrics import score
from .probe import PENALTIES, LinearProbe, fit_path
from .protocol import Choice, Outcome, Trial, choose, evaluate, final_score, hide_test
from .shares import log_shares, with_shares
from .summary import Difference, Summary, Verdict, paired_difference, summarise
from .views import NORMALISATIONS, Normalise, Rows, Views
from .weights import tune, uniform

__all__ = [
    "COARSE",
    "NORMALISATIONS",
    "PENALTIES",
    "Choice",
    "Difference",
    "LinearProbe",
    "Normalise",
    "Outcome",
    "Rows",
    "Search",
    "Summary",
    "Trial",
    "Verdict",
    "Views",
    "choose",
    "diffused",
    "evaluate",
    "final_score",
    "fit_path",
    "hide_test",
    "log_shares",
    "majority",
    "paired_difference",
    "raw",
    "score",
    "summarise",
    "tune",
    "uniform",
    "with_shares",
]
