"""How to get the same result again: the command, all settings, and the versions it was made with."""

import shlex
from typing import Any

import numpy as np

from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import dotted
from fdmvgcl.results.outputs import default_folder
from fdmvgcl.results.report.records import Records

_UPDATE_FLAGS = (
    *("features", "removed", "train", "source", "target", "weight", "no_header", "repeated", "encoding"),
    *("fill_missing", "since", "until", "half_life"),
)
_MOST_UPDATES = 100
_LONGEST_ID = 40
_PAGES = "https://github.com/fdmvgcl/fdmvgcl/blob/main/docs/how-to"
_NAMED = ("dim", "views", "epochs", "time", "seed", "device")  # settings that have an option of their own


def again_content(records: Records) -> dict[str, Any]:
    """Command, settings and versions as text."""
    model, versions = records.model, records.run.get("versions")
    made_with = [(str(k)[:40], str(v)[:80]) for k, v in versions.items()] if isinstance(versions, dict) else []
    for key in ("machine", "threads"):
        if key in records.run:
            made_with.append((key, str(records.run[key])[:80]))
    return {
        "command": "\n".join([command(model, records.run), *update_commands(records.run)]),
        "next": next_steps(records),
        "settings": [(name, "–" if value is None else str(value)) for name, value in _settings(model).items()]
        + [("order of work taken", str(model.chosen_.order_of_work)[:40])],
        "versions": made_with,
    }


def command(model: FDMVGCL, run: dict[str, Any]) -> str:
    """``fdmvgcl embed`` with the input's options and every setting that is not the default."""
    source = run.get("source")
    words = ["fdmvgcl", "embed", source if isinstance(source, str) else "SOURCE"]
    options = run.get("options")
    for name, value in options.items() if isinstance(options, dict) else ():
        words += ["--" + str(name).replace("_", "-"), *([] if value is True else [str(value)])]
    defaults = _settings(FDMVGCL())
    for name, value in _settings(model).items():
        if value != defaults.get(name):
            words += [f"--{name}", str(value)] if name in _NAMED else ["--set", f"{name}={_as_toml(value)}"]
    return " ".join(word if word == "SOURCE" else shlex.quote(word) for word in words)


def update_commands(run: dict[str, Any]) -> list[str]:
    """``fdmvgcl update`` for each change since, on the folder that the command above leaves."""
    source, updates = run.get("source"), run.get("updates")
    folder = str(default_folder(source)) if isinstance(source, str) else "DIR"
    told = []
    for update in updates[:_MOST_UPDATES] if isinstance(updates, list) else []:
        if not isinstance(update, dict):
            continue
        words = ["fdmvgcl", "update", folder, *([str(update["edges"])] if update.get("edges") else [])]
        for name in _UPDATE_FLAGS:
            values = update.get(name)
            for value in values if isinstance(values, list) else [values]:
                if value is not None and value is not False:
                    words += ["--" + name.replace("_", "-"), *([] if value is True else [str(value)])]
        told.append(" ".join(map(shlex.quote, words)))
    return told


def next_steps(records: Records) -> list[tuple[str, str, str]]:
    """What can be asked of the vectors, the command for this folder, run where the folder lies, and its page."""
    folder = shlex.quote(records.folder.path.resolve().name)
    name = _as_word(_example(records))
    if records.graphs is not None:
        first = [("Graphs like one", f"similar {folder} --id {name}", "similar")]
        last = [("Graphs that are new", f"transform {folder} new-edges.csv -o new.parquet", "many-graphs")]
    else:
        first = [("Nodes like one", f"similar {folder} --id {name}", "similar")]
        last = [
            ("Missing edges", f"links {folder} --id {name}", "links"),
            ("Odd nodes", f"anomalies {folder}", "anomalies"),
            ("A graph that has changed", f"update {folder} new-edges.csv", "update"),
        ]
    commands = [
        *first,
        ("Groups", f"cluster {folder} -o clusters.csv", "cluster"),
        ("Labels of the rest", f"predict {folder} --labels some-labels.csv -o rest.csv", "predict"),
        *last,
        ("Vectors for other programs", f"export {folder} -o vectors.npy", "export"),
    ]
    return [(told, f"fdmvgcl {command}", f"{_PAGES}/{page}.md") for told, command, page in commands]


def _example(records: Records) -> str:
    """The node of most edges, or the graph of most nodes."""
    if records.graphs is not None:
        return records.graphs.ids[int(np.argmax(records.graphs.sizes))]
    return records.graph.ids[int(np.argmax(np.diff(records.graph.adjacency.indptr)))]


def _as_word(name: str) -> str:
    """An id for the command line; ``ID`` for one that would not fit, or that a shell could not be given."""
    fits = len(name) <= _LONGEST_ID and name.isprintable() and not name.startswith("-")
    return shlex.quote(name) if fits else "ID"


def _settings(model: FDMVGCL) -> dict[str, Any]:
    return dotted(model.settings | {"device": model.device})


def _as_toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
