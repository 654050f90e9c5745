"""``fdmvgcl datasets``: what can be named as SOURCE, whether it is at hand, and what it holds."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from fdmvgcl.cli.console import Reporter
from fdmvgcl.datasets import MEASURED, PAPER, Entry, data_root, datasets, graph_datasets, paper_differences
from fdmvgcl.graphs.provenance import counted

COUNTS = ("nodes", "edges", "features", "classes")


def list_datasets(root: Path | None, reporter: Reporter) -> None:
    """What there is, what is in it, and what the paper says is in it. Nothing is read or fetched."""
    entries = datasets().values()
    rows = [(entry.name, _state(entry, root), entry.description) for entry in entries]
    reporter.table(("name", "there", "what it is"), rows, text_columns=(0, 1, 2))
    reporter.say("")
    figures = [
        (name, *_cells(asdict(found)), f"{found.homophily:.2f}", str(found.isolated))
        for name, found in MEASURED.items()
    ]
    reporter.table(("as counted", *COUNTS, "homophily", "isolated"), figures)
    reporter.say("edges: linked pairs; homophily: share of them within a class", "dim")
    reporter.say("")
    printed = {name: paper_differences(name, MEASURED[name]) if name in MEASURED else PAPER[name] for name in PAPER}
    reporter.table(("as the paper has it", *COUNTS), [(n, *_cells(others)) for n, others in printed.items() if others])
    reporter.say("where it differs, or nothing was counted here", "dim")
    reporter.say("")
    many = graph_datasets().values()
    told = [
        (e.name, "yes" if e.available(root) else "no", str(e.graphs), *_cells(vars(e))[:2], e.description) for e in many
    ]
    reporter.table(("many graphs", "there", "graphs", "nodes", "edges", "what it is"), told, text_columns=(0, 1, 5))
    reporter.say("for embed --level graph", "dim")
    reporter.say("")
    reporter.say(f"data root: {data_root(root)} (--data-root, else FDMVGCL_DATA, else the cache folder)")


def _state(entry: Entry, root: Path | None) -> str:
    return "built in" if entry.source is None else "yes" if entry.available(root) else "no"


def _cells(counts: Mapping[str, int]) -> list[str]:
    return [counted(counts[what], "").strip() if what in counts else "" for what in COUNTS]
