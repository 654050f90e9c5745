"""Attacks on what is decided from a graph: budgets, perturbations, victims, certificates."""

from fdmvgcl.attacks.adaptive import Allowed, greedy, pgd, prbcd
from fdmvgcl.attacks.budget import edge_budget, feature_budget
from fdmvgcl.attacks.certificate import Certificate, certify
from fdmvgcl.attacks.dice import dice
from fdmvgcl.attacks.encoding import Encoding
from fdmvgcl.attacks.frozen_probe import FrozenProbe, Precision
from fdmvgcl.attacks.metattack import metattack
from fdmvgcl.attacks.nettack import nettack
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.random_edges import random_edges
from fdmvgcl.attacks.single_node import at_node
from fdmvgcl.attacks.surrogate import SupervisedDiffusion, SurrogateGCN, TrainedVictim, train_supervised
from fdmvgcl.attacks.transfer import transfer_prbcd
from fdmvgcl.attacks.victim import DifferentiableVictim, Gradients, Victim, WhiteBox, accuracy, predictions

__all__ = [
    "Allowed",
    "Certificate",
    "DifferentiableVictim",
    "Encoding",
    "FrozenProbe",
    "Gradients",
    "Perturbation",
    "Precision",
    "SupervisedDiffusion",
    "SurrogateGCN",
    "TrainedVictim",
    "Victim",
    "WhiteBox",
    "accuracy",
    "at_node",
    "certify",
    "dice",
    "edge_budget",
    "feature_budget",
    "greedy",
    "metattack",
    "nettack",
    "pgd",
    "prbcd",
    "predictions",
    "random_edges",
    "train_supervised",
    "transfer_prbcd",
]
