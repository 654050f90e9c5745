"""The real files: what they hold (data/README.md of the shared folder), and that we read them as others do."""

import shutil
from dataclasses import asdict

import numpy as np
import pytest
import scipy.sparse as sp

from fdmvgcl.datasets import MEASURED, load, paper_differences, statistics

# name: nodes, features, classes, edges as listed, linked pairs, isolated nodes, number of splits
FIGURES = {
    "cora": (2708, 1433, 7, 10556, 5278, 0, 1),
    "citeseer": (3327, 3703, 6, 9104, 4552, 48, 1),
    "pubmed": (19717, 500, 3, 88648, 44324, 0, 1),
    "computers": (13752, 767, 10, 491722, 245861, 281, 10),
    "photo": (7650, 745, 8, 238162, 119081, 115, 10),
    "cornell": (183, 1703, 5, 298, 277, 0, 10),
    "texas": (183, 1703, 5, 325, 279, 0, 10),
    "wisconsin": (251, 1703, 5, 515, 450, 0, 10),
    "actor": (7600, 932, 5, 30019, 26659, 0, 10),
    "squirrel": (2223, 2089, 5, 46998, 46998, 0, 10),
    "chameleon": (890, 2325, 5, 8854, 8854, 0, 10),
    "crocodile": (11631, 13183, 5, 180020, 341546 // 2, 0, 10),
    "acm": (3025, 1870, 3, 26256, 13128, 561, 10),
    "blogcatalog": (5196, 8189, 6, 343486, 171743, 0, 10),
    "dblp": (17716, 1639, 4, 105734, 52867, 0, 10),
    "polblogs": (1490, 0, 2, 19025, 16715, 266, 10),
    "twitch_es": (4648, 3170, 2, 59382, 59382, 0, 10),
    "minesweeper": (10000, 7, 2, 39402, 78804 // 2, 0, 10),
    "tolokers": (11758, 10, 2, 519000, 1038000 // 2, 0, 10),
}


@pytest.mark.parametrize("name", FIGURES)
def test_statistics(data_root, name):
    dataset = load(name, data_root)
    found = statistics(dataset)
    listed = dataset.edge_index.shape[1]
    counts = (found.nodes, found.features, found.classes, listed, found.edges, found.isolated, len(dataset.splits))
    assert counts == FIGURES[name]
    assert asdict(found) == pytest.approx(asdict(MEASURED[name]), abs=1e-4)
    assert dataset.metric == ("roc_auc" if name in ("minesweeper", "tolokers") else "accuracy")


@pytest.mark.parametrize(
    ("name", "homophily"), [("cora", 0.81), ("citeseer", 0.74), ("texas", 0.06), ("squirrel", 0.21), ("photo", 0.83)]
)
def test_homophily(data_root, name, homophily):
    assert statistics(load(name, data_root)).homophily == pytest.approx(homophily, abs=0.005)


def test_where_the_paper_differs(data_root):
    assert paper_differences("texas", statistics(load("texas", data_root))) == {"edges": 309, "features": 1793}
    assert paper_differences("chameleon", statistics(load("chameleon", data_root))) == {"nodes": 864, "edges": 7754}
    assert paper_differences("photo", statistics(load("photo", data_root))) == {}


def test_split_sizes(data_root):
    sizes = {
        name: [len(part) for part in (split.train, split.val, split.test)]
        for name in ("cora", "texas", "photo", "crocodile")
        for split in load(name, data_root).splits[:1]
    }
    assert sizes == {
        "cora": [140, 500, 1000],
        "texas": [87, 59, 37],
        "photo": [765, 765, 6120],
        "crocodile": [5583, 3722, 2326],
    }


def test_crocodile_classes_put_ties_in_the_lower_one(data_root):
    assert np.bincount(load("crocodile", data_root).labels).tolist() == [2465, 2200, 2315, 2325, 2326]


def test_public_splits_overlap(data_root):
    """Why every choice is made split by split."""
    first, *others = load("texas", data_root).splits
    validated_elsewhere = np.concatenate([split.val for split in others])
    assert len(first.test) == 37
    assert len(np.intersect1d(first.test, validated_elsewhere)) == 36


@pytest.mark.parametrize(
    ("name", "folder", "reader"),
    [
        ("cora", "Cora", "Planetoid"),
        ("citeseer", "CiteSeer", "Planetoid"),
        ("texas", "texas", "WebKB"),
        ("actor", "film", "Actor"),
        ("photo", "Photo", "Amazon"),
        ("minesweeper", "minesweeper", "HeterophilousGraphDataset"),
    ],
)
def test_read_as_pytorch_geometric_does(data_root, tmp_path, name, folder, reader):
    import torch_geometric.datasets

    shutil.copytree(data_root / folder / "raw", tmp_path / folder / "raw")
    make = getattr(torch_geometric.datasets, reader)
    theirs = (make(str(tmp_path / folder)) if reader == "Actor" else make(str(tmp_path), folder))[0]
    ours = load(name, data_root)
    features = ours.features.toarray() if sp.issparse(ours.features) else ours.features
    np.testing.assert_array_equal(features, theirs.x.numpy())
    np.testing.assert_array_equal(ours.labels, theirs.y.numpy())
    both = {tuple(sorted(pair)) for pair in theirs.edge_index.T.tolist() if pair[0] != pair[1]}
    assert both == set(map(tuple, ours.undirected_edges().T.tolist()))
    if "train_mask" in theirs:
        masks = theirs.test_mask.numpy().reshape(len(theirs.y), -1)
        assert masks.shape[1] == len(ours.splits)
        for split, mask in zip(ours.splits, masks.T, strict=True):
            np.testing.assert_array_equal(split.test, np.flatnonzero(mask))


def test_the_root_may_be_read_only(data_root, tmp_path):
    shutil.copytree(data_root / "texas", tmp_path / "texas")
    before = sorted(tmp_path.rglob("*"))
    for path in (tmp_path / "texas" / "raw", tmp_path / "texas", tmp_path):
        path.chmod(0o555)
    try:
        load("texas", tmp_path)
        assert sorted(tmp_path.rglob("*")) == before
    finally:
        for path in (tmp_path, tmp_path / "texas", tmp_path / "texas" / "raw"):
            path.chmod(0o755)


def test_graph_of_a_benchmark(data_root):
    graph = load("citeseer", data_root).graph()
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (3327, 4552, 3703)
    assert len(graph.isolated) == 48
    assert graph.ids[10] == "10"
