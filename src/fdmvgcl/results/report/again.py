"""How to get the same result again: the command, all settings, and the versions it was made with."""

import shlex
from typing import Any

from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import dotted
from fdmvgcl.results.report.records import Records

_FLAGS = ("features", "labels", "directed", "weight", "header", "fill_missing", "keep_views", "data_root")
_NAMED = ("dim", "views", "epochs", "time", "seed", "device")  # settings that have an option of their own


def again_content(records: Records) -> dict[str, Any]:
    """Command, settings and versions as text."""
    model, versions = records.model, records.run.get("versions")
    made_with = [(str(k)[:40], str(v)[:80]) for k, v in versions.items()] if isinstance(versions, dict) else []
    for key in ("machine", "threads"):
        if key in records.run:
            made_with.append((key, str(records.run[key])[:80]))
    return {
        "command": command(model, records.run),
        "settings": [(name, "–" if value is None else str(value)) for name, value in _settings(model).items()]
        + [("order of work taken", str(model.chosen_.order_of_work)[:40])],
        "versions": made_with,
    }


def command(model: FDMVGCL, run: dict[str, Any]) -> str:
    """``fdmvgcl embed`` with the input's options and every setting that is not the default."""
    source = run.get("source")
    words = ["fdmvgcl", "embed", source if isinstance(source, str) else "SOURCE"]
    for name in _FLAGS:
        value = run.get(name)
        if value is not None and value is not False:
            words += ["--" + name.replace("_", "-"), *([] if value is True else [str(value)])]
    defaults = _settings(FDMVGCL())
    for name, value in _settings(model).items():
        if value != defaults.get(name):
            words += [f"--{name}", str(value)] if name in _NAMED else ["--set", f"{name}={_as_toml(value)}"]
    return " ".join(word if word == "SOURCE" else shlex.quote(word) for word in words)[:2000]


def _settings(model: FDMVGCL) -> dict[str, Any]:
    return dotted(model.settings | {"device": model.device})


def _as_toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
