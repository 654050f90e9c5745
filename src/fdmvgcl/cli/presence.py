"""Whether what a command is given is there at all: asked first, before anything is imported that takes time."""

import difflib
import os
from pathlib import Path

from fdmvgcl.errors import InputError

_STDIN = "-"


def check_there(source: str | None, *files: Path | None) -> None:
    """Refuse what is not there: SOURCE, a file or a data set's name, or one of the files that go with it."""
    there = source is None or source == _STDIN or os.path.exists(source)
    if source is not None and not there and (os.sep in source or os.path.splitext(source)[1]):
        raise InputError(source, "no such file")
    for file in files:
        if file is not None and str(file) != _STDIN and not file.exists():
            raise InputError(file, "no such file")
    if source is None or there:
        return
    from fdmvgcl.datasets import datasets, graph_datasets  # late: it brings SciPy

    if source not in datasets() and source not in graph_datasets():
        close = difflib.get_close_matches(source.lower(), datasets(), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "; see fdmvgcl datasets"
        raise InputError(source, f"is neither a file nor a data set{hint}")
