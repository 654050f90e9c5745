import numpy as np
import pytest

from fdmvgcl.datasets import Dataset, Split, seeded_splits
from fdmvgcl.datasets.dataset import coalesce


def toy(**changes):
    fields = {
        "name": "toy",
        "edge_index": np.array([[0, 1, 1, 3, 2], [1, 0, 2, 3, 1]]),
        "features": None,
        "labels": np.array([0, 0, 1, 1, 0]),
        "classes": ("no", "yes"),
        "splits": (Split([0, 2], [1], [3, 4]),),
        "public_splits": True,
    }
    return Dataset(**(fields | changes))


def test_undirected_edges_drop_direction_and_loops():
    assert toy().undirected_edges().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edge_index": np.array([[0], [5]])}, "outside 0..4"),
        ({"features": np.ones((4, 2), dtype=np.float32)}, "4 feature rows for 5 labels"),
        ({"classes": ("no",)}, "label 1 with 1 classes"),
    ],
)
def test_inconsistent_parts_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        toy(**changes)


def test_graph_has_every_node_and_no_labels():
    features = np.arange(10, dtype=np.float32).reshape(5, 2)
    graph = toy(features=features).graph()
    assert list(graph.ids) == ["0", "1", "2", "3", "4"]
    assert graph.num_edges == 2
    assert graph.num_features == 2
    assert not hasattr(graph, "labels")


def test_split_is_disjoint_and_sorted():
    split = Split(np.array([4, 0]), np.array([1]), np.array([3, 2]))
    assert split.train.tolist() == [0, 4]
    assert split.test.tolist() == [2, 3]
    with pytest.raises(ValueError, match="disjoint, but node 1 is in two"):
        Split(np.array([0, 1]), np.array([1]), np.array([2]))
    with pytest.raises(ValueError, match="at least one val node"):
        Split(np.array([0]), np.array([], dtype=int), np.array([2]))


def test_seeded_splits_cover_the_labelled_nodes_and_never_change():
    labels = np.zeros(1000, dtype=np.int64)
    labels[7] = -1
    splits = seeded_splits(labels, train=0.48, val=0.32)
    assert len(splits) == 10
    for split in splits:
        assert [len(part) for part in (split.train, split.val, split.test)] == [480, 319, 200]
        everything = np.concatenate([split.train, split.val, split.test])
        assert sorted(everything) == [node for node in range(1000) if node != 7]
    assert splits[0].train.tolist() != splits[1].train.tolist()
    # Stored results name a split by its number, so the draw must stay what it is.
    assert seeded_splits(np.zeros(10, dtype=np.int64), train=0.3, val=0.2)[0].train.tolist() == [2, 4, 6]


def test_coalesce_sorts_and_drops_duplicates_but_keeps_loops():
    edges = np.array([[2, 0, 2, 1], [0, 1, 0, 1]])
    assert coalesce(edges, 3).tolist() == [[0, 1, 2], [1, 1, 0]]
