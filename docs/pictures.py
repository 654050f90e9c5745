"""Makes the pictures of README and docs from the library itself: ``python docs/pictures.py``."""

from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import torch

from fdmvgcl import Graph, diffuse
from fdmvgcl.diffusion import make_filter
from fdmvgcl.fractional import response

HERE = Path(__file__).parent / "pictures"
ALPHAS = (0.01, 0.25, 0.5, 0.75, 1.0)
COLOURS = plt.get_cmap("viridis")([0.0, 0.22, 0.45, 0.68, 0.88])


def how_it_works() -> None:
    """A ring with one marked node: how far each order carries the mark, and the response behind it."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    ring = Graph.from_networkx(nx.cycle_graph(61))
    mark = torch.zeros(61, 1, dtype=torch.float64)
    mark[30] = 1
    spread = diffuse(ring, mark, torch.tensor(ALPHAS, dtype=torch.float64), 20.0)[:, :, 0]
    frequency = torch.linspace(0, 2, 401, dtype=torch.float64)
    phi = response(frequency, make_filter(torch.tensor(ALPHAS, dtype=torch.float64), 20.0))
    for alpha, colour, line, curve in zip(ALPHAS, COLOURS, spread, phi, strict=True):
        left.plot(range(-30, 31), line, color=colour, label=f"α = {alpha:g}")
        right.plot(frequency, curve, color=colour)
    left.set(xlabel="distance from the node", ylabel="what a node sees of the others", yscale="log", ylim=(1e-6, 1))
    left.set_title("One node's reach after T = 20", fontsize=10)
    left.legend(frameon=False, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 1.0))
    right.set(xlabel="graph frequency λ", ylabel="response φ(λ)")
    right.set_title("The same as a filter: E_α(-λ Tᵅ)", fontsize=10)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "orders.svg", metadata={"Date": None})


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    with plt.rc_context({"svg.hashsalt": "fdmvgcl"}):  # the same picture, the same bytes
        how_it_works()
