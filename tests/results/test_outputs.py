"""Result folders, files of vectors, neighbours and the verdict on collapse."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fdmvgcl.errors import InputError
from fdmvgcl.graphs.node_ids import close_ids
from fdmvgcl.learning.knowledge import Knowledge, Rival
from fdmvgcl.learning.verdict import Verdict, judge
from fdmvgcl.results.outputs import ResultFolder, write_views
from fdmvgcl.results.search import _first, _index, nearest
from fdmvgcl.results.vectors import VectorFile, write_vectors


def vectors(count: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


def names(count: int) -> list[str]:
    return [f"node {i}" for i in range(count)]


class TestVectors:
    def test_columns_are_what_the_contract_says(self, tmp_path: Path) -> None:
        z = vectors(7, 5)
        write_vectors(tmp_path / "z.parquet", names(7), {"z": z})
        table = pq.read_table(tmp_path / "z.parquet")
        assert table.column_names == ["id", "z"]
        assert table.schema.field("id").type == pa.string()
        kind = table.schema.field("z").type
        assert pa.types.is_fixed_size_list(kind)
        assert (kind.list_size, kind.value_type) == (5, pa.float32())
        assert table["id"].to_pylist() == names(7)
        np.testing.assert_array_equal(np.stack(table["z"].to_numpy(zero_copy_only=False)), z)

    def test_the_same_input_gives_the_same_bytes(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            write_vectors(tmp_path / name, names(9), {"z": vectors(9, 4)})
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    @pytest.mark.parametrize("width", [1, 3, 4096])
    def test_many_row_groups_are_read_as_one(self, tmp_path: Path, width: int) -> None:
        z = vectors(2500, width)
        write_vectors(tmp_path / "z", names(2500), {"z": z})
        with VectorFile(tmp_path / "z") as file:
            assert file.columns == {"z": width}
            np.testing.assert_array_equal(file.read("z"), z)
            some = np.array([2499, 0, 1024, 1023, 0])
            np.testing.assert_array_equal(file.rows("z", some), z[some])

    def test_a_large_file_comes_in_pieces(self, tmp_path: Path) -> None:
        z = vectors(9000, 512)  # two row groups
        write_vectors(tmp_path / "z", names(len(z)), {"z": z, "more": -z})
        with VectorFile(tmp_path / "z") as file:
            blocks = list(file.blocks("more"))
        assert len(blocks) > 1
        np.testing.assert_array_equal(np.concatenate(blocks), -z)

    @pytest.mark.parametrize(
        "how",
        [
            {"compression": "snappy", "use_dictionary": False},
            {"compression": "none", "use_dictionary": True},
            {"compression": "none", "use_dictionary": False, "use_byte_stream_split": ["z.list.element"]},
            {"compression": "none", "use_dictionary": False, "write_page_checksum": True},
            {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
            {"compression": "none", "use_dictionary": False, "write_statistics": True},
            {"compression": "none", "use_dictionary": False, "data_page_size": 64},
        ],
    )
    def test_what_others_write_is_decoded(self, tmp_path: Path, how: dict[str, Any]) -> None:
        z = vectors(3000, 5)
        kind = pa.list_(pa.float32(), 5)  # elements and lists may be missing, though none is
        flat = pa.FixedSizeListArray.from_arrays(pa.array(z.reshape(-1)), type=kind)
        pq.write_table(pa.table({"z": flat, "id": names(3000)}), tmp_path / "z", **how)
        with VectorFile(tmp_path / "z") as file:
            np.testing.assert_array_equal(file.read("z"), z)
            np.testing.assert_array_equal(file.rows("z", np.array([2999])), z[2999:])

    def test_missing_values_are_not_skipped(self, tmp_path: Path) -> None:
        table = pa.table({"id": ["a", "b"], "z": pa.array([[1, None], [3, 4]], pa.list_(pa.float32(), 2))})
        pq.write_table(table, tmp_path / "z", compression="none", use_dictionary=False, write_statistics=False)
        with VectorFile(tmp_path / "z") as file:
            np.testing.assert_array_equal(file.read("z"), [[1, np.nan], [3, 4]])

    def test_views_carry_orders_and_weights(self, tmp_path: Path) -> None:
        views = np.stack([vectors(4, 3, seed) for seed in (0, 1)])
        write_views(tmp_path / "views.parquet", names(4), views, [0.01, 1.0], [0.5, 0.5])
        metadata = pq.read_schema(tmp_path / "views.parquet").metadata
        assert json.loads(metadata[b"alphas"]) == [0.01, 1.0]
        read = ResultFolder(tmp_path).read_views()
        assert read is not None
        np.testing.assert_array_equal(np.stack(read), views)

    @pytest.mark.parametrize("kept", [0, 4, 300, -5])
    def test_a_truncated_file_is_one_error(self, tmp_path: Path, kept: int) -> None:
        path = tmp_path / "z.parquet"
        write_vectors(path, names(50), {"z": vectors(50, 8)})
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(InputError, match=r"z\.parquet: is"):
            nearest(path, "node 0", 3)

    def test_another_table_is_refused(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"id": ["a"], "z": ["text"]}), tmp_path / "z")
        with pytest.raises(InputError, match="must have a column id and columns of float vectors"):
            VectorFile(tmp_path / "z")


class TestNearest:
    @given(st.integers(2, 40), st.integers(1, 9), st.integers(0, 1000))
    @settings(max_examples=25, deadline=None)
    def test_it_is_the_exact_answer(self, tmp_path_factory: pytest.TempPathFactory, n: int, d: int, seed: int) -> None:
        path = tmp_path_factory.mktemp("nearest") / "z"
        z = vectors(n, d, seed)
        write_vectors(path, names(n), {"z": z})
        unit = z.astype(np.float64) / np.linalg.norm(z.astype(np.float64), axis=1, keepdims=True)
        truth = unit @ unit[1]
        found = nearest(path, "node 1", n)
        assert len(found) == n - 1
        assert "node 1" not in [each.id for each in found]
        np.testing.assert_allclose([each.cosine for each in found], np.sort(np.delete(truth, 1))[::-1], atol=1e-5)
        for each in found:
            assert each.cosine == pytest.approx(truth[int(each.id.split()[1])], abs=1e-5)

    def test_equals_keep_their_order_and_zero_rows_have_cosine_0(self, tmp_path: Path) -> None:
        z = np.array([[1, 0], [2, 0], [0, 0], [3, 0], [-1, 0]], np.float32)
        write_vectors(tmp_path / "z", list("abcde"), {"z": z})
        assert [(each.id, each.cosine) for each in nearest(tmp_path / "z", "a", 9)] == [
            ("b", 1.0),
            ("d", 1.0),
            ("c", 0.0),
            ("e", -1.0),
        ]
        assert {each.cosine for each in nearest(tmp_path / "z", "c", 9)} == {0.0}

    def test_equal_rows_are_equals_wherever_they_stand(self, tmp_path: Path) -> None:
        z = np.repeat(vectors(1, 509), 1031, axis=0)
        z[7] = vectors(1, 509, seed=1)
        write_vectors(tmp_path / "z", names(1031), {"z": z})
        found = [each.id for each in nearest(tmp_path / "z", "node 0", 1031)]
        assert found == [*names(1031)[1:7], *names(1031)[8:], "node 7"]

    @given(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=1), st.integers(1, 9))
    def test_the_first_are_those_of_a_stable_sort(self, keys: list[float], count: int) -> None:
        expected = np.argsort(np.array(keys), kind="stable")[:count]
        np.testing.assert_array_equal(_first(np.array(keys), count), expected)

    @given(st.lists(st.text(max_size=3), max_size=20), st.text(max_size=3), st.integers(0, 5))
    def test_an_id_is_found_where_it_stands(self, ids: list[str], asked: str, skipped: int) -> None:
        chunks = pa.chunked_array([ids[:4], ["no", *ids[4:]]], pa.string()).slice(skipped)
        listed = chunks.to_pylist()
        assert _index([asked, "\udcff"], chunks).tolist() == [listed.index(asked) if asked in listed else -1, -1]

    @pytest.mark.parametrize(
        ("asked", "meant"),
        [
            ("Alise", "alice"),
            ("ALICE", "alice"),
            ("lice", "alice"),
            ("bobb", "bob"),
            (" bob", "bob"),
            ("n00017", "n0017"),
        ],
    )
    def test_close_ids(self, asked: str, meant: str) -> None:
        ids = pa.chunked_array([["alice", "bob", "carol"], [f"n{i:04}" for i in range(500)]])
        assert meant in close_ids(asked, ids)

    @pytest.mark.parametrize("asked", ["", "§", "x" * 10_000])
    def test_nothing_is_close_to_nonsense(self, asked: str) -> None:
        assert close_ids(asked, pa.chunked_array([["alice", "bob"]])) == []


class TestResultFolder:
    @staticmethod
    def fail_inside(folder: ResultFolder, *written: Path) -> None:
        with contextlib.suppress(RuntimeError), folder.claimed():
            assert folder.path.is_dir()
            for path in written:
                path.touch()
            raise RuntimeError

    def test_a_new_folder_vanishes_when_nothing_came_of_it(self, tmp_path: Path) -> None:
        folder = ResultFolder(tmp_path / "a" / "b")
        self.fail_inside(folder)
        assert list(tmp_path.iterdir()) == []

    def test_what_was_written_stays(self, tmp_path: Path) -> None:
        folder = ResultFolder(tmp_path / "a")
        self.fail_inside(folder, folder.checkpoint)
        assert folder.checkpoint.exists()

    def test_a_foreign_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "graph.npz").write_text("mine")
        with pytest.raises(InputError, match="is not empty"), ResultFolder(tmp_path).claimed():
            pass
        assert (tmp_path / "graph.npz").read_text() == "mine"

    def test_our_folder_may_be_used_again_and_leftovers_go(self, tmp_path: Path) -> None:
        leftover = tmp_path / ".checkpoint.safetensors.0123abcd.tmp"
        leftover.touch()
        with ResultFolder(tmp_path).claimed():
            assert not leftover.exists()
        (tmp_path / "checkpoint.safetensors").touch()
        (tmp_path / "notes.txt").touch()
        with ResultFolder(tmp_path).claimed():
            pass

    @pytest.mark.parametrize("place", ["file/out", "file", "/proc/nothing/out", "x" * 300])
    def test_what_cannot_be_written_to_is_refused(self, tmp_path: Path, place: str) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(InputError, match="cannot be written to"), ResultFolder(tmp_path / place).claimed():
            pass

    def test_a_folder_without_results_is_told_from_an_unfinished_run(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such folder"):
            ResultFolder(tmp_path / "none").require()
        with pytest.raises(InputError, match="no results"):
            ResultFolder(tmp_path).require()
        (tmp_path / "checkpoint.safetensors").touch()
        with pytest.raises(InputError, match="unfinished run"):
            ResultFolder(tmp_path).require()


class TestVerdict:
    @staticmethod
    def history(*ranks: float) -> list[dict[str, float]]:
        return [{"phase": 0, "effective_rank": rank} for rank in ranks]

    @staticmethod
    def knowledge(above: float, deviation: float = 0.01) -> Knowledge:
        rivals = {"untrained": Rival(0.5, -0.3, 0.01), "diffused": Rival(0.8 + above, above, deviation)}
        return Knowledge(0.8, 0.01, rivals, 400)

    def test_spread_out_vectors_that_know_as_much_as_their_controls_are_healthy(self) -> None:
        z, history = vectors(300, 20), self.history(20, 19)
        told = "effective rank 20 of at most 20, 20 before training"
        known = "diffused features: AUC 0.800 against 0.805, 400 edges hidden from a copy"
        verdict = judge(z, history, self.knowledge(0.005))
        assert str(verdict) == f"healthy: {told}; of hidden edges they know as much as {known}"
        assert "they know more than diffused features" in str(judge(z, history, self.knowledge(-0.1)))

    def test_nothing_is_healthy_that_was_not_measured(self) -> None:
        verdict = judge(vectors(300, 20), self.history(20, 19), None, "the graph is large")
        assert verdict.health == "not collapsed"
        assert str(verdict).endswith("what they know of hidden edges was not measured (the graph is large)")

    def test_who_knows_no_more_than_chance_is_not_healthy(self) -> None:
        chance = Knowledge(0.53, 0.02, {"diffused": Rival(0.54, 0.01, 0.02)}, 100)
        verdict = judge(vectors(300, 20), self.history(20, 19), chance)
        assert verdict.health == "not collapsed"
        assert "they know no more than chance, as do all controls: AUC 0.530" in str(verdict)

    def test_a_control_that_clearly_knows_more_is_named(self) -> None:
        z, history = vectors(300, 20), self.history(20, 19)
        verdict = judge(z, history, self.knowledge(0.1))
        assert verdict.health == "behind"
        assert "less than diffused features: AUC 0.900 against 0.800" in str(verdict)
        assert str(verdict).endswith("--control diffused")
        assert judge(z, history, self.knowledge(0.1, deviation=0.06)).health == "healthy"  # it may be chance
        assert judge(z, history, self.knowledge(0.009, deviation=0.001)).health == "healthy"  # it is next to nothing
        collapsed = judge(np.outer(np.arange(1, 9), np.ones(20)).astype(np.float32), [], self.knowledge(0.1))
        assert collapsed.health == "collapsed"
        assert "--control diffused" in str(collapsed)

    def test_one_direction_is_a_collapse(self) -> None:
        verdict = judge(np.outer(np.arange(1, 9), np.ones(20)).astype(np.float32), [])
        assert verdict.health == "collapsed"
        assert "the features hardly tell nodes apart" in str(verdict)
        assert "fewer epochs" in str(Verdict(rank=1.1, most=20, start=15.0))

    def test_one_node_of_one_cannot_collapse(self) -> None:
        assert judge(np.ones((1, 5), np.float32), self.history(1.0)).health == "not collapsed"

    def test_on_a_tiny_graph_the_first_direction_is_no_sign_of_health(self) -> None:
        verdict = Verdict(rank=1.44, most=4, start=3.2)
        assert str(verdict).startswith("narrowed: effective rank 1.4 of at most 4, 3.2 before training; try")
        assert Verdict(rank=1.1, most=4, start=None).health == "collapsed"

    def test_lost_directions_are_told(self) -> None:
        z = np.zeros((300, 20), np.float32)
        z[:, :4] = vectors(300, 4)
        assert judge(z, self.history(19, 9)).health == "narrowed"

    def test_the_start_is_that_of_the_last_phase(self) -> None:
        later = [{"phase": 1, "effective_rank": 9.0}]
        assert judge(vectors(300, 8), [*self.history(500), *later]).start == 9.0
