"""The graphs themselves, where vectors are of graphs: drawn small, for a click on the map."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.graphs.collection import GraphSet
from fdmvgcl.results.drawings import stress_layout
from fdmvgcl.results.report.packing import packed

MOST_DRAWN = 200  # nodes of a graph
MOST_TOGETHER = 40_000  # nodes of all graphs drawn, which is a megabyte of the page
_STEPS = 255


def drawn_graphs(graphs: GraphSet, numbers: NDArray[np.int64]) -> dict[str, Any]:
    """Pictures of the graphs on the map: places as bytes, and edges as pairs of a graph's node numbers.

    Graphs with more than 200 nodes are not drawn; nor are all, if those on the map have more than 40 000 together: then
    evenly spaced ones are.
    """
    small = numbers[(graphs.sizes[numbers] > 0) & (graphs.sizes[numbers] <= MOST_DRAWN)]
    together = int(graphs.sizes[small].sum())
    if together > MOST_TOGETHER:
        kept = max(1, len(small) * MOST_TOGETHER // together)
        small = small[np.linspace(0, len(small) - 1, kept).round().astype(np.int64)]
    chosen = set(small.tolist())
    members = np.split(np.argsort(graphs.owner, kind="stable"), np.cumsum(graphs.sizes)[:-1])
    pictures = [_picture(graphs, members[number]) if number in chosen else None for number in numbers.tolist()]
    return {
        "each": pictures,
        "most": MOST_DRAWN,
        "some": len(chosen) < int((graphs.sizes[numbers] <= MOST_DRAWN).sum()),
    }


def _picture(graphs: GraphSet, nodes: NDArray[np.int64]) -> list[str]:
    part = graphs.block.adjacency[nodes][:, nodes]
    places = stress_layout(part)
    reach = float(np.abs(places).max()) or 1.0
    entries = part.tocoo()
    once = slice(None) if graphs.block.directed else entries.row < entries.col
    ends = np.stack([entries.row[once], entries.col[once]], axis=1)
    return [packed(np.rint((places / reach + 1) / 2 * _STEPS), np.uint8), packed(ends, np.uint8)]
