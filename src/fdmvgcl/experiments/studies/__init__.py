"""Questions of our own beside the paper's: what validation nodes can tell, and what training adds to it."""

from fdmvgcl.experiments.runs import Experiment
from fdmvgcl.experiments.studies.curves import ValidationCurves

STUDIES: dict[str, Experiment] = {study.name: study for study in (ValidationCurves(),)}

__all__ = ["STUDIES"]
