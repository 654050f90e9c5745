"""A diffusion basis on disk: written a few columns at a time, read a block of rows at a time.

=====================  ================================================================================================
``basis.json``         sizes, and the fingerprint of what the basis is of
``panel-000.f32``, …   of 32 columns each, or fewer of many nodes (the last filled up with zeros): J functions, one
                       after the other, of N rows
``panel-000.f16``, …   the same in half precision, each column divided by a power of two; as float32 these come last
=====================  ================================================================================================

Little-endian. A panel is renamed when it is whole, and stays: a run that was killed makes only those that lack. Blocks
are read, not mapped: pages of the file are then the system's and not the process's, and a disk that fails is an error
and no signal.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fdmvgcl.diffusion.basis import DiffusionBasis, blocks, column_scale, panel_columns
from fdmvgcl.diffusion.group import ALONE, Group
from fdmvgcl.diffusion.kernels import basis_terms
from fdmvgcl.diffusion.modes import Modes
from fdmvgcl.diffusion.recurrence import CHEBYSHEV
from fdmvgcl.errors import InputError
from fdmvgcl.files import atomic_write
from fdmvgcl.graphs.operators import Operator

FORMAT, VERSION = "fdmvgcl basis", 1
_PIECE = 1 << 16  # rows that are combined at once


@dataclass(frozen=True, eq=False)
class StoredBasis:
    """A basis whose values lie in a folder.

    Args:
        folder: where.
        shape: J, N and F.
        similarity: of the operator, in memory.
        modes: what the values are, None for Chebyshev terms.
        device: where blocks go.
        kept: float32 or float16, what is in the files.
    """

    folder: Path
    shape: tuple[int, int, int]
    similarity: Tensor | None
    modes: Modes | None
    device: torch.device
    kept: torch.dtype = torch.float32

    @property
    def dtype(self) -> torch.dtype:
        return torch.float32

    def rows(self, low: int, high: int) -> DiffusionBasis:
        """Those of some nodes, in memory."""
        functions, nodes, columns = self.shape
        panel = panel_columns(nodes)
        values = torch.empty(functions, high - low, columns)
        read, scale = torch.empty(functions, high - low, panel, dtype=self.kept), torch.empty(panel)
        for number, first in enumerate(range(0, columns, panel)):
            path, width = panel_path(self.folder, number, self.kept), min(panel, columns - first)
            with open(path, "rb", buffering=0) as handle:
                for function in range(functions):
                    handle.seek((function * nodes + low) * panel * self.kept.itemsize)
                    _read_whole(handle, read[function], path)
                values[:, :, first : first + width] = read[:, :, :width]
                if self.kept == torch.float16:
                    handle.seek(functions * nodes * panel * self.kept.itemsize)
                    _read_whole(handle, scale, path)
                    values[:, :, first : first + width] *= scale[:width]
        similarity = None if self.similarity is None else self.similarity[low:high]
        return DiffusionBasis(values.to(self.device), similarity, self.modes)

    def at(self, nodes: Tensor) -> DiffusionBasis:
        """The same of nodes that are not side by side, by ascending number. All are read: a disk likes no leaps."""
        wanted, picked = nodes.cpu(), []
        for low, high in blocks(self.shape[1]):
            inside = wanted[(wanted >= low) & (wanted < high)] - low
            if len(inside):
                picked.append(self.rows(low, high).at(inside.to(self.device)).values)
        similarity = None if self.similarity is None else self.similarity[nodes]
        return DiffusionBasis(torch.cat(picked, 1), similarity, self.modes)


def panel_path(folder: Path, number: int, kept: torch.dtype = torch.float32) -> Path:
    """Of a panel."""
    return folder / f"panel-{number:03}.f{8 * kept.itemsize}"


def store_basis(
    folder: Path,
    panel: Callable[[int, int], Tensor],
    columns: int,
    operator: Operator,
    modes: Modes | None,
    terms: int,
    source: Iterable[Tensor],
    group: Group = ALONE,
    kept: torch.dtype = torch.float32,
) -> StoredBasis:
    """Make what lacks of the basis in a folder; each process of a group makes its share of the columns.

    Args:
        folder: where; what is there of another basis goes.
        panel: columns from the first to the last of X, dense, (N, b).
        columns: F.
        operator: Ā.
        modes: or None for Chebyshev terms.
        terms: how many of these, without modes.
        source: what X is made of, to tell it from another.
        group: the processes.
        kept: float32 or float16, what is written.
    """
    functions = torch.eye(terms) if modes is None else modes.functions.float()
    count, nodes = len(functions), operator.num_nodes
    if group.rank == 0:
        record = {"format": FORMAT, "version": VERSION, "functions": count, "nodes": nodes, "columns": columns}
        record["dtype"] = str(kept).removeprefix("torch.")
        record["of"] = _digest([*source, operator.rows, operator.columns, operator.values, functions])
        _open(folder, record)
    group.wait()
    width = panel_columns(nodes)
    for number, first in enumerate(range(0, columns, width)):
        path = panel_path(folder, number, kept)
        if number % group.size == group.rank and not path.exists():
            x = panel(first, min(first + width, columns))
            if operator.similarity is not None:
                x = x * operator.similarity[:, None]
            x = torch.nn.functional.pad(x, (0, width - x.shape[1])).contiguous()
            _write(path, basis_terms(operator, CHEBYSHEV, x, functions.shape[1]), functions, kept)
    group.wait()
    return StoredBasis(folder, (count, nodes, columns), operator.similarity, modes, operator.values.device, kept)


def _open(folder: Path, record: dict[str, Any]) -> None:
    """Keep what is there of this basis, and nothing else."""
    told = folder / "basis.json"
    if not (told.is_file() and _told(told) == record):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with atomic_write(told) as handle:
            handle.write(json.dumps(record).encode())
    for left in folder.glob(".*.tmp"):
        left.unlink()


def _told(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        return None


def _write(path: Path, terms: Tensor, functions: Tensor, kept: torch.dtype) -> None:
    """``Σ_j f_ij T_j`` of terms (J, N, b) for functions (r, J), some rows at a time."""
    functions, (_, nodes, columns) = functions.to(terms), terms.shape

    def pieces() -> Iterator[tuple[int, Tensor]]:
        for low in range(0, nodes, _PIECE):
            part = terms[:, low : low + _PIECE]
            yield low, (functions @ part.flatten(1)).view(-1, part.shape[1], columns).cpu()

    half, scale = kept == torch.float16, torch.ones(columns)
    if half:
        scale = column_scale(torch.stack([made.abs().amax((0, 1)) for _, made in pieces()]).amax(0))
    with atomic_write(path) as handle:
        for low, made in pieces():
            for number, values in enumerate((made / scale).to(kept) if half else made):
                handle.seek((number * nodes + low) * columns * kept.itemsize)
                handle.write(values.numpy().data)
        if half:
            handle.seek(len(functions) * nodes * columns * kept.itemsize)
            handle.write(scale.numpy().data)


def _read_whole(handle: Any, into: Tensor, path: Path) -> None:
    view = into.numpy().reshape(-1).view(np.uint8).data
    while len(view):
        count = handle.readinto(view)
        if not count:
            raise InputError(path, "is shorter than it was written")
        view = view[count:]


def _digest(parts: Iterable[Tensor]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(f"{part.dtype}{tuple(part.shape)}".encode())
        digest.update(part.detach().cpu().contiguous().numpy().reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
