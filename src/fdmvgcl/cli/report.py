"""``fdmvgcl report``: the page to look at, and the record of the run that it tells of."""

import platform
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import torch

from fdmvgcl import __version__
from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.sources import ReadOptions
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.results.outputs import ResultFolder

if TYPE_CHECKING:
    from fdmvgcl.cli.embed import EmbedOptions


def report(folder: ResultFolder, reporter: Reporter) -> None:
    """Write ``report.html`` from what is in the folder, and say where it is."""
    from fdmvgcl.results.report import write_report  # late: it brings scikit-learn's decompositions

    folder.require()
    with reporter.busy("making the report"):
        path = write_report(folder)
    reporter.say(f"to look at it, open in a browser: {path}")


def run_record(source: str, graph: Graph, reading: ReadOptions, options: "EmbedOptions") -> dict[str, Any]:
    """What was asked for and understood, and what it was done with, as JSON can hold it."""
    asked = vars(reading) | {name: getattr(options, name) for name in ("labels", "keep_views", "data_root")}
    return {
        "source": source,
        **{name: value if isinstance(value, bool | None) else str(value) for name, value in asked.items()},
        "graph": graph.describe(),
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
