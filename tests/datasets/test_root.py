import zipfile
from pathlib import Path

import pytest

from fdmvgcl.datasets.root import Source, cache_root, data_root
from fdmvgcl.errors import InputError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FDMVGCL_DATA", raising=False)
    return tmp_path / "cache" / "fdmvgcl" / "data"


@pytest.fixture
def published(tmp_path):
    """A data set of two files, and where it is published."""
    folder = tmp_path / "web"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(name)
    urls = tuple((folder / name).as_uri() for name in ("a.txt", "b.txt"))
    return Source(folder="toy", files=("raw/a.txt", "raw/b.txt"), publisher="Toys on the web", urls=urls)


def test_argument_goes_before_environment_before_cache(cache, monkeypatch):
    assert data_root() == cache_root() == cache
    monkeypatch.setenv("FDMVGCL_DATA", "/somewhere")
    assert data_root() == Path("/somewhere")
    assert data_root("/else") == Path("/else")


def test_cache_is_below_home_by_default(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/her")
    assert cache_root() == Path("/home/her/.cache/fdmvgcl/data")


def test_missing_file_is_named_with_its_publisher_and_nothing_is_written(tmp_path, published, cache):
    with pytest.raises(InputError) as error:
        published.locate(tmp_path / "root")
    message = str(error.value)
    assert str(tmp_path / "root" / "toy" / "raw" / "a.txt") in message
    assert "2 of the data set's 2 files" in message
    assert "Toys on the web" in message
    assert "\n" not in message
    assert not (tmp_path / "root").exists()


def test_files_are_fetched_into_the_cache_only(published, cache):
    folder = published.locate(data_root())
    assert sorted(path.name for path in (folder / "raw").iterdir()) == ["a.txt", "b.txt"]
    assert (folder / "raw" / "b.txt").read_text() == "b.txt"


def test_failed_fetch_says_why_and_leaves_no_half_file(tmp_path, cache):
    source = Source("toy", ("raw/a.txt",), "Toys on the web", urls=((tmp_path / "gone").as_uri(),))
    with pytest.raises(InputError, match="fetching it failed"):
        source.locate(data_root())
    assert not list(cache.rglob("*.*"))


def test_archive_gives_the_named_files_and_nothing_else(tmp_path, cache):
    packed = tmp_path / "toy.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("top/raw/a.txt", "a")
        archive.writestr("top/split/b.txt", "b")
        archive.writestr("top/../../evil.txt", "evil")
    source = Source("toy", ("raw/a.txt", "split/b.txt"), "Toys", archive=packed.as_uri())
    folder = source.locate(data_root())
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.txt"))
    assert found == [str((folder / name).relative_to(tmp_path)) for name in ("raw/a.txt", "split/b.txt")]


def test_archive_that_is_no_zip_is_a_clear_error(tmp_path, cache):
    (tmp_path / "toy.zip").write_text("404")
    source = Source("toy", ("raw/a.txt",), "Toys", archive=(tmp_path / "toy.zip").as_uri())
    with pytest.raises(InputError, match="fetching it failed"):
        source.locate(data_root())
