"""How to get the same result again: the command, all settings, and the versions it was made with."""

import shlex
from typing import Any

from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.results.report.records import Records

_INPUT_OPTIONS = ("features", "labels", "directed", "weight", "header", "fill_missing")


def again_content(records: Records) -> dict[str, Any]:
    """Command, settings and versions as text."""
    model, versions = records.model, records.run.get("versions")
    made_with = [(str(k)[:40], str(v)[:80]) for k, v in versions.items()] if isinstance(versions, dict) else []
    for key in ("machine", "threads"):
        if key in records.run:
            made_with.append((key, str(records.run[key])[:80]))
    return {
        "command": command(model, records.run),
        "settings": [(name, "–" if value is None else str(value)) for name, value in model.get_params().items()]
        + [("order of work taken", str(model.order_of_work_)[:40])],
        "versions": made_with,
    }


def command(model: FDMVGCL, run: dict[str, Any]) -> str:
    """``fdmvgcl embed`` with the input's options and every setting that is not the default."""
    source = run.get("source")
    words = ["fdmvgcl", "embed", source if isinstance(source, str) else "SOURCE"]
    given = {name: run.get(name) for name in _INPUT_OPTIONS}
    defaults = FDMVGCL().get_params()
    given |= {name: value for name, value in model.get_params().items() if value != defaults.get(name)}
    for name, value in given.items():
        if value is not None and value is not False:
            words.append("--" + name.replace("_", "-"))
            words += [] if value is True else [str(value)]
    return " ".join(word if word == "SOURCE" else shlex.quote(word) for word in words)[:2000]
