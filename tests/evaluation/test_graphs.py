"""The protocol of whole graphs: what reads a label when, and kernels held to loops and to an independent library."""

from dataclasses import replace

import grakel
import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fdmvgcl import FDMVGCL, GraphSet
from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation.graph_controls import diffused_rows, graph_controls, size_rows
from fdmvgcl.evaluation.graphs import (
    INNER_FOLDS,
    PENALTIES,
    fold_scores,
    kernels_of,
    majority_scores,
    setting_scores,
    stratified_folds,
)
from fdmvgcl.evaluation.weisfeiler_lehman import node_labels, wl_kernels
from fdmvgcl.learning.graph_level import read_out


def two_kinds(count: int = 40, seed: int = 0) -> tuple[GraphSet, np.ndarray]:
    """Trees and denser graphs of the same sizes."""
    rng = np.random.default_rng(seed)
    parts = []
    for i in range(count):
        size = int(rng.integers(6, 12))
        tree = nx.random_labeled_tree(size, seed=i)
        parts.append(tree if i % 2 else nx.compose(tree, nx.cycle_graph(size)))
    return GraphSet.from_networkx(parts), np.arange(count) % 2


def test_folds_are_stratified_disjoint_and_cover_all() -> None:
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    folds = stratified_folds(labels, 0)
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(100))
    for train, test in folds:
        assert not set(train) & set(test)
        assert_array_equal(np.bincount(labels[test]), [5, 3, 2])
    assert any((a[1] != b[1]).any() for a, b in zip(folds, stratified_folds(labels, 1), strict=True))
    assert len(stratified_folds(np.repeat([0, 1], [50, 4]), 0)) == 4


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0] * 10, "labels must have at least two classes, got 1"),
        (
            [0] * 10 + [1] * 2,
            "labels must have at least 3 graphs of each class, or a fold would hold one class alone; "
            "got 2 of class 'b'",
        ),
    ],
)
def test_too_few_graphs_of_a_class_are_refused(labels: list[int], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        stratified_folds(np.array(labels), 0, classes=("a", "b"))
    assert str(caught.value) == message


def test_kernels_are_those_of_standardised_rows() -> None:
    rows = np.random.default_rng(0).normal(3, 2, (20, 4)) * [1, 10, 100, 0]
    found = kernels_of(rows)
    x = (rows[:, :3] - rows[:, :3].mean(0)) / rows[:, :3].std(0)
    squares = ((x[:, None] - x) ** 2).sum(-1)
    assert_allclose(found["gaussian 4"], np.exp(-4 * squares / squares.mean()), atol=1e-10)
    assert_allclose(found["linear"], x @ x.T / 3, atol=1e-10)
    assert set(kernels_of(np.ones((5, 2)))) == set(found)


def test_what_is_chosen_needs_no_test_label() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    kernels = kernels_of(rng.normal(size=(60, 3)) + labels[:, None])
    found = fold_scores(kernels, labels, 0)
    for fold, (train, test) in enumerate(stratified_folds(labels, 0)):
        hidden = labels.copy()
        hidden[test] = 99
        inner = stratified_folds(hidden[train], 0, INNER_FOLDS)
        inside = np.mean([setting_scores(kernels, hidden, train[a], train[b], PENALTIES) for a, b in inner], axis=0)
        names = [f"{name}, C = {penalty:g}" for name in kernels for penalty in PENALTIES]
        assert found.chosen[fold] == names[int(inside.argmax())]
        assert found.validation[fold] == inside.max()


def test_labels_that_tell_nothing_are_at_chance_but_optimism_is_above() -> None:
    rng = np.random.default_rng(1)
    found = [fold_scores(kernels_of(rng.normal(size=(60, 5))), np.arange(60) % 2, seed) for seed in range(3)]
    nested, lucky = (np.mean([getattr(each, name) for each in found]) for name in ("test", "optimistic"))
    assert 0.35 < nested < 0.62
    assert lucky >= nested


def test_what_can_be_told_is_found() -> None:
    graphs, labels = two_kinds()
    model = FDMVGCL(dim=8, views=2, epochs=2).fit(graphs)
    assert np.mean(fold_scores(kernels_of(model.transform(graphs)), labels, 0).test) > 0.9
    assert np.mean(fold_scores(wl_kernels(graphs), labels, 0).test) > 0.9
    assert np.mean(majority_scores(np.array([0] * 30 + [1] * 10), 0).test) == 0.75


def test_controls_are_what_they_are_called() -> None:
    graphs, labels = two_kinds()
    model = FDMVGCL(dim=8, views=2, epochs=1, readout="mean").fit(graphs)
    controls = graph_controls(graphs, model)
    assert list(controls) == ["size", "with marks", "diffused", "untrained", "Weisfeiler-Lehman"]
    for make in controls.values():
        for kernel in make().values():
            assert kernel.shape == (40, 40)
            assert_allclose(kernel, kernel.T)
    assert_array_equal(size_rows(graphs)[:, 0], graphs.sizes)
    # With the time that the model has, a constant signal on a regular graph does not change: read out, it is itself.
    ring = GraphSet.from_networkx([nx.cycle_graph(5), nx.cycle_graph(7), nx.complete_graph(4)])
    fitted = FDMVGCL(dim=4, views=2, epochs=0, readout="mean", features="none").set_params(features__centre=False)
    fitted.fit(ring)
    expected = read_out(ring.marked.features, ring.owner, 3, "mean")
    assert_allclose(diffused_rows(ring, fitted), expected, atol=1e-5)
    assert len(labels) == 40


def test_the_subtree_kernel_is_the_independent_librarys() -> None:
    rng = np.random.default_rng(0)
    parts = []
    for i in range(12):
        graph = nx.gnp_random_graph(int(rng.integers(2, 9)), 0.4, seed=i)
        for node in graph:
            graph.nodes[node]["label"] = int(rng.integers(3))
        parts.append(graph)
    graphs = GraphSet.from_networkx(parts)
    labels = np.array([part.nodes[int(node.split("/")[1])]["label"] for part, node in _nodes(graphs, parts)])
    theirs = [({(a, b): 1 for e in part.edges for a, b in (e, e[::-1])}, nx.get_node_attributes(part, "label"), {})
              for part in parts]  # fmt: skip
    for rounds in (0, 1, 3):
        kernel = grakel.WeisfeilerLehman(
            n_iter=max(1, rounds), normalize=True, base_graph_kernel=grakel.VertexHistogram
        )
        if rounds:
            assert_allclose(wl_kernels(graphs, labels, rounds)[f"rounds {rounds}"], kernel.fit_transform(theirs))
    assert_allclose(
        wl_kernels(graphs, labels, 0)["rounds 0"], grakel.VertexHistogram(normalize=True).fit_transform(theirs)
    )


def _nodes(graphs: GraphSet, parts: list[nx.Graph]) -> list[tuple[nx.Graph, str]]:
    return [(parts[owner], node) for owner, node in zip(graphs.owner, graphs.block.ids, strict=True)]


def test_the_subtree_kernel_of_two_graphs_by_hand() -> None:
    graphs = GraphSet.from_networkx([nx.path_graph(3), nx.path_graph(2), nx.Graph()])
    found = wl_kernels(graphs, np.zeros(5, dtype=np.int64), 1)
    # Round 0: (3) and (2) of one colour. Round 1: the path of three has two ends and a middle, that of two two ends.
    assert_allclose(found["rounds 0"][:2, :2], 1)
    assert_allclose(found["rounds 1"][0, 1], (3 * 2 + 2 * 2) / np.sqrt((9 + 5) * (4 + 4)))
    assert_array_equal(found["rounds 1"][2], 0)


def test_measured_numbers_are_no_labels_of_nodes() -> None:
    graphs = GraphSet.from_networkx([nx.path_graph(3), nx.path_graph(2)])
    assert node_labels(graphs) is None
    measured = np.linspace(0.1, 0.9, 5)[:, None]
    alone = replace(graphs, block=graphs.block.with_features(measured))
    assert node_labels(alone) is None
    kinds = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [0, 1]])
    beside = replace(graphs, block=graphs.block.with_features(np.concatenate([kinds, measured], axis=1)))
    assert_array_equal(node_labels(beside), [1, 0, 1, 0, 0])
