"""``fdmvgcl report``: the page to look at, and the record of the run that it tells of."""

import datetime
import platform
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import torch

from fdmvgcl import __version__
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.sources import ReadOptions, names_data_set
from fdmvgcl.datasets import data_root, datasets
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.results.outputs import ResultFolder

if TYPE_CHECKING:
    from fdmvgcl.cli.embed import EmbedOptions


def report(folder: ResultFolder, reporter: Reporter, resources: Resources | None = None) -> None:
    """Write ``report.html`` from what is in the folder, and say where it is."""
    from fdmvgcl.results.report import write_report  # late: it brings scikit-learn's decompositions

    folder.require()
    with reporter.busy("making the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what making views anew warns of was told with the vectors
        path = write_report(folder, resources)
    reporter.say(f"to look at it, open in a browser: {path}")


def _options(source: str, reading: ReadOptions, options: "EmbedOptions") -> dict[str, Any]:
    """What was given besides the model's settings, by the names that options have on the command line."""
    given: dict[str, Any] = {"labels": options.labels, "keep_views": options.keep_views}
    given["level"] = options.level if options.level != "node" else None
    given["no_report"] = not options.report
    given["control"] = options.control
    if names_data_set(source) and datasets()[source].source is not None:
        given["data_root"] = data_root(options.data_root)  # where it was, whatever the environment says next time
    kept = {name: value for name, value in given.items() if value}
    return reading.words | {name: value if isinstance(value, bool) else str(value) for name, value in kept.items()}


def run_record(
    source: str, graph: Graph | GraphSet, reading: ReadOptions, options: "EmbedOptions", seconds: float
) -> dict[str, Any]:
    """What was asked for and understood, when, and what it was done with, as JSON can hold it.

    Args:
        seconds: that it took, from reading to vectors.
    """
    return {
        "source": source,
        "options": _options(source, reading, options),
        "date": datetime.datetime.now().astimezone().isoformat(" ", "minutes"),
        "seconds": round(seconds, 3),
        "graph": graph.describe(),
        "clock": None if graph.origin is None else graph.origin.clock,
        "notes": list(graph.notes),
        "versions": {
            "fdmvgcl": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
    }
