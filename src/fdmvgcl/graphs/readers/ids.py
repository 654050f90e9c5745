"""A list of node ids."""

import re
from pathlib import Path

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, read_bytes

HEADER = "id"


def read_ids(path: StrPath) -> tuple[str, ...]:
    """One id a line, exactly as written but for white space around it, or quoted as in a CSV; a first line ``id`` is a
    header. Blank lines are skipped, and an id that is listed twice counts once.
    """
    ids = [_unquoted(line.strip()) for line in _lines(path) if line.strip()]
    if ids and ids[0].lower() == HEADER:
        ids = ids[1:]
    if not ids:
        raise InputError(path, "holds no ids")
    return tuple(dict.fromkeys(ids))


def lists_ids(path: StrPath) -> bool:
    """Whether the file begins with the header of a list of ids, or with a line that can hold no more than one."""
    if Path(path).is_fifo():
        raise InputError(path, "is a pipe, which is read once; whether it lists ids or edges is told by a file's head")
    first = read_bytes(path)[: 1 << 16].removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n")[0].strip()
    return first.strip(b'"').lower() == HEADER.encode() or not re.search(rb"[\s,;|\0]", first)


def _lines(path: StrPath) -> list[str]:
    try:
        return read_bytes(path).decode("utf-8-sig").replace("\r", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(path, f"must be text in UTF-8, got the byte 0x{error.object[error.start]:02x}") from None


def _unquoted(line: str) -> str:
    quoted = len(line) > 1 and line.startswith('"') and line.endswith('"')
    return line[1:-1].replace('""', '"') if quoted else line
