"""Makes the pictures of README and docs from the library itself: ``python docs/pictures.py [folder]``."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from fdmvgcl import FDMVGCL, Graph, Schedule, diffuse
from fdmvgcl.datasets import load
from fdmvgcl.diffusion.linear import make_filter
from fdmvgcl.fractional import mittag_leffler, response

ALPHAS = (0.01, 0.25, 0.5, 0.75, 1.0)
COLOURS = plt.get_cmap("viridis")([0.0, 0.22, 0.45, 0.68, 0.88])
FREQUENCY = torch.linspace(0, 2, 401, dtype=torch.float64)


def orders() -> Figure:
    """A ring with one marked node: how far each order carries the mark, and the response behind it."""
    figure, (left, right) = _panels(2)
    ring = Graph.from_networkx(nx.cycle_graph(61))
    mark = torch.zeros(61, 1, dtype=torch.float64)
    mark[30] = 1
    spread = diffuse(ring, mark, _tensor(ALPHAS), 20.0)[:, :, 0]
    for alpha, colour, line, curve in zip(ALPHAS, COLOURS, spread, _responses(20.0), strict=True):
        left.plot(range(-30, 31), line, color=colour, label=f"α = {alpha:g}")
        right.plot(FREQUENCY, curve, color=colour)
    left.set(xlabel="distance from the node", ylabel="what a node sees of the others", yscale="log", ylim=(1e-6, 1))
    left.set_title("One node's reach after T = 20", fontsize=10)
    left.legend(frameon=False, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 1.0))
    right.set(xlabel="graph frequency λ", ylabel="response φ(λ)")
    right.set_title("The same as a filter: E_α(-λ Tᵅ)", fontsize=10)
    return figure


def responses() -> Figure:
    """Responses at two times, between their limits."""
    figure, axes = _panels(2, sharey=True)
    for panel, time in zip(axes, (1.0, 20.0), strict=True):
        for alpha, colour, curve in zip(ALPHAS, COLOURS, _responses(time), strict=True):
            panel.plot(FREQUENCY, curve, color=colour, label=f"α = {alpha:g}")
        panel.plot(FREQUENCY, 1 / (1 + FREQUENCY), "k:", linewidth=1, label="α → 0: 1 / (1 + λ)")
        panel.plot(FREQUENCY, torch.exp(-FREQUENCY * time), "k--", linewidth=1, label="α = 1: exp(-λT)")
        panel.set(xlabel="graph frequency λ")
        panel.set_title(f"T = {time:g}", fontsize=10)
    axes[0].set(ylabel="response φ(λ)")
    axes[1].legend(frameon=False, fontsize=8)
    return figure


def karate() -> Figure:
    """One member of the karate club marked, and what the others see of the mark."""
    alphas = (0.1, 0.5, 1.0)
    figure, axes = _panels(3, height=3.3)
    club = nx.karate_club_graph()
    places = nx.kamada_kawai_layout(club, weight=None)
    graph = Graph.from_networkx(club, weight=None)  # whose ids are 0, 1, …, as the club's members are
    mark = torch.zeros(len(club), 1, dtype=torch.float64)
    mark[16] = 1  # at the rim, so that there is a way to go
    for panel, alpha in zip(axes, alphas, strict=True):
        seen = diffuse(graph, mark, alpha, 10.0)[:, 0]
        shares = (seen / seen.max()).tolist()
        nx.draw_networkx_edges(club, places, ax=panel, edge_color="0.85", width=0.8)
        drawn = nx.draw_networkx_nodes(
            club, places, ax=panel, node_color=shares, cmap="viridis_r", vmin=0, vmax=1, node_size=55
        )
        drawn.set_edgecolor("0.4")
        drawn.set_linewidth(0.5)
        panel.set_title(f"α = {alpha:g}", fontsize=10)
        panel.axis("off")
    figure.colorbar(drawn, ax=axes, shrink=0.7, label="seen of the mark, of the most")
    return figure


def memory() -> Figure:
    """How a frequency decays: at once for α = 1, with a long tail for less."""
    figure, (left, right) = _panels(2)
    time = torch.logspace(-2, 3, 200, dtype=torch.float64)
    for alpha, colour in zip((0.25, 0.5, 0.75, 0.9, 1.0), COLOURS, strict=True):
        left.loglog(time, mittag_leffler(alpha, time**alpha), color=colour, label=f"α = {alpha:g}")
    left.set(xlabel="time", ylabel="share that has not moved yet", ylim=(1e-5, 1.5))
    left.set_title("How long a walker waits for its first step", fontsize=10)
    left.legend(frameon=False, fontsize=8, loc="lower left")
    orders = torch.linspace(0.02, 1, 50, dtype=torch.float64)
    for frequency, colour in zip((0.05, 0.2, 0.5, 1.0, 2.0), COLOURS[::-1], strict=True):
        curve = response(_tensor([frequency]), make_filter(orders, 20.0))[:, 0]
        right.plot(orders, curve, color=colour, label=f"λ = {frequency:g}")
    right.set(xlabel="order α", ylabel="what is left after T = 20")
    right.set_title("What the order keeps of each frequency", fontsize=10)
    right.legend(frameon=False, fontsize=8)
    return figure


def collapse() -> Figure:
    """Training on the digits at two learning rates, with nothing to stop it: the views agree, and the rank falls."""
    figure, (left, right) = _panels(2)
    graph = load("digits").graph()
    for lr, colour in ((0.002, COLOURS[1]), (0.02, COLOURS[3])):
        schedule = Schedule(lr=lr, min_rank=0, merge_width=0)
        model = FDMVGCL(dim=128, views=4, epochs=60, schedule=schedule).fit(graph)
        left.plot([record["effective_rank"] for record in model.history_], color=colour, label=f"lr = {lr:g}")
        right.plot([sum(r["view_similarity"]) / len(r["view_similarity"]) for r in model.history_], color=colour)
    left.set(xlabel="epoch", ylabel="effective rank", ylim=(0, None))
    left.set_title("Directions that the embedding uses", fontsize=10)
    left.legend(frameon=False, fontsize=8)
    right.set(xlabel="epoch", ylabel="mean cosine", ylim=(0, 1.02))
    right.set_title("How alike neighbouring views are", fontsize=10)
    return figure


def skip() -> Figure:
    """Responses with a skip-connection, scaled to 1 at λ = 0: the weight sets how much of all frequencies stays."""
    figure, axes = _panels(3, sharey=True, height=2.8)
    for panel, weight in zip(axes, (0.0, 1.0, 3.0), strict=True):
        for alpha, colour, curve in zip(ALPHAS, COLOURS, _responses(5.0, weight), strict=True):
            panel.plot(FREQUENCY, curve / curve[0], color=colour, label=f"α = {alpha:g}")
        panel.set(xlabel="graph frequency λ", ylim=(0, 1.05))
        panel.set_title("no skip" if not weight else f"skip = 1, skip_weight = {weight:g}", fontsize=10)
    axes[0].set(ylabel="response, scaled")
    axes[0].legend(frameon=False, fontsize=8)
    return figure


def _panels(count: int, *, sharey: bool = False, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    figure, axes = plt.subplots(1, count, figsize=(9.6, height), layout="constrained", sharey=sharey)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def _tensor(values: tuple[float, ...] | list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _responses(time: float, skip_weight: float = 0.0) -> Tensor:
    """φ of each of ``ALPHAS``, shape (5, 401)."""
    return response(FREQUENCY, make_filter(_tensor(ALPHAS), time, skip=int(skip_weight > 0), skip_weight=skip_weight))


PICTURES = (orders, responses, karate, memory, collapse, skip)


def draw(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with plt.rc_context({"svg.hashsalt": "fdmvgcl"}):  # the same picture, the same bytes
        for picture in PICTURES:
            figure = picture()
            figure.savefig(folder / f"{picture.__name__}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "pictures")
