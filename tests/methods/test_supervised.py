"""Classifiers: they learn from training labels, stop by validation ones, and read no other."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation import hide_test
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.methods import CLASSIFIERS, Classifier, Embedder, make_classifier

SMALL = {"hidden": 32, "epochs": 150, "lr": 0.03, "patience": None}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_learns_the_planted_groups_without_the_test_labels(name: str, planted: Any) -> None:
    model = make_classifier(name, **SMALL)
    assert isinstance(model, Classifier) or not hasattr(model, "classes_")
    assert not isinstance(model, Embedder)
    known = hide_test(planted.labels, planted.split)
    decided = model.fit(planted.graph, known, planted.split).decide(planted.graph)
    assert isinstance(model, Classifier)
    found = model.classes_[decided.argmax(axis=1)][planted.split.test]
    assert (
        np.mean(found == planted.labels[planted.split.test]) > planted.accuracy(planted.graph.features.toarray()) + 0.05
    )
    again = make_classifier(name, **SMALL).fit(planted.graph, planted.labels, planted.split).decide(planted.graph)
    np.testing.assert_array_equal(again, decided)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_may_be_any_numbers_and_validation_may_have_others(name: str, planted: Any) -> None:
    labels = np.array([3, 7, 11])[planted.labels]
    labels[planted.split.val[0]] = 5
    table = planted.graph.features.toarray()
    graph = Graph.from_scipy(planted.graph.adjacency, sparse.csr_array(table) if name == "gcn" else table + 0.01)
    model = make_classifier(name, **SMALL).fit(graph, labels, planted.split)
    assert model.classes_.tolist() == [3, 7, 11]
    assert np.isfinite(model.decide(graph)).all()


def test_labels_that_do_not_fit(planted: Any) -> None:
    with pytest.raises(ArgumentError, match="labels must be 180, one a node, got 3"):
        make_classifier("gcn").fit(planted.graph, np.zeros(3, np.int64), planted.split)
    with pytest.raises(ArgumentError, match="'gnc' is none; did you mean 'gcn'"):
        make_classifier("gnc")
