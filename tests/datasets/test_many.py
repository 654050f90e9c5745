"""Data sets of many graphs, by name."""

from pathlib import Path

import pytest

from fdmvgcl.datasets import graph_datasets, load_graphs
from fdmvgcl.errors import InputError, UserError


def test_counts_are_those_of_the_files(data_root: Path) -> None:
    for name in ("mutag", "proteins"):
        entry, found = graph_datasets()[name], load_graphs(name, data_root)
        assert entry.available(data_root)
        block = found.graphs.block
        assert (found.graphs.num_graphs, block.num_nodes, block.num_edges) == (entry.graphs, entry.nodes, entry.edges)
        assert len(found.labels) == entry.graphs
        assert block.feature_names is not None
        assert all(column.startswith("label=") for column in block.feature_names)
    assert load_graphs("mutag", data_root).classes == ("-1", "1")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown data set of graphs 'protein'; did you mean 'proteins'"):
        load_graphs("protein")
    with pytest.raises(InputError, match=r"MUTAG_A.txt: is missing \(4 of the data set's 4 files\)"):
        load_graphs("mutag", tmp_path)
