"""node2vec: words for nodes, sentences for walks."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import UserError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.marks import undirected
from fdmvgcl.methods.base import Transductive

Walks = NDArray[np.int64]


class Walker:
    """Walks on an undirected graph whose next step depends on the last two nodes (Grover & Leskovec 2016, section 3.2).

    From v, reached from t, a neighbour x is taken with odds ``w_vx`` times ``1/p`` if x is t, 1 if x is next to t, and
    ``1/q`` otherwise: proposed by ``w_vx``, and taken with the rest's share of its largest value.
    """

    def __init__(self, graph: Graph, p: float, q: float) -> None:
        adjacency = undirected(graph.adjacency)
        self.nodes, self.starts, self.ends = graph.num_nodes, adjacency.indptr[:-1], adjacency.indptr[1:]
        self.neighbours = adjacency.indices.astype(np.int64)
        self.cumulative = np.concatenate([[0.0], np.cumsum(adjacency.data)])
        rows = np.repeat(np.arange(self.nodes, dtype=np.int64), np.diff(adjacency.indptr))
        self.pairs = rows * self.nodes + self.neighbours
        self.back, self.out = 1 / p, 1 / q

    def round(self, length: int, rng: np.random.Generator) -> Walks:
        """A walk from every node, in random order, shape (N, length); a node without edges stays where it is."""
        walks = np.empty((self.nodes, length), dtype=np.int64)
        walks[:, 0] = rng.permutation(self.nodes)
        for step in range(1, length):
            walks[:, step] = self._step(walks[:, step - 1], walks[:, step - 2] if step > 1 else None, rng)
        return walks

    def _step(self, now: Walks, before: Walks | None, rng: np.random.Generator) -> Walks:
        following = now.copy()
        left = np.flatnonzero(self.ends[now] > self.starts[now])
        while len(left):
            proposed = self._proposed(now[left], rng)
            taken = np.ones(len(left), bool)
            if before is not None and not self.back == self.out == 1:
                taken = rng.random(len(left)) < self._odds(before[left], proposed) / max(self.back, 1.0, self.out)
            following[left[taken]] = proposed[taken]
            left = left[~taken]
        return following

    def _proposed(self, now: Walks, rng: np.random.Generator) -> Walks:
        low, high = self.cumulative[self.starts[now]], self.cumulative[self.ends[now]]
        place = np.searchsorted(self.cumulative, low + rng.random(len(now)) * (high - low), side="right") - 1
        found: Walks = self.neighbours[np.clip(place, self.starts[now], self.ends[now] - 1)]
        return found

    def _odds(self, before: Walks, proposed: Walks) -> NDArray[np.float64]:
        keys = before * self.nodes + proposed
        place = np.minimum(np.searchsorted(self.pairs, keys), len(self.pairs) - 1)
        near = self.pairs[place] == keys
        return np.where(proposed == before, self.back, np.where(near, 1.0, self.out))


class _Sentences:
    """Walks as gensim reads them, once for the vocabulary and once an epoch, the same each time."""

    def __init__(self, walker: Walker, walks: int, length: int, seed: int) -> None:
        self.walker, self.walks, self.length, self.seed = walker, walks, length, seed

    def __iter__(self) -> Iterator[list[str]]:
        rng = np.random.default_rng(self.seed)
        for _ in range(self.walks):
            for walk in self.walker.round(self.length, rng).tolist():
                yield list(map(str, walk))


@dataclass(eq=False, repr=False)
class Node2Vec(Transductive):
    """Grover & Leskovec, "node2vec: scalable feature learning for networks", KDD 2016: skip-gram with negative sampling
    on second-order walks; the defaults are the authors', with p = q = 1, which is DeepWalk.

    Walks are ours, the skip-gram is gensim's (``pip install 'fdmvgcl[walks]'``), on one thread so that a seed gives the
    same bytes. Features are not used. ``return_odds`` is p and ``outward_odds`` is q.
    """

    dim: int = 128
    walks: int = 10
    length: int = 80
    window: int = 10
    epochs: int = 1
    return_odds: float = 1.0
    outward_odds: float = 1.0
    seed: int = 0

    def check(self, graph: Any) -> Graph:
        if find_spec("gensim") is None:
            raise UserError("node2vec needs gensim: pip install 'fdmvgcl[walks]'")
        return super().check(graph)

    def _embed(self, graph: Graph) -> NDArray[np.floating]:
        from gensim.models import Word2Vec  # late: an extra, and slow to import

        walker = Walker(graph, self.return_odds, self.outward_odds)
        model = Word2Vec(
            _Sentences(walker, self.walks, self.length, self.seed),
            vector_size=self.dim,
            window=self.window,
            epochs=max(self.epochs, 1),
            sg=1,
            hs=0,
            negative=5,
            min_count=1,
            workers=1,
            seed=self.seed,
        )
        return np.stack([model.wv.get_vector(str(node)) for node in range(graph.num_nodes)])

    def bytes_needed(self, graph: Graph) -> int:
        n = graph.num_nodes
        return int(8 * n * self.dim * 2 + 16 * n * self.length + 40 * graph.adjacency.nnz + 500 * n)
