"""Records of runs: one JSON line each, appended as they end, so that an interrupted experiment goes on where it was."""

import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
import torch

from fdmvgcl import __version__
from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath

Record = dict[str, Any]


def environment() -> Record:
    """What a number may depend on besides its settings."""
    return {
        "fdmvgcl": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
        "threads": torch.get_num_threads(),
    }


class RecordFile:
    """A ``.jsonl`` file of records, each found again by its key.

    Args:
        path: the file; it need not exist.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        self._torn = False
        self.records = list(self._read())

    def _read(self) -> Iterator[Record]:
        if not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                if number == len(lines):
                    self._torn = True  # a run killed while it wrote; that one is run again
                    return
                raise InputError(self.path, "a record must be one JSON object", number) from None
            if not isinstance(record, dict) or not isinstance(record.get("key"), dict):
                raise InputError(self.path, "a record must be a JSON object with a key", number)
            yield record

    def find(self, key: Mapping[str, Any]) -> Record | None:
        """The record with just this key."""
        return next((record for record in self.records if record["key"] == key), None)

    def matching(self, **key: Any) -> list[Record]:
        """All records whose keys have these entries; those of None are not in the key."""
        return [r for r in self.records if all(r["key"].get(name) == value for name, value in key.items())]

    def datasets(self, first: Sequence[str] = ()) -> list[str]:
        """Data sets that have records, those in ``first`` before the others."""
        known = dict.fromkeys(record["key"]["dataset"] for record in self.records)
        return [*(name for name in first if name in known), *(name for name in known if name not in first)]

    def append(self, record: Record) -> None:
        """Write a record to the end; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._torn:
            self._cut_last_line()
        with open(self.path, "a", encoding="utf-8") as handle:
            handle.write(json.dumps(record, allow_nan=False) + "\n")
            handle.flush()
            os.fsync(handle.fileno())
        self.records.append(record)

    def _cut_last_line(self) -> None:
        whole = self.path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]
        self.path.write_text("".join(whole), encoding="utf-8")
        self._torn = False
