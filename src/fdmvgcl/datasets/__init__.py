"""Built-in and benchmark data sets: ``load("cora")`` gives a graph, its labels and its splits."""

from .attacked import STRENGTHS, AttackedDataset, load_attacked
from .dataset import Dataset, Metric, Split, seeded_splits
from .many import GraphDataset, GraphEntry, graph_datasets, load_graphs
from .registry import Entry, datasets, load
from .root import cache_root, data_root
from .statistics import MEASURED, PAPER, Statistics, paper_differences, statistics

__all__ = [
    "MEASURED",
    "PAPER",
    "STRENGTHS",
    "AttackedDataset",
    "Dataset",
    "Entry",
    "GraphDataset",
    "GraphEntry",
    "Metric",
    "Split",
    "Statistics",
    "cache_root",
    "data_root",
    "datasets",
    "graph_datasets",
    "load",
    "load_attacked",
    "load_graphs",
    "paper_differences",
    "seeded_splits",
    "statistics",
]
