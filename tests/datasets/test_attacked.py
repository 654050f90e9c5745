"""Pro-GNN's attacked graphs: the flips that their names promise, on the clean graph's nodes and split."""

from pathlib import Path

import numpy as np
import pytest

from fdmvgcl.datasets import STRENGTHS, load_attacked
from fdmvgcl.errors import InputError


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "targets"), [("cora", 2485, 5069, 83), ("citeseer", 2110, 3668, 63)]
)
def test_attacks_have_flipped_what_their_names_say(
    name: str, nodes: int, edges: int, targets: int, data_root: Path
) -> None:
    found = load_attacked(name, data_root)
    graph = found.clean.graph()
    assert (graph.num_nodes, graph.num_edges, len(found.targets)) == (nodes, edges, targets)
    assert np.isin(found.targets, found.clean.splits[0].test).all()
    assert np.diff(graph.adjacency.indptr)[found.targets].min() > 10
    for attack, strengths in STRENGTHS.items():
        for strength in strengths:
            after = found.after(attack, strength).graph()
            flips = abs(after.adjacency - graph.adjacency).nnz // 2
            wanted = int(strength * (edges if attack == "metattack" else targets))
            assert 0.98 * wanted <= flips <= wanted  # what two targets flip is not flipped
            assert after.ids == graph.ids


def test_what_is_not_there_is_refused(tmp_path: Path, data_root: Path) -> None:
    with pytest.raises(ValueError, match="name must be one of"):
        load_attacked("photo")
    with pytest.raises(ValueError, match=r"strength must be one of .* for metattack, got 0\.3"):
        load_attacked("cora", data_root).after("metattack", 0.3)
    with pytest.raises(InputError, match="to be had from ChandlerBang/Pro-GNN"):
        load_attacked("cora", tmp_path)
