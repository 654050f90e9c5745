"""Files that are whole or not there, and ``.npz`` archives that are read without trusting them."""

import contextlib
import datetime
import errno
import io
import lzma
import os
import platform
import secrets
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, InputError

StrPath = str | os.PathLike[str]

# Sorted indices and constant values pack well, but an honest archive stays far below these.
_MAX_RATIO = 500
_ALWAYS_ALLOWED = 64 << 20
_BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    OverflowError,
    MemoryError,
    SyntaxError,
    TypeError,
    ValueError,
)


@contextlib.contextmanager
def atomic_write(path: StrPath) -> Iterator[IO[bytes]]:
    """A binary handle whose contents become ``path`` when the block ends well, and vanish when it does not.

    The bytes go to a hidden name in the same folder, reach the disk, and are renamed: a killed process leaves the old
    file or the new one, never a part of it.
    """
    target = Path(path)
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(aside, "xb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(aside, target)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        _name(error, target)
        raise
    _sync_folder(target.parent)


@contextlib.contextmanager
def atomic_folder(path: StrPath) -> Iterator[Path]:
    """A folder beside ``path`` that becomes it when the block ends well, and vanishes when it does not.

    ``path`` must not be there yet.
    """
    target = Path(path)
    if target.exists():
        raise InputError(path, "is there already; name another folder")
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        aside.mkdir()
        yield aside
        for entry in aside.iterdir():
            with open(entry, "rb") as handle:
                os.fsync(handle.fileno())
        _sync_folder(aside)
        os.rename(aside, target)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        _name(error, target)
        raise
    _sync_folder(target.parent)


def _name(error: BaseException, path: Path) -> None:
    """Have a full disk say where it is full."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None:
        error.filename = os.fspath(path)


@contextlib.contextmanager
def open_lock(path: StrPath) -> Iterator[IO[str] | None]:
    """Hold a lock file that says who holds it, and vanishes in the end; None if another process holds it.

    The system lets go of it when a process dies. Where it knows no such locks, everyone may write.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield io.StringIO()
        return
    while True:
        with open(path, "a+") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield None
                return
            if not _is_at(handle, path):  # another process has taken it away in between
                continue
            handle.truncate(0)
            since = datetime.datetime.now().astimezone().isoformat(" ", "seconds")
            handle.write(f"process {os.getpid()} on {platform.node()}, since {since}\n")
            handle.flush()
            try:
                yield handle
            finally:
                Path(path).unlink(missing_ok=True)
            return


def _is_at(handle: IO[str], path: StrPath) -> bool:
    try:
        return os.path.samestat(os.fstat(handle.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def refuse_overwrite(path: StrPath, force: bool = False, inputs: Iterable[StrPath] = ()) -> None:
    """Refuse an output before any work: what cannot be written, what is an input, and without ``force`` what is there.

    Args:
        path: the file to write.
        force: whether another file may be written over.
        inputs: files that are read, which nothing may be written over.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(path, "is a folder; the output must be a file")
    if not target.parent.is_dir():
        raise InputError(path, "cannot be written: its folder does not exist")
    if not target.exists():
        return
    if any(os.path.exists(other) and target.samefile(other) for other in inputs):
        raise InputError(path, "is an input of this command and must not be its output")
    if not force:
        raise InputError(path, "is there already; write over it with --force, or name another")


def file_size(path: StrPath) -> int:
    """Bytes of a user's file, or an :class:`InputError` that says why it cannot be read."""
    try:
        with open(path, "rb") as handle:
            size = os.fstat(handle.fileno()).st_size
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if not size:
        raise InputError(path, "is empty")
    return size


def read_bytes(path: StrPath) -> bytes:
    """The whole of a user's file, opened once: it may be a pipe."""
    try:
        with open(path, "rb") as handle:
            data = handle.read()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    if not data:
        raise InputError(path, "is empty")
    return data


def _unreadable(path: StrPath, error: Exception) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(path, "no such file")
    if isinstance(error, IsADirectoryError):
        return InputError(path, "is a directory; expected a file")
    return InputError(path, f"cannot be read ({getattr(error, 'strerror', None) or error})")


def checked_unpacking(path: StrPath, size: int, unpacked: int) -> None:
    """Refuse what unpacks to so much more than it is that no honest file does."""
    if unpacked > max(_ALWAYS_ALLOWED, _MAX_RATIO * size):
        raise InputError(path, f"unpacks from {size} to {unpacked} bytes, which no graph does; refused")


def write_npz(path: StrPath, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays as an uncompressed ``.npz``, atomically; the same arrays give the same bytes.

    NumPy dates every member 1980-01-01, so no clock gets in; object arrays, which need pickle, are refused.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ArgumentError(name, f"must not hold Python objects, got dtype {array.dtype}")
    with atomic_write(path) as handle:
        np.savez(handle, **arrays)  # type: ignore[arg-type]


def read_npz(path: StrPath, data: bytes | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of an ``.npz``, by name, or one :class:`InputError`. Nothing is unpickled.

    Declared sizes are checked before anything is unpacked, so that a small hostile file cannot fill the memory.
    """
    data = read_bytes(path) if data is None else data
    size = len(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            unpacked = sum(member.file_size for member in members)
            checked_unpacking(path, size, unpacked)
            return {member.filename.removesuffix(".npy"): _read_member(archive, member, path) for member in members}
    except InputError:
        raise
    except _BROKEN_ARCHIVE as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(path, f"is not a valid .npz file ({reason})") from None


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: StrPath) -> NDArray[Any]:
    """One array, once its header agrees with the size of its member."""
    with archive.open(member) as handle:
        version = np.lib.format.read_magic(handle)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(handle)
        elif version == (2, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(handle)
        else:
            raise InputError(path, f"array {member.filename!r} has .npy version {version}; expected 1.0 or 2.0")
        if dtype.hasobject:
            raise InputError(path, f"array {member.filename!r} needs pickle, which is never loaded")
        count = 1
        for length in shape:
            count *= length
        data = handle.read()
        if min(shape, default=0) < 0 or dtype.itemsize == 0 or count * dtype.itemsize != len(data):
            raise InputError(path, f"array {member.filename!r} declares shape {shape} but holds {len(data)} bytes")
        return np.ndarray(shape, dtype, data, order="F" if fortran else "C")
