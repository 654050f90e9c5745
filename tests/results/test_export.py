"""What other programs read is what was written, for any ids."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fdmvgcl.errors import InputError, UserError
from fdmvgcl.files import refuse_overwrite
from fdmvgcl.results.export import export_vectors, ids_file, write_table
from fdmvgcl.results.vectors import write_vectors

IDS = ["O'Brien", '<script>"x"</script>', "a,b", "é", "007"]


def vectors(count: int, width: int) -> np.ndarray:
    z = np.random.default_rng(0).normal(size=(count, width)).astype(np.float32)
    z[0] = 0
    z[1] = [1e-30, -0.0, 1e18, *z[1, 3:]]
    return z


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_vectors(tmp_path / "embeddings.parquet", IDS, {"z": vectors(5, 4)})
    return tmp_path / "embeddings.parquet"


def read_csv(path: Path) -> tuple[list[str], np.ndarray]:
    with open(path, newline="") as handle:
        header, *rows = list(csv.reader(handle))
    assert header == ["id", *(f"z{i}" for i in range(len(header) - 1))]
    return [row[0] for row in rows], np.array([row[1:] for row in rows], dtype=np.float32)


def read_parquet(path: Path) -> tuple[list[str], np.ndarray]:
    table = pq.read_table(path)
    assert pa.types.is_fixed_size_list(table.schema.field("z").type)
    return table["id"].to_pylist(), np.stack(table["z"].to_numpy(zero_copy_only=False))


def read_npy(path: Path) -> tuple[list[str], np.ndarray]:
    z = np.load(path, mmap_mode="r")
    assert (z.dtype, z.flags.c_contiguous) == (np.float32, True)
    with open(ids_file(path), newline="") as handle:
        header, *rows = list(csv.reader(handle))
    assert header == ["id"]
    return [row[0] for row in rows], np.asarray(z)


def read_word2vec(path: Path) -> tuple[list[str], np.ndarray]:
    first, *lines = path.read_text().splitlines()
    rows = [line.split(" ") for line in lines]
    z = np.array([row[1:] for row in rows], dtype=np.float32)
    assert first == f"{z.shape[0]} {z.shape[1]}"
    return [row[0] for row in rows], z


READERS = {"z.parquet": read_parquet, "z.csv": read_csv, "z.npy": read_npy, "z.vec": read_word2vec}


@pytest.mark.parametrize("name", READERS)
def test_a_round_trip_loses_nothing(source: Path, tmp_path: Path, name: str) -> None:
    export_vectors(source, tmp_path / name)
    ids, z = READERS[name](tmp_path / name)
    assert ids == IDS
    np.testing.assert_array_equal(z, vectors(5, 4))
    first = (tmp_path / name).read_bytes()
    export_vectors(source, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


@pytest.mark.parametrize("name", READERS)
def test_many_pieces_are_one_file(tmp_path: Path, name: str) -> None:
    z = np.random.default_rng(1).normal(size=(5000, 1500)).astype(np.float32)
    ids = [f"node-{i}" for i in range(5000)]
    write_vectors(tmp_path / "source", ids, {"z": z})
    export_vectors(tmp_path / "source", tmp_path / name, unit=True)
    found, unit = READERS[name](tmp_path / name)
    assert found == ids
    np.testing.assert_allclose(unit, z / np.linalg.norm(z, axis=1, keepdims=True), rtol=1e-5)


def test_unit_rows_leave_zero_rows(source: Path, tmp_path: Path) -> None:
    export_vectors(source, tmp_path / "z.npy", unit=True)
    lengths = np.linalg.norm(np.load(tmp_path / "z.npy"), axis=1)
    np.testing.assert_allclose(lengths[[0, 2, 3, 4]], [0, 1, 1, 1], atol=1e-6)


def test_word2vec_has_no_place_for_white_space(tmp_path: Path) -> None:
    write_vectors(tmp_path / "source", ["a", "New York"], {"z": vectors(2, 3)})
    with pytest.raises(UserError, match="white space, got 'New York'"):
        export_vectors(tmp_path / "source", tmp_path / "z.vec")
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_the_format_must_be_known(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.parquet"):
        export_vectors(source, tmp_path / "z.bin")
    with pytest.raises(UserError, match="must be one of parquet, csv, npy, word2vec, got 'faiss'"):
        export_vectors(source, tmp_path / "z.bin", "faiss")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_tables(tmp_path: Path, name: str) -> None:
    write_table(tmp_path / name, {"id": IDS, "score": np.arange(5) / 3})
    if name == "t.csv":
        with open(tmp_path / name, newline="") as handle:
            rows = list(csv.DictReader(handle))
    else:
        rows = pq.read_table(tmp_path / name).to_pylist()
    assert [row["id"] for row in rows] == IDS
    assert [float(row["score"]) for row in rows] == (np.arange(5) / 3).tolist()


def test_outputs_replace_nothing_unasked(tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("mine")
    with pytest.raises(InputError, match="is there already; write over it with --force"):
        refuse_overwrite(there)
    refuse_overwrite(there, force=True)
    (tmp_path / "link.csv").symlink_to(there)
    with pytest.raises(InputError, match="is an input"):
        refuse_overwrite(tmp_path / "link.csv", force=True, inputs=[tmp_path / "no such file", there])
    with pytest.raises(InputError, match="is a folder"):
        refuse_overwrite(tmp_path, force=True)
    with pytest.raises(InputError, match="its folder does not exist"):
        refuse_overwrite(tmp_path / "no" / "file.csv")
    refuse_overwrite(tmp_path / "new.csv")
