"""A folder's files change together or not at all, wherever a process is killed."""

import contextlib
import json
import os
from pathlib import Path

import pytest

from fdmvgcl.errors import InputError
from fdmvgcl.results.replacing import finish, replacement

OLD = {"a": "old a", "b": "old b", "model/w": "old w", "stale": "old", "mine": "mine"}
NEW = {"a": "new a", "b": "new b", "model/w": "new w", "mine": "mine"}


class Killed(BaseException):
    pass


def contents(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def change(folder: Path) -> None:
    with replacement(folder, ["stale", "a", "not there"]) as new:
        fill(new, {name: text for name, text in NEW.items() if name != "mine"})


def test_all_files_change(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    change(tmp_path)
    assert contents(tmp_path) == NEW
    change(tmp_path)
    assert contents(tmp_path) == NEW


@pytest.mark.parametrize("step", range(14))
def test_killed_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """At each rename and removal in turn: what is there when a command looks is the old folder or the new one."""
    fill(tmp_path, OLD)
    calls, committed = 0, False

    def dying(real):
        def call(*args, **kwargs):
            nonlocal calls, committed
            calls += 1
            if calls > step:
                raise Killed
            found = real(*args, **kwargs)
            committed = committed or (tmp_path / ".update.ready").exists()
            return found

        return call

    with monkeypatch.context() as patch:
        for owner, name in ((os, "rename"), (os, "replace"), (Path, "unlink")):
            patch.setattr(owner, name, dying(getattr(owner, name)))
        # A process that is killed cleans nothing up.
        patch.setattr("fdmvgcl.results.replacing.shutil.rmtree", dying(lambda *args, **kwargs: None))
        with contextlib.suppress(Killed):
            change(tmp_path)
    finish(tmp_path)
    found = {name: text for name, text in contents(tmp_path).items() if not name.startswith(".update/")}
    assert found == (NEW if committed else OLD)
    change(tmp_path)
    assert contents(tmp_path) == NEW


def test_killed_while_clearing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of what goes is taken away first, as a listing of a folder has no order."""
    fill(tmp_path, OLD)

    def half(path: Path, **_: object) -> None:
        if (path / "gone.json").exists():
            (path / "gone.json").unlink()
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("fdmvgcl.results.replacing.shutil.rmtree", half)
        with pytest.raises(Killed):
            change(tmp_path)
    finish(tmp_path)
    assert contents(tmp_path) == NEW
    change(tmp_path)
    assert contents(tmp_path) == NEW


def test_two_may_finish_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {".update.ready/gone.json": "[]", ".update.ready/a": "new"})
    real = os.replace

    def overtaken(source: Path, target: Path) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", real)
            finish(tmp_path)
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", overtaken)
        finish(tmp_path)
    assert contents(tmp_path) == {"a": "new"}


def test_an_error_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    with pytest.raises(FileNotFoundError), replacement(tmp_path, ["stale"]) as new:
        fill(new, {"a": "half", "b": "whole"}) or (new / "no" / "such").write_text("")
    assert contents(tmp_path) == OLD


def test_a_folder_from_elsewhere_deletes_nothing_outside(tmp_path: Path) -> None:
    fill(tmp_path, {"outside": "x", "folder/.update.ready/gone.json": json.dumps(["../outside", "/etc/none"])})
    finish(tmp_path / "folder")
    assert contents(tmp_path) == {"outside": "x"}
    fill(tmp_path, {"folder/.update.ready/gone.json": "no json"})
    with pytest.raises(InputError, match="cannot be finished"):
        finish(tmp_path / "folder")
