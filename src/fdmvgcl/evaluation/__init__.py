"""Honest numbers: the linear probe, weights of views, the protocol of choices, controls and summaries."""

from .clusterings import compare_clusterings
from .comparison import Contender, compare
from .controls import diffused, majority, raw
from .fit import COARSE, Search
from .labelled import Labelled
from .links import compare_links
from .metrics import score
from .probe import PENALTIES, LinearProbe, fit_path
from .protocol import Choice, Outcome, Trial, choose, evaluate, final_score, hide_test
from .ranks import Ranks, average_ranks
from .standing import Measured, Standing
from .summary import Difference, Summary, Verdict, paired_difference, summarise
from .targets import LabelKind, numeric_target
from .tasks import Task, evaluate_tasks
from .views import NORMALISATIONS, Normalise, Rows, Views
from .weights import tune, uniform

__all__ = [
    "COARSE",
    "NORMALISATIONS",
    "PENALTIES",
    "Choice",
    "Contender",
    "Difference",
    "LabelKind",
    "Labelled",
    "LinearProbe",
    "Measured",
    "Normalise",
    "Outcome",
    "Ranks",
    "Rows",
    "Search",
    "Standing",
    "Summary",
    "Task",
    "Trial",
    "Verdict",
    "Views",
    "average_ranks",
    "choose",
    "compare",
    "compare_clusterings",
    "compare_links",
    "diffused",
    "evaluate",
    "evaluate_tasks",
    "final_score",
    "fit_path",
    "hide_test",
    "majority",
    "numeric_target",
    "paired_difference",
    "raw",
    "score",
    "summarise",
    "tune",
    "uniform",
]
