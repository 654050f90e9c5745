"""Where eigenvalues lie: known graphs, and the estimate against the exact histogram."""

import networkx as nx
import numpy as np
import pytest

from fdmvgcl import Graph
from fdmvgcl.diffusion import spectrum
from fdmvgcl.diffusion.spectrum import graph_spectrum


def test_a_star_has_0_and_2_once_and_1_otherwise() -> None:
    found = graph_spectrum(Graph.from_networkx(nx.star_graph(9)).operator())
    assert found is not None
    assert found.method == "exact"
    assert found.shares[[0, 20, 40]] == pytest.approx([0.1, 0.8, 0.1])


@pytest.mark.parametrize("normalisation", ["sym", "rw"])
def test_the_estimate_is_close_to_the_histogram(normalisation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = Graph.from_networkx(nx.barabasi_albert_graph(900, 2, seed=0)).operator(normalisation)
    exact = graph_spectrum(operator)
    monkeypatch.setattr(spectrum, "EXACT_NODES", 10)
    estimate = graph_spectrum(operator)
    assert exact is not None
    assert estimate is not None
    assert estimate.method == "estimate"
    assert np.abs(np.cumsum(exact.shares) - np.cumsum(estimate.shares)).max() < 0.02


def test_a_directed_graph_has_none() -> None:
    assert graph_spectrum(Graph.from_edges(["a", "b"], ["b", "c"], directed=True).operator()) is None


def test_damping_leaves_next_to_nothing_where_no_eigenvalue_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A star has 0, 1 and 2 alone; moments that are cut off and not damped ring everywhere else."""
    monkeypatch.setattr(spectrum, "EXACT_NODES", 0)
    found = graph_spectrum(Graph.from_networkx(nx.star_graph(400)).operator())
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    elsewhere = np.abs(middle[:, None] - [0, 1, 2]).min(axis=1) > 0.1
    assert found.shares[elsewhere].sum() < 2e-4
