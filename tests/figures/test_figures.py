"""Figures show what they are given, and leave no state behind."""

import io

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from fdmvgcl import Graph, figures
from fdmvgcl.diffusion.linear import make_filter
from fdmvgcl.diffusion.spectrum import graph_spectrum
from fdmvgcl.fractional import response

HISTORY = [
    {"phase": 0, "loss": 3.0, "cosmean": 2.0, "alpha": [0.1, 0.5, 0.6]},
    {"phase": 0, "loss": 2.0, "cosmean": 1.5, "alpha": [0.2, 0.6, 0.6]},
    {"phase": 1, "loss": 4.0, "cosmean": 3.5, "alpha": [0.2, 0.6]},
]


def texts(figure: Figure) -> set[str]:
    return {text.get_text() for axes in figure.axes for text in axes.texts}


def test_each_line_is_named_beside_its_end() -> None:
    assert texts(figures.loss_terms(HISTORY)) == {"loss", "cosmean"}
    assert texts(figures.order_paths(HISTORY, [0.25, 0.75])) == {"α 0.25", "α 0.75"}
    assert texts(figures.component_spectra({"local": [0.5, 0.25], "global": [0.9, 0.05]})) == {
        "local · 75%",
        "global · 95%",
    }
    assert texts(figures.accuracy_over_epochs({"ours": [(0, 0.5), (10, 0.8)]})) == {"ours"}


def test_names_of_equal_ends_do_not_overlap() -> None:
    figure = figures.accuracy_over_epochs({name: [(0, 0.1 * i), (9, 0.5)] for i, name in enumerate("abc")})
    heights = sorted(text.xy[1] for text in figure.axes[0].texts)
    assert np.diff(heights).min() > 0.05


def test_responses_stand_over_the_spectrum() -> None:
    alphas = [0.9, 0.1]
    frequency = torch.linspace(0, 2, 50, dtype=torch.float64)
    phi = response(frequency, make_filter(torch.tensor(alphas, dtype=torch.float64), 10.0))
    spectrum = graph_spectrum(Graph.from_edges(["a", "b"], ["b", "c"]).operator())
    figure = figures.responses(frequency, phi, alphas, spectrum)
    curves, below = figure.axes
    assert [line.get_ydata()[-1] for line in curves.lines] == pytest.approx([float(phi[1, -1]), float(phi[0, -1])])
    assert sum(bar.get_height() for bar in below.patches) == pytest.approx(1)


@pytest.mark.parametrize("classes", [1, 10, 14])
def test_a_map_shows_every_point_once(classes: int) -> None:
    points = np.random.default_rng(0).random((140, 2))
    figure = figures.embedding_map(points, [str(i % classes) for i in range(140)])
    assert sum(len(group.get_offsets()) for group in figure.axes[0].collections) == 140


def test_empty_histories_and_no_global_state() -> None:
    before = dict(mpl.rcParams)
    for figure in (figures.loss_terms([]), figures.order_paths([]), figures.embedding_map(np.zeros((2, 2)))):
        figure.savefig(io.BytesIO(), format="png")
    assert dict(mpl.rcParams) == before
