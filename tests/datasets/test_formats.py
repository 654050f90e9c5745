"""Loaders of data that is not at hand, on small files of the published format; and files that must be refused."""

import gzip
import os
import pickle

import numpy as np
import pytest

from fdmvgcl.datasets import load
from fdmvgcl.datasets.ogb import year_classes
from fdmvgcl.errors import InputError

NODES = 40


def write_yandex(root, folder, *, classes=3, features=6):
    rng = np.random.default_rng(0)
    masks = np.stack([rng.permutation(np.arange(NODES) % 4) for _ in range(10)])
    arrays = {
        "node_features": rng.standard_normal((NODES, features)).astype(np.float32),
        "node_labels": np.arange(NODES) % classes,
        "edges": np.stack([np.arange(NODES - 1), np.arange(1, NODES)], axis=1),
        "train_masks": masks < 2,
        "val_masks": masks == 2,
        "test_masks": masks == 3,
    }
    (root / folder / "raw").mkdir(parents=True)
    np.savez(root / folder / "raw" / f"{folder}.npz", **arrays)
    return arrays


def write_arxiv(root):
    rng = np.random.default_rng(0)
    tables = {
        "raw/edge": np.array([[0, 1], [2, 0], [5, 4], [5, 4]]),
        "raw/node-feat": rng.standard_normal((NODES, 5)).round(6),
        "raw/node-label": (np.arange(NODES) % 4)[:, None],
        "raw/node_year": rng.integers(1995, 2021, (NODES, 1)),
        "split/time/train": np.arange(0, 20)[:, None],
        "split/time/valid": np.arange(20, 30)[:, None],
        "split/time/test": np.arange(30, NODES)[:, None],
    }
    for name, table in tables.items():
        path = root / "ogbn_arxiv" / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as out:
            out.writelines(",".join(map(str, row)) + "\n" for row in table.tolist())
    return tables


@pytest.mark.parametrize(("name", "folder"), [("roman-empire", "roman_empire"), ("amazon-ratings", "amazon_ratings")])
def test_yandex_format(tmp_path, name, folder):
    arrays = write_yandex(tmp_path, folder)
    dataset = load(name, tmp_path)
    np.testing.assert_array_equal(dataset.features, arrays["node_features"])
    np.testing.assert_array_equal(dataset.labels, arrays["node_labels"])
    np.testing.assert_array_equal(dataset.edge_index, arrays["edges"].T)
    assert dataset.public_splits
    assert len(dataset.splits) == 10
    np.testing.assert_array_equal(dataset.splits[3].val, np.flatnonzero(arrays["val_masks"][3]))


def test_arxiv_format(tmp_path):
    tables = write_arxiv(tmp_path)
    dataset = load("ogbn-arxiv", tmp_path)
    np.testing.assert_allclose(dataset.features, tables["raw/node-feat"].astype(np.float32))
    np.testing.assert_array_equal(dataset.labels, tables["raw/node-label"][:, 0])
    assert dataset.edge_index.tolist() == [[0, 2, 5], [1, 0, 4]]
    assert dataset.splits[0].val.tolist() == list(range(20, 30))
    assert len(dataset.splits) == 1


def test_arxiv_year_uses_the_same_files_with_other_labels_and_splits(tmp_path):
    tables = write_arxiv(tmp_path)
    dataset = load("arxiv-year", tmp_path)
    np.testing.assert_array_equal(dataset.labels, year_classes(tables["raw/node_year"][:, 0])[0])
    assert [len(part) for part in (dataset.splits[9].train, dataset.splits[9].val, dataset.splits[9].test)] == [
        20,
        10,
        10,
    ]
    assert len(dataset.classes) == 5


def test_year_classes_are_half_open_quantile_bins():
    """Written as in LINKX: class k is ``lower <= year < upper`` between neighbouring quantiles."""
    years = np.random.default_rng(1).integers(2000, 2012, 500)
    expected = np.full(500, -1)
    lower = -np.inf
    for k in range(4):
        upper = np.nanquantile(years, (k + 1) / 5)
        expected[(years >= lower) & (years < upper)] = k
        lower = upper
    expected[years >= lower] = 4
    np.testing.assert_array_equal(year_classes(years)[0], expected)


@pytest.mark.parametrize("name", ["roman-empire", "amazon-ratings", "ogbn-arxiv", "arxiv-year", "crocodile", "cora"])
def test_missing_files_are_one_clear_line(tmp_path, name):
    with pytest.raises(InputError, match=r"is missing .* to be had from") as error:
        load(name, tmp_path)
    assert "\n" not in str(error.value)


def test_truncated_archive_is_one_clear_line(tmp_path):
    write_yandex(tmp_path, "roman_empire")
    path = tmp_path / "roman_empire" / "raw" / "roman_empire.npz"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be read as the data set roman-empire") as error:
        load("roman-empire", tmp_path)
    assert "\n" not in str(error.value)


def test_archive_that_needs_pickle_is_refused(tmp_path):
    arrays = write_yandex(tmp_path, "roman_empire")
    arrays["node_labels"] = np.array([{}] * NODES, dtype=object)
    np.savez(tmp_path / "roman_empire" / "raw" / "roman_empire.npz", **arrays)
    with pytest.raises(InputError, match="allow_pickle=False"):
        load("roman-empire", tmp_path)


class Bomb:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (self.target,)


def test_unknown_pickle_is_never_opened(tmp_path):
    names = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    (tmp_path / "Cora" / "raw").mkdir(parents=True)
    for name in names:
        (tmp_path / "Cora" / "raw" / f"ind.cora.{name}").write_bytes(pickle.dumps(Bomb(str(tmp_path / "exploded"))))
    with pytest.raises(InputError, match="SHA-256"):
        load("cora", tmp_path)
    assert not (tmp_path / "exploded").exists()
