"""Honest numbers: the linear probe, weights of views, the protocol of choices, controls and summaries."""

from .comparison import Contender, compare
from .controls import diffused, majority, raw
from .fit import COARSE, Search
from .labelled import Labelled
from .metrics import score
from .probe import PENALTIES, LinearProbe, fit_path
from .protocol import Choice, Outcome, Trial, choose, evaluate, final_score, hide_test
from .ranks import Ranks, average_ranks
from .summary import Difference, Summary, Verdict, paired_difference, summarise
from .views import NORMALISATIONS, Normalise, Rows, Views
from .weights import tune, uniform

__all__ = [
    "COARSE",
    "NORMALISATIONS",
    "PENALTIES",
    "Choice",
    "Contender",
    "Difference",
    "Labelled",
    "LinearProbe",
    "Normalise",
    "Outcome",
    "Ranks",
    "Rows",
    "Search",
    "Summary",
    "Trial",
    "Verdict",
    "Views",
    "average_ranks",
    "choose",
    "compare",
    "diffused",
    "evaluate",
    "final_score",
    "fit_path",
    "hide_test",
    "majority",
    "paired_difference",
    "raw",
    "score",
    "summarise",
    "tune",
    "uniform",
]
