"""A graph in a folder is the graph in memory: array by array, and a damaged folder is refused."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.errors import InputError
from fdmvgcl.graphs import fingerprint as fingerprints
from fdmvgcl.graphs import operators
from fdmvgcl.graphs.node_ids import ArrowIds, all_integers, id_order
from fdmvgcl.graphs.store import is_store, open_store, save_store, source_of

NAMES = ["O'Brien", "007", "Zoë", "<script>", "NA", "-3", "𝔘"]


def small(weighted: bool, directed: bool = False, features: Any = None, lonely: int = 2) -> Graph:
    rng = np.random.default_rng(0)
    tails, heads = (rng.choice(NAMES, 12) for _ in range(2))
    weight = rng.random(12) if weighted else None
    nodes = [*NAMES, *(f"alone {i}" for i in range(lonely))]
    graph = Graph.from_edges(tails, heads, weight=weight, nodes=nodes, directed=directed)
    return graph if features is None else graph.with_features(features[: graph.num_nodes])


def same(first: Graph, second: Graph) -> None:
    assert first.ids == second.ids
    assert tuple(first.ids) == tuple(second.ids)
    for matrix, other in [(first.adjacency, second.adjacency), (first.features, second.features)]:
        assert type(matrix) is type(other)
        if isinstance(matrix, np.ndarray):
            assert np.array_equal(matrix, other)
        elif matrix is not None:
            for part in ("data", "indices", "indptr"):
                assert np.array_equal(getattr(matrix, part), getattr(other, part))
                assert getattr(matrix, part).dtype == getattr(other, part).dtype
    for name in ("directed", "counts", "origin", "feature_names", "encoding", "weighted", "notes"):
        assert getattr(first, name) == getattr(second, name), name
    assert first.describe() == second.describe()
    np.testing.assert_allclose(first.degrees, second.degrees, rtol=1e-15)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("features", [None, np.eye(9, 3, dtype=np.float32) + 1, np.eye(40, 20, dtype=np.float32)])
def test_a_store_holds_the_graph(tmp_path: Path, weighted: bool, directed: bool, features: Any) -> None:
    graph = small(weighted, directed, features, lonely=2 if features is None else len(features) - len(NAMES))
    assert features is None or sparse.issparse(graph.features) == (features.shape[1] == 20)
    save_store(graph, tmp_path / "store")
    found = open_store(tmp_path / "store")
    same(graph, found)
    assert found.fingerprint == graph.fingerprint
    assert is_store(tmp_path / "store")
    assert [graph.index(node) for node in graph.ids] == [found.index(node) for node in graph.ids]
    with pytest.raises(KeyError):
        found.index("nobody")


def test_arrays_of_a_store_lie_on_disk(tmp_path: Path) -> None:
    save_store(small(True, features=np.eye(9, 3) + 1), tmp_path / "store")
    found = open_store(tmp_path / "store")
    for array in (found.adjacency.data, found.adjacency.indices, found.features, found.degrees):
        base = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
    assert isinstance(found.ids, ArrowIds)


def test_an_unweighted_store_holds_one_number_for_all_weights(tmp_path: Path) -> None:
    save_store(small(False), tmp_path / "store")
    found = open_store(tmp_path / "store")
    assert found.adjacency.data.strides == (0,)
    assert not (tmp_path / "store" / "weights.f64").exists()


def test_a_model_takes_a_store_for_the_graph(tmp_path: Path) -> None:
    graph = small(True, features=np.eye(9, 3))
    save_store(graph, tmp_path / "store")
    z, other = (
        FDMVGCL(dim=4, views=2, epochs=2).fit_transform(each) for each in (graph, open_store(tmp_path / "store"))
    )
    assert z.tobytes() == other.tobytes()


def test_a_store_can_be_saved_as_npz_with_the_same_bytes(tmp_path: Path) -> None:
    graph = small(False, features=np.eye(9, 3))
    save_store(graph, tmp_path / "store")
    graph.save(tmp_path / "memory.npz")
    open_store(tmp_path / "store").save(tmp_path / "store.npz")
    assert (tmp_path / "memory.npz").read_bytes() == (tmp_path / "store.npz").read_bytes()


def test_nothing_is_left_of_a_store_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdmvgcl.graphs.store.write_features", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save_store(small(True), tmp_path / "store")
    assert not list(tmp_path.iterdir())


def test_a_store_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with pytest.raises(InputError, match="is there already"):
        save_store(small(True), tmp_path / "store")


def damage_json(key: str, value: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        meta = json.loads((folder / "meta.json").read_text())
        (folder / "meta.json").write_text(json.dumps(meta | {key: value}))

    return damage


def damage_numbers(name: str, dtype: str, place: int, value: int) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        numbers = np.fromfile(folder / name, dtype)
        numbers[place] = value
        numbers.tofile(folder / name)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damage_json("format", "another"),
        damage_json("version", 2),
        damage_json("nodes", 8),
        damage_json("entries", 3),
        damage_json("files", {"../../etc/passwd": 3}),
        damage_json("counts", {"wrong": 1}),
        damage_json("encoding", 3),
        lambda folder: (folder / "meta.json").write_text("[]"),
        lambda folder: (folder / "meta.json").write_text("{"),
        lambda folder: (folder / "ids.arrow").unlink(),
        lambda folder: (folder / "ids.arrow").write_bytes(b"x" * (folder / "ids.arrow").stat().st_size),
        lambda folder: os.truncate(folder / "weights.f64", 8),
        damage_numbers("indices.i32", "<i4", 0, 9),
        damage_numbers("indices.i32", "<i4", 1, -1),
        damage_numbers("indptr.i64", "<i8", 3, -1),
        damage_numbers("indptr.i64", "<i8", 0, 1),
    ],
)
def test_a_damaged_store_is_refused(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    save_store(small(True), tmp_path / "store")
    damage(tmp_path / "store")
    with pytest.raises(InputError, match="store") as caught:
        open_store(tmp_path / "store")
    assert "\n" not in str(caught.value)


def test_what_is_no_store_has_no_source(tmp_path: Path) -> None:
    assert source_of(tmp_path) is None
    (tmp_path / "meta.json").write_text("[1]")
    assert source_of(tmp_path) is None


@given(st.lists(st.one_of(st.text(min_size=1, max_size=3), st.integers().map(str)), min_size=1, unique=True))
def test_ids_in_arrow_read_like_a_tuple(names: list[str]) -> None:
    names = [name for name in names if name.isprintable()] or ["a"]
    written = pa.array(names, pa.large_string())
    ordered = written.take(pa.array(id_order(written)))
    halves = [ordered[: len(names) // 2], ordered[len(names) // 2 :]]
    ids, plain = ArrowIds(pa.chunked_array(halves), all_integers(written)), tuple(ordered.to_pylist())
    assert tuple(ids) == plain
    assert ids == plain
    assert plain == ids
    assert [*ids, ids[-1], ids[1:], ids[::-1], len(ids)] == [*plain, plain[-1], plain[1:], plain[::-1], len(plain)]
    assert [ids.find(name) for name in plain] == list(range(len(plain)))
    assert all(name in ids for name in plain)
    assert ids.find("never\n") is None
    assert ids != plain[:-1]
    assert pa.array(ids, pa.string()).to_pylist() == list(plain)


def test_a_fingerprint_does_not_depend_on_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = small(True, features=np.eye(9, 3))
    whole = fingerprints.fingerprint(graph)
    monkeypatch.setattr(fingerprints, "_PIECE", 2)
    assert fingerprints.fingerprint(graph) == whole


@pytest.mark.parametrize("normalisation", ["sym", "rw"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("lonely", [0, 2])
def test_the_operator_of_an_adjacency_is_that_of_its_edges(
    normalisation: str, weighted: bool, lonely: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operators, "_BLOCK", 5)
    graph = small(weighted, lonely=lonely)
    entries = graph.adjacency.tocoo()
    edges = torch.from_numpy(np.stack([entries.row, entries.col]).astype(np.int64))
    truth = operators.Operator.from_edges(
        edges, torch.tensor(entries.data), graph.num_nodes, normalisation=normalisation
    )
    found = graph.operator(normalisation, dtype=torch.float64)
    for name in ("rows", "columns", "values", "similarity"):
        expected, got = getattr(truth, name), getattr(found, name)
        assert (expected is None and got is None) or torch.equal(expected, got)
