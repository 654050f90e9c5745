"""What every method may spend in the comparison: one rule for all of them, on each data set."""

from typing import Any

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.methods import make_method
from fdmvgcl.methods.registry import CLASSIFIERS, OURS

# Trials on a data set, the defaults among them: fewer for all methods where one of them takes more than five minutes
# of a core by default.
TRIALS, FEWER = 12, 4
LONGEST = 300.0
SLOW: tuple[str, ...] = ("photo", "actor", "blogcatalog", "twitch_es", "pubmed", "dblp", "computers", "crocodile")

# Seeds of tuned rows, and of the other methods' default rows.
SEEDS, FEWER_SEEDS = 5, 3

# No row is trained for longer. Two defaults are: DGI's, which stops by itself, and BGRL's of ten thousand.
MOST_EPOCHS = 1000

# Nodes: with more, comparing all pairs takes longer than the tables may.
MANY_TO_PAIR = 10_000
# Entries of the features, zeros and all: with more, filtering them in every step does.
MANY_TO_FILTER = 40_000_000


def trials_of(dataset: str) -> int:
    return FEWER if dataset in SLOW else TRIALS


def seeds_of(dataset: str) -> int:
    return FEWER_SEEDS if dataset in SLOW else SEEDS


def within(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, and as many epochs as a row may have."""
    if method == OURS or method in CLASSIFIERS:
        return settings
    epochs = make_method(method, **settings).settings.get("epochs", 0)
    return {**settings, "epochs": MOST_EPOCHS} if epochs > MOST_EPOCHS else settings


def too_long(method: str, graph: Graph) -> str | None:
    """Why a method would take too long on a graph; None where it would not."""
    if method == OURS or method in CLASSIFIERS:
        return None
    settings, nodes, entries = make_method(method).settings, graph.num_nodes, graph.num_nodes * graph.num_features
    if "chunk" in settings and nodes > MANY_TO_PAIR:
        return f"{method} compares all pairs of nodes, and {nodes:,} are more than {MANY_TO_PAIR:,} nodes"
    if "degree" in settings and entries > MANY_TO_FILTER:
        return (
            f"{method} filters all features in every step, and {nodes:,} nodes of {graph.num_features:,} features "
            f"are more than {MANY_TO_FILTER:,} entries"
        )
    return None
