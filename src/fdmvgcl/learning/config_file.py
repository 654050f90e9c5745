"""The configuration beside a model's weights, without torch: whether this version can read what lies there."""

import json
from typing import Any

from fdmvgcl.errors import InputError, shown
from fdmvgcl.files import StrPath, read_bytes

MODEL_FORMAT = 5


def read_config(path: StrPath) -> dict[str, Any]:
    """What ``config.json`` of a model holds; :class:`InputError` where it is none, or of a format unknown here."""
    try:
        config = json.loads(read_bytes(path))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(path, f"is not valid JSON ({error})") from None
    if not isinstance(config, dict) or config.get("format") != MODEL_FORMAT:
        found = config.get("format") if isinstance(config, dict) else type(config).__name__
        raise InputError(path, f"must be a model of format {MODEL_FORMAT}, got {shown(found)}")
    return config
