"""The paper's tables and figures as declared runs: records in, tables and pictures out."""

from fdmvgcl.experiments.ablations import DEPTH, DIM, VIEWS
from fdmvgcl.experiments.class_maps import ClassMaps
from fdmvgcl.experiments.class_ratios import ClassRatios
from fdmvgcl.experiments.component_spectra import ComponentSpectra
from fdmvgcl.experiments.cost import Cost
from fdmvgcl.experiments.dynamics_table import DynamicsTable
from fdmvgcl.experiments.graph_table import GraphTable
from fdmvgcl.experiments.loss_curves import LossCurves
from fdmvgcl.experiments.nodes import Nodes
from fdmvgcl.experiments.records import RecordFile
from fdmvgcl.experiments.robustness import Robustness
from fdmvgcl.experiments.runs import Experiment, Foreseen, OfMethods, Run, carry_out, pending
from fdmvgcl.experiments.studies import STUDIES
from fdmvgcl.experiments.tasks import Tasks
from fdmvgcl.experiments.theory import Theory

_ALL: tuple[Experiment, ...] = (
    Nodes(),
    Tasks(),
    VIEWS,
    DEPTH,
    DIM,
    Cost(),
    Theory(),
    ComponentSpectra(),
    ClassMaps(),
    ClassRatios(),
    LossCurves(),
    DynamicsTable(),
    GraphTable(),
    Robustness(),
)
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}

__all__ = ["EXPERIMENTS", "STUDIES", "Experiment", "Foreseen", "OfMethods", "RecordFile", "Run", "carry_out", "pending"]
