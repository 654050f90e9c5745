"""The folder that ``embed`` leaves its results in: what is there, and when it may be written to."""

import contextlib
import itertools
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, atomic_write, open_lock
from fdmvgcl.learning.config_file import read_config
from fdmvgcl.results.replacing import finish
from fdmvgcl.results.vectors import VectorFile, vector_writer, write_vectors

# Views (K, n, d), or None where they are not kept, and embeddings (n, d) of some nodes.
Piece = tuple[NDArray[np.float32] | None, NDArray[np.float32]]

KNOWLEDGE = "hidden edges"  # in checks.json, what the verdict is made of

_LOCK = ".fdmvgcl.lock"
_ASIDE = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")  # what a killed process leaves of files.atomic_write


@dataclass(frozen=True)
class ResultFolder:
    """Names of the files in a result folder, which need not exist yet."""

    path: Path

    @property
    def embeddings(self) -> Path:
        return self.path / "embeddings.parquet"

    @property
    def views(self) -> Path:
        return self.path / "views.parquet"

    @property
    def graph(self) -> Path:
        return self.path / "graph.npz"

    @property
    def model(self) -> Path:
        return self.path / "model"

    @property
    def history(self) -> Path:
        return self.path / "history.jsonl"

    @property
    def evaluation(self) -> Path:
        return self.path / "evaluation.json"

    @property
    def checks(self) -> Path:
        return self.path / "checks.json"

    @property
    def run(self) -> Path:
        return self.path / "run.json"

    @property
    def labels(self) -> Path:
        return self.path / "labels.parquet"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.safetensors"

    @property
    def scratch(self) -> Path:
        """What does not fit into memory, while a run needs it."""
        return self.path / "scratch"

    @property
    def is_ours(self) -> bool:
        """Whether a run of ours, finished or not, has left something here."""
        marks = (self.checkpoint, self.model / "config.json", self.model / "weights.safetensors")
        return any(mark.is_file() for mark in marks)

    def require(self) -> "ResultFolder":
        """Itself, if it holds a finished run of a format that this version knows."""
        if not self.path.exists():
            raise InputError(self.path, "no such folder")
        finish(self.path)
        if not (self.model / "config.json").is_file() or not self.embeddings.is_file():
            state = "an unfinished run (go on with embed --resume)" if self.checkpoint.is_file() else "no results"
            raise InputError(self.path, f"must be a folder that fdmvgcl embed has written, but it holds {state}")
        read_config(self.model / "config.json")
        return self

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder: another run that wants to write here is told by whom it is held. A dead one holds none."""
        path = self.path / _LOCK
        with open_lock(path) as handle:
            if handle is None:
                holder = path.read_text(errors="replace")[:120] if path.exists() else ""
                rule = (
                    f"is written to by another run ({holder.strip() or 'unknown'}); wait for it, or use another folder"
                )
                raise InputError(self.path, rule)
            yield

    @contextlib.contextmanager
    def claimed(self, source: str | None = None) -> Iterator[None]:
        """Make the folder ready to be written to, and take it away again if nothing came of it.

        Refused with one :class:`InputError` before any work: what cannot be written to, what another run writes to, and
        a folder with other things in it, where a ``graph.npz`` might be the user's own.

        Args:
            source: what is embedded; results of another source are refused. None writes over them.
        """
        missing: list[Path] = []
        try:
            missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
            probe = self.path / f".probe.{secrets.token_hex(4)}.tmp"
            probe.touch()
            probe.unlink()
            leftovers = [entry for entry in self.path.glob(".*") if _ASIDE.fullmatch(entry.name)]
            ours = [*leftovers, self.path / _LOCK, self.scratch]
            foreign = not self.is_ours and any(entry not in ours for entry in self.path.iterdir())
        except OSError as error:
            _remove_empty(missing)
            reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror or error
            raise InputError(self.path, f"cannot be written to ({reason})") from None
        if foreign:
            raise InputError(self.path, "is not empty and holds no results of fdmvgcl; use another folder with -o")
        try:
            with self.locked():
                for leftover in (*leftovers, *self.model.glob(".*.tmp")):
                    leftover.unlink(missing_ok=True)
                self._check_source(source)
                yield
        except BaseException:
            _remove_empty(missing)
            raise

    def refuse_inputs(self, *files: StrPath | None) -> None:
        """Refuse files of this folder as inputs of a command that writes to it: it would write over them."""
        within = self.path.resolve()
        for file in files:
            if file is not None and within in Path(file).resolve().parents:
                raise InputError(file, f"lies in {self.path}, which this command writes to; copy it elsewhere first")

    def _check_source(self, source: str | None) -> None:
        if source is None or not self.run.is_file():
            return
        try:
            found = json.loads(self.run.read_bytes()).get("source")
        except (ValueError, AttributeError):
            return
        if found != source:
            told = f"holds the results of {found}; use another folder with -o, or write over them with --force"
            raise InputError(self.path, told)

    def read_views(self) -> list[NDArray[np.float32]] | None:
        """The views (N, d), None if they were not kept."""
        if not self.views.exists():
            return None
        with VectorFile(self.views) as file:
            return [file.read(name) for name in file.columns]

    def write_history(self, history: Sequence[dict[str, Any]]) -> None:
        with atomic_write(self.history) as handle:
            handle.writelines(json.dumps(record).encode() + b"\n" for record in history)

    def write_evaluation(self, record: dict[str, Any]) -> None:
        _write_json(self.evaluation, record)

    def read_checks(self) -> dict[str, Any]:
        """What was measured of answers that the folder gives, by command; empty if nothing, or nothing that is ours."""
        return _read_object(self.checks)

    def write_checks(self, name: str, record: Any) -> None:
        """Keep what was measured, until the folder gets other vectors."""
        _write_json(self.checks, self.read_checks() | {name: record})

    def read_run(self) -> dict[str, Any]:
        """What :meth:`write_run` wrote; empty where nothing, or nothing of ours, is there."""
        return _read_object(self.run)

    def write_run(self, record: dict[str, Any]) -> None:
        """What was asked for and with which versions, so that it can be run again."""
        _write_json(self.run, record)

    def write_labels(self, ids: Sequence[str], labels: NDArray[np.int64], classes: Sequence[str]) -> None:
        """``id`` and ``label`` of the nodes that have one (class ≥ 0); read by ``readers.read_labels``."""
        known = np.flatnonzero(labels >= 0).tolist()
        columns = {"id": [ids[i] for i in known], "label": [classes[labels[i]] for i in known]}
        with atomic_write(self.labels) as handle:
            pq.write_table(pa.table(columns, pa.schema([("id", pa.string()), ("label", pa.string())])), handle)

    def forget_labels(self) -> None:
        """Take away what tells of labels, and the report: all of it is of embeddings that are replaced now."""
        for path in (self.evaluation, self.checks, self.labels, self.report):
            path.unlink(missing_ok=True)


def write_views(
    path: Path, ids: Sequence[str], views: NDArray[np.float32], alphas: Sequence[float], betas: Sequence[float]
) -> None:
    """``views.parquet``: views (K, N, d) as columns ``view_0`` …, their orders and weights in the schema."""
    write_vectors(path, ids, _columns(views), {"alphas": list(alphas), "betas": list(betas)})


def write_pieces(
    folder: ResultFolder, ids: Sequence[str], pieces: Iterator[Piece], alphas: Sequence[float], betas: Sequence[float]
) -> None:
    """``embeddings.parquet``, and ``views.parquet`` if there are views, some nodes after the other.

    Args:
        folder: of the results.
        ids: of all nodes.
        pieces: in the order of the ids; all with views, or none.
        alphas, betas: orders and weights of the views.
    """
    head = next(pieces)
    if head[0] is None:
        folder.views.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:  # views become whole first
        handle = stack.enter_context(atomic_write(folder.embeddings))
        write_z = stack.enter_context(vector_writer(handle, {"z": head[1].shape[1]}))
        if head[0] is not None:
            handle, notes = stack.enter_context(atomic_write(folder.views)), {"alphas": alphas, "betas": betas}
            widths = {name: view.shape[1] for name, view in _columns(head[0]).items()}
            write_each = stack.enter_context(vector_writer(handle, widths, notes))
        first = 0
        for views, z in itertools.chain([head], pieces):
            named = pa.array(ids[first : first + len(z)], pa.string())
            write_z(named, {"z": z})
            if views is not None:
                write_each(named, _columns(views))
            first += len(z)


def _columns(views: Iterable[NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    return {f"view_{k}": view for k, view in enumerate(views)}


def default_folder(source: str) -> Path:
    """``edges.fdmvgcl`` for ``data/edges.csv``, in the working folder."""
    from fdmvgcl.graphs.readers.opening import PACKED_ENDINGS, STDIN  # late: what searches vectors reads no graph

    name = Path(source).name if source != STDIN else "stdin"
    for ending in PACKED_ENDINGS:
        name = name.removesuffix(ending)
    return Path(f"{Path(name).stem or 'graph'}.fdmvgcl")


def _read_object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_json(path: Path, record: dict[str, Any]) -> None:
    with atomic_write(path) as handle:
        # A lone surrogate, as an undecodable byte of a file's name becomes one, has no UTF-8.
        handle.write(json.dumps(record, indent=1, ensure_ascii=False).encode(errors="replace") + b"\n")


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
