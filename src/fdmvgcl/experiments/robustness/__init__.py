"""``reproduce robustness``: accuracy under attack, what is certified, and Pro-GNN's graphs."""

from fdmvgcl.experiments.robustness.experiment import Robustness
from fdmvgcl.experiments.robustness.methods import METHODS

__all__ = ["METHODS", "Robustness"]
