"""Where the benchmark data lies, and how its files get there."""

import os
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

from fdmvgcl.errors import InputError

TIMEOUT_SECONDS = 30


def cache_root() -> Path:
    """The user's cache folder for data: ``$XDG_CACHE_HOME/fdmvgcl/data``, by default below ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fdmvgcl" / "data"


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """The data root: ``root`` if given, else ``FDMVGCL_DATA`` if set, else :func:`cache_root`."""
    if root is not None:
        return Path(root)
    return Path(os.environ.get("FDMVGCL_DATA") or cache_root())


@dataclass(frozen=True)
class Source:
    """The published files of one data set, in the layout that PyTorch Geometric (or OGB) downloads to.

    Args:
        folder: folder below the data root.
        files: file paths below ``folder``.
        publisher: who publishes the files, by name, for messages.
        urls: address of each of ``files``; empty where they are not fetched automatically.
        archive: address of one zip that holds all ``files`` below a single top folder, instead of ``urls``.
    """

    folder: str
    files: tuple[str, ...]
    publisher: str
    urls: tuple[str, ...] = ()
    archive: str | None = None

    def locate(self, root: Path) -> Path:
        """The folder with all files, fetched first if ``root`` is the user's cache and some are missing."""
        folder = root / self.folder
        missing = self._missing(folder)
        reason = ""
        if missing and root == cache_root() and (self.urls or self.archive):
            try:
                self._fetch(folder)
            except (OSError, zipfile.BadZipFile) as error:
                reason = f"; fetching it failed: {error}"
            missing = self._missing(folder)
        if missing:
            count = f"{len(missing)} of the data set's {len(self.files)} files"
            raise InputError(folder / missing[0], f"is missing ({count}); to be had from {self.publisher}{reason}")
        return folder

    def _missing(self, folder: Path) -> list[str]:
        return [name for name in self.files if not (folder / name).is_file()]

    def _fetch(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if self.archive is None:
            for name, url in zip(self.files, self.urls, strict=True):
                if not (folder / name).is_file():
                    download(url, folder / name)
            return
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            packed = Path(scratch) / "archive.zip"
            download(self.archive, packed)
            unpack(packed, self.files, folder)


def download(url: str, target: Path) -> None:
    """Write the body of ``url`` to ``target``, aside first and then renamed: no half file is ever left there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response, part.open("wb") as out:
            shutil.copyfileobj(response, out)
        part.replace(target)
    except urllib.error.URLError as error:
        raise OSError(f"{url}: {error.reason}") from error
    finally:
        part.unlink(missing_ok=True)


def unpack(archive: Path, files: tuple[str, ...], folder: Path) -> None:
    """Copy ``files`` out of a zip with a single top folder; nothing else in it is touched."""
    with zipfile.ZipFile(archive) as packed:
        members = {name.partition("/")[2]: name for name in packed.namelist()}
        for name in files:
            if name not in members:
                raise OSError(f"{archive.name} holds no {name}")
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(target.name + ".part")
            with packed.open(members[name]) as body, part.open("wb") as out:
                shutil.copyfileobj(body, out)
            part.replace(target)
