from dataclasses import asdict

import numpy as np
import pytest

from fdmvgcl.datasets import MEASURED, datasets, load, statistics


def test_known_names():
    assert list(datasets()) == [
        *("cora", "citeseer", "pubmed", "computers", "photo", "cornell", "texas", "wisconsin", "actor", "squirrel"),
        *("chameleon", "crocodile", "acm", "blogcatalog", "dblp", "polblogs", "twitch_es", "minesweeper", "tolokers"),
        *("roman-empire", "amazon-ratings", "ogbn-arxiv", "arxiv-year", "digits", "karate"),
    ]
    assert all(entry.description for entry in datasets().values())


def test_unknown_name_gets_a_suggestion_and_the_list():
    with pytest.raises(ValueError, match=r"unknown data set 'Cora-ML'; did you mean 'cora'\? Known: cora, citeseer"):
        load("Cora-ML")
    with pytest.raises(ValueError, match=r"unknown data set 'zzz'\. Known: cora"):
        load("zzz")


def test_availability_looks_at_files_only(tmp_path):
    assert datasets()["digits"].available(tmp_path)
    assert not datasets()["cora"].available(tmp_path)


def test_digits_is_a_symmetric_neighbour_graph():
    dataset = load("digits")
    found = statistics(dataset)
    assert (found.nodes, found.features, found.classes, found.isolated) == (1797, 64, 10, 0)
    assert asdict(found) == pytest.approx(asdict(MEASURED["digits"]), abs=1e-4)
    degrees = np.bincount(dataset.edge_index[0], minlength=1797)
    assert degrees.min() >= 10
    np.testing.assert_array_equal(degrees, np.bincount(dataset.edge_index[1], minlength=1797))
    assert dataset.features.max() == 1.0
    linked = set(zip(*dataset.edge_index.tolist(), strict=True))
    grey = (16 * dataset.features).astype(int)
    for node in range(0, 1797, 100):
        squares = ((grey - grey[node]) ** 2).sum(axis=1)
        nearest = sorted(set(range(1797)) - {node}, key=lambda other: (squares[other], other))[:10]
        assert {(node, other) for other in nearest} <= linked
    assert len(dataset.splits) == 10


def test_karate_has_its_two_sides_and_no_features():
    dataset = load("karate")
    found = statistics(dataset)
    assert (found.nodes, found.edges, found.features, found.classes) == (34, 78, 0, 2)
    assert asdict(found) == pytest.approx(asdict(MEASURED["karate"]), abs=1e-4)
    assert dataset.features is None
    assert dataset.classes[dataset.labels[0]] == "Mr. Hi"
    assert dataset.classes[dataset.labels[33]] == "Officer"
