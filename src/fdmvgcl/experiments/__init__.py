"""The paper's tables and figures as declared runs: records in, tables and pictures out."""

from fdmvgcl.experiments.nodes import Nodes
from fdmvgcl.experiments.records import RecordFile
from fdmvgcl.experiments.runs import Experiment, Run, carry_out, pending
from fdmvgcl.experiments.theory import Theory

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in (Nodes(), Theory())}

__all__ = ["EXPERIMENTS", "Experiment", "RecordFile", "Run", "carry_out", "pending"]
