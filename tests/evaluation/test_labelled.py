from pathlib import Path

import numpy as np
import pytest

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.datasets import load
from fdmvgcl.errors import ArgumentError, InputError
from fdmvgcl.evaluation import Labelled, compare

IDS, NAMES = ("c", "a", "stranger"), ("red", "blue", "green")
HALVES = {"one": {"train": ["a"], "val": ["c"], "test": ["d"]}}


@pytest.fixture
def graph() -> Graph:
    return Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])


def test_labels_are_matched_by_id_and_what_is_left_out_is_told(graph: Graph) -> None:
    found = Labelled.match(graph, [*IDS, "d"], [*NAMES, "red"], HALVES)
    assert found.labels.tolist() == [0, -1, 1, 1]
    assert found.classes == ("blue", "red")
    assert [part.tolist() for part in (found.splits[0].train, found.splits[0].val, found.splits[0].test)] == [
        [0],
        [2],
        [3],
    ]
    assert found.told == "1 split"
    assert found.remarks == ("1 label of an id that is no node left out", "1 node has no label")


def test_without_splits_ten_are_drawn_from_the_labelled_nodes() -> None:
    graph = Graph.from_edges(range(40), np.roll(range(40), 1))
    found = Labelled.match(graph, [str(i) for i in range(30)], ["even", "odd"] * 15)
    assert len(found.splits) == 10
    assert all(len(split.train) == 3 and split.test.max() < 30 for split in found.splits)


@pytest.mark.parametrize(
    ("ids", "names", "splits", "argument", "told"),
    [
        (["x"], ["red"], None, "labels", "must label nodes of the graph"),
        (["a", "b"], ["red", "red"], None, "labels", "at least two classes"),
        (["a", "b"], ["red", "blue"], None, "labels", "enough nodes to split 10/10/80%"),
        (["a", "c"], ["red", "blue"], HALVES, "splits", "split 'one' names 'd', which is none"),
    ],
)
def test_what_cannot_be_used_is_refused(graph, ids, names, splits, argument, told) -> None:
    with pytest.raises(ArgumentError, match=told) as error:
        Labelled.match(graph, ids, names, splits)
    assert error.value.argument == argument


def test_an_error_names_the_file_that_it_is_in(graph: Graph, tmp_path: Path) -> None:
    labels, splits = tmp_path / "labels.csv", tmp_path / "splits.csv"
    labels.write_text("id,label\na,red\nc,blue\n")
    splits.write_text("id,split,part\na,0,train\nc,0,val\nd,0,test\n")
    with pytest.raises(InputError) as error:
        Labelled.read(graph, labels, splits)
    assert error.value.path == str(splits)
    with pytest.raises(InputError) as error:
        Labelled.read(graph, labels)
    assert error.value.path == str(labels)


def test_the_controls_stand_beside_the_embedding() -> None:
    """What karate's clubs are probed with: it has no features, so there is no control of raw ones."""
    dataset = load("karate")
    model = FDMVGCL(dim=8, views=2, epochs=2)
    prepared = model.prepare(dataset.graph())
    z = model.fit_transform(prepared)
    found = compare([z], Labelled.of_data_set(dataset), prepared, model, tune=False)
    assert [each.name for each in found] == [
        "embedding",
        "untrained encoder",
        "diffused features, T = 3",
        "majority class",
    ]
    assert all(len(each.tests) == len(dataset.splits) for each in found)
    assert np.mean(found[0].tests) > np.mean(found[-1].tests)
    assert model.history_, "the model itself is not trained anew"
