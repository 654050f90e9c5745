"""Where the energy of diffused features lies among the graph's frequencies, from an exact eigendecomposition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from fdmvgcl.diffusion.linear import make_filter
from fdmvgcl.errors import UserError
from fdmvgcl.experiments.records import Record
from fdmvgcl.fractional import response
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.diagnostics import significant
from fdmvgcl.learning.features import FeatureTransform

FloatArray = NDArray[np.float64]

ALPHAS = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
TIMES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SKIPS = (0, 1, 3)
SHOWN_TIME = 10.0
BINS = 40
MOST_NODES = 8_000  # a dense eigendecomposition of as many takes minutes and gigabytes
LOW = 0.5  # frequencies up to here are called smooth

# Eigenvalues closer than this are one frequency: the basis of an eigenspace is arbitrary, its energy is not.
_SAME = 1e-8


@dataclass(frozen=True, eq=False)
class Signal:
    """Energy ``Σ_columns |⟨u_i, x⟩|²`` of features at each distinct frequency, ascending; both of shape (M,)."""

    frequency: FloatArray
    energy: FloatArray


def largest_component(graph: Graph) -> Graph:
    """The largest connected part, as the theorem assumes; its features too."""
    _, labels = connected_components(graph.adjacency, directed=False)
    keep = np.flatnonzero(labels == np.bincount(labels).argmax())
    features = None if graph.features is None else graph.features[keep]
    return Graph.from_scipy(graph.adjacency[keep][:, keep], features)


def features_of(graph: Graph) -> torch.Tensor:
    """The encoder's input as it is by default, dense, float64."""
    return FeatureTransform.fit(graph, "auto").scaled(graph).to_dense().double()


def decompose(graph: Graph) -> Signal:
    """The features' energy over the spectrum of ``L = I - Ā``."""
    if graph.num_nodes > MOST_NODES:
        raise UserError(f"the graph must have at most {MOST_NODES} nodes to be decomposed, got {graph.num_nodes}")
    operator = graph.operator(dtype=torch.float64).dense().numpy()
    frequency, vectors = np.linalg.eigh(np.eye(len(operator)) - operator)
    energy = np.square(vectors.T @ features_of(graph).numpy()).sum(axis=1)
    starts = np.flatnonzero(np.diff(frequency, prepend=-np.inf) > _SAME)
    return Signal(np.maximum(frequency[starts], 0.0), np.add.reduceat(energy, starts))


def energy_shares(signal: Signal, alphas: Sequence[float], time: float, skip: int) -> FloatArray:
    """Share of each frequency in the energy of ``φ(L) X``, shape (K, M); a row adds up to 1."""
    spec = make_filter(torch.tensor(alphas, dtype=torch.float64), time, skip=skip)
    phi = response(torch.from_numpy(signal.frequency), spec).numpy()
    energy = phi**2 * signal.energy
    return np.asarray(energy / energy.sum(axis=-1, keepdims=True))


def mean_frequency(shares: FloatArray, signal: Signal) -> FloatArray:
    """``Σ p_i λ_i``: the lower, the smoother."""
    return shares @ signal.frequency


def low_share(shares: FloatArray, signal: Signal) -> FloatArray:
    """Share of the energy at frequencies up to LOW."""
    return np.asarray(shares[..., signal.frequency <= LOW].sum(axis=-1))


def frequencies_used(shares: FloatArray) -> FloatArray:
    """``exp(-Σ p_i log p_i)``: as many equally strong frequencies as are equally spread; 1 if all energy is in one."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(np.exp(-(shares * logs).sum(axis=-1)))


def measure(graph: Graph) -> Record:
    """Every measure for each skip, time and order, and the distribution itself at one time."""
    part = largest_component(graph)
    signal = decompose(part)
    edges = np.linspace(0, 2, BINS + 1)
    binned, measures = {}, {}
    for skip in SKIPS:
        shares = {time: energy_shares(signal, ALPHAS, time, skip) for time in TIMES}
        measures[str(skip)] = {
            "mean_frequency": significant([mean_frequency(s, signal) for s in shares.values()], 4),
            "low_share": significant([low_share(s, signal) for s in shares.values()], 4),
            "frequencies_used": significant([frequencies_used(s) for s in shares.values()], 4),
        }
        binned[str(skip)] = significant(
            [np.histogram(signal.frequency, edges, weights=s)[0] for s in shares[SHOWN_TIME]], 4
        )
    start = signal.energy / signal.energy.sum()
    return {
        "nodes": part.num_nodes,
        "of_nodes": graph.num_nodes,
        "frequencies": len(signal.frequency),
        "alphas": list(ALPHAS),
        "times": list(TIMES),
        "low": LOW,
        "shown_time": SHOWN_TIME,
        "measures": measures,
        "binned": binned,
        "input": {
            "mean_frequency": significant(mean_frequency(start, signal)),
            "low_share": significant(low_share(start, signal)),
            "frequencies_used": significant(frequencies_used(start)),
            "binned": significant(np.histogram(signal.frequency, edges, weights=start)[0], 4),
        },
    }
