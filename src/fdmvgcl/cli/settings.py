"""The model that the command line asks for: a file of settings, ``--set``, and the options that have their own name."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fdmvgcl.errors import ArgumentError, InputError, shown
from fdmvgcl.files import read_bytes
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import dotted


def model_of(file: Path | None, changes: Sequence[str], given: Mapping[str, Any]) -> FDMVGCL:
    """Defaults, then the file, then ``--set``, then options: the later ones count."""
    settings = {} if file is None else _read(file)
    settings |= dict(map(_change, changes)) | {name: value for name, value in given.items() if value is not None}
    return FDMVGCL.from_settings(settings)


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = tomllib.loads(read_bytes(path).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(path, f"is not valid TOML ({error})") from None
    try:
        FDMVGCL.from_settings(settings)
    except ArgumentError as error:
        raise InputError(path, str(error)) from None
    return dotted(settings)


def _change(text: str) -> tuple[str, Any]:
    """``schedule.lr=0.01`` as name and value; what is no TOML value is a string."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ArgumentError("changes", f"must look like schedule.lr=0.01, got {shown(text)}")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()
