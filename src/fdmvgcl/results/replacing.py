"""Many files of a folder replaced together: a killed process leaves the old ones or, once a command looked, the new."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from fdmvgcl.errors import InputError

_STAGED, _READY, _GONE = ".update", ".update.ready", "gone.json"


@contextlib.contextmanager
def replacement(folder: Path, stale: Sequence[str] = ()) -> Iterator[Path]:
    """A folder to write into, whose files take the place of those of the same names when the block ends well.

    The new files stand beside the old ones and are whole before one rename makes them count. A process killed before
    it leaves the folder as it was; one killed after it leaves the rest to :func:`finish`.

    Args:
        folder: the folder.
        stale: names of files in it that go, unless they are written anew.
    """
    finish(folder)
    staged = folder / _STAGED
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir()
    try:
        yield staged
        gone = [name for name in stale if not (staged / name).exists()]
        (staged / _GONE).write_text(json.dumps(gone))
        os.rename(staged, folder / _READY)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    finish(folder)


def finish(folder: Path) -> None:
    """Put what a killed process had made ready into its place; nothing if there is none.

    It can be killed at any time itself, and begun anew: what says that there is something to do goes last, at once.
    """
    ready = folder / _READY
    if not ready.is_dir():
        return
    try:
        gone = json.loads((ready / _GONE).read_bytes())
        for name in gone:
            if Path(name).name == name:  # a folder may come from elsewhere, and this deletes
                (folder / name).unlink(missing_ok=True)
        for file in sorted(path for path in ready.rglob("*") if path.is_file() and path.name != _GONE):
            target = folder / file.relative_to(ready)
            target.parent.mkdir(exist_ok=True)
            os.replace(file, target)
        done = folder / _STAGED
        shutil.rmtree(done, ignore_errors=True)
        os.rename(ready, done)
        shutil.rmtree(done)
    except (OSError, ValueError, TypeError) as error:
        if not ready.is_dir():  # another process looked, too, and was quicker
            return
        raise InputError(ready, f"is an update that was interrupted and cannot be finished ({error})") from None
