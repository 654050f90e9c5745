"""Honest numbers: the linear probe, weights of views, the protocol of choices, controls and summaries."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "clusterings": ("compare_clusterings",),
    "comparison": ("Contender", "compare"),
    "controls": ("diffused", "majority", "raw"),
    "fit": ("COARSE", "Search"),
    "labelled": ("Labelled",),
    "links": ("compare_links",),
    "metrics": ("score",),
    "probe": ("PENALTIES", "LinearProbe", "fit_path"),
    "protocol": ("Choice", "Outcome", "Trial", "choose", "evaluate", "final_score", "hide_test"),
    "ranks": ("Ranks", "average_ranks"),
    "standing": ("Measured", "Standing"),
    "summary": ("Difference", "Summary", "Verdict", "paired_difference", "summarise"),
    "targets": ("LabelKind", "numeric_target"),
    "tasks": ("Task", "evaluate_tasks"),
    "views": ("NORMALISATIONS", "Normalise", "Rows", "Views"),
    "weights": ("tune", "uniform"),
}


def __getattr__(name: str) -> Any:
    """Import on first use: a command that shows a score of earlier must not wait for what measures one."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'fdmvgcl.evaluation' has no attribute {name!r}")
    return getattr(import_module(f"fdmvgcl.evaluation.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
