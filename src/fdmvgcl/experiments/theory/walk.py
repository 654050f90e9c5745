"""The fractional random walk: Mittag-Leffler waiting times between jumps, against the solution of the equation."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import chi2

from fdmvgcl.diffusion.linear import diffuse
from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.theory.scalars import slope, solution
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.diagnostics import significant

FloatArray = NDArray[np.float64]

WALK_ALPHAS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
WALK_TIME = 10.0
WALKERS = 200_000
SURVIVAL_TIMES = tuple(float(t) for t in np.logspace(-3, 4, 29))
FEWEST_EXPECTED = 5.0  # a count below this is no normal variable: such nodes are counted together


def waiting_times(alpha: float, count: int, rng: np.random.Generator) -> FloatArray:
    """Samples whose survival is ``E_α(-t^α)`` (Kozubowski & Rachev 1999; Fulger, Scalas & Germano 2008)."""
    exponential: FloatArray = -np.log1p(-rng.random(count))
    if alpha == 1.0:
        return exponential
    angle = alpha * np.pi * (1 - rng.random(count))
    return exponential * np.asarray(np.sin(alpha * np.pi) / np.tan(angle) - np.cos(alpha * np.pi)) ** (1 / alpha)


def simulate(
    transition: FloatArray, start: int, alpha: float, time: float, walkers: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], float]:
    """How many walkers are at each node at ``time``, and the share that never moved.

    Args:
        transition: probabilities of a jump from each node, shape (N, N), rows of sum 1.
    """
    cumulative = transition.cumsum(axis=1)
    cumulative[:, -1] = 1.0
    node = np.full(walkers, start)
    clock = waiting_times(alpha, walkers, rng)
    never = float((clock > time).mean())
    moving = np.flatnonzero(clock <= time)
    while len(moving):
        drawn = rng.random(len(moving))
        node[moving] = (cumulative[node[moving]] < drawn[:, None]).sum(axis=1)
        clock[moving] += waiting_times(alpha, len(moving), rng)
        moving = moving[clock[moving] <= time]
    return np.bincount(node, minlength=len(transition)), never


def survival(alpha: float) -> Record:
    """The share of waits longer than t, sampled, beside ``E_α(-t^α)``; and how fast the sampled tail falls."""
    waits = waiting_times(alpha, WALKERS, np.random.default_rng(0))
    times = np.array(SURVIVAL_TIMES)
    sampled = np.array([(waits > t).mean() for t in times])
    exact = solution(alpha, 1.0, times).clip(0.0, 1.0)
    error = np.sqrt(exact * (1 - exact) / WALKERS)
    late = (times >= 100) & (sampled * WALKERS >= 100)
    return {
        "samples": WALKERS,
        "times": significant(times, 5),
        "sampled": significant(sampled, 5),
        "exact": significant(exact, 5),
        "largest_z": significant(np.max(np.abs(sampled - exact) / np.maximum(error, 1 / WALKERS)), 4),
        "tail_slope": significant(slope(times[late], sampled[late]), 4) if late.sum() > 2 else None,
        "median": significant(np.median(waits), 4),
    }


def on_graph(graph: Graph, alpha: float) -> Record:
    """Where walkers from the busiest node are at the time, beside that node's row of ``E_α(-L T^α)``, random-walk L."""
    start = int(np.argmax(graph.degrees))
    transition = graph.operator("rw", dtype=torch.float64).dense().numpy()
    counts, never = simulate(transition, start, alpha, WALK_TIME, WALKERS, np.random.default_rng(0))
    eye = torch.eye(graph.num_nodes, dtype=torch.float64)
    exact = diffuse(graph.operator("rw", dtype=torch.float64), eye, alpha, WALK_TIME)[start].numpy()
    symmetric = diffuse(graph.operator("sym", dtype=torch.float64), eye, alpha, WALK_TIME)
    statistic, freedom = chi_square(counts, exact)
    return {
        "walkers": WALKERS,
        "time": WALK_TIME,
        "start": start,
        "share": significant(counts / WALKERS, 5),
        "exact": significant(exact, 5),
        "chi_square": significant(statistic, 5),
        "freedom": freedom,
        "p_value": significant(chi2.sf(statistic, freedom), 4),
        "never_moved": significant(never, 5),
        "never_moved_exact": significant(solution(alpha, 1.0, WALK_TIME), 5),
        "symmetric_row_sums": significant(symmetric.sum(1).aminmax(), 5),
    }


def chi_square(counts: NDArray[np.int64], probabilities: FloatArray) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom; rare nodes are counted together."""
    expected = probabilities / probabilities.sum() * counts.sum()
    rare = expected < FEWEST_EXPECTED
    seen, meant = counts[~rare].astype(float), expected[~rare]
    if rare.any() and expected[rare].sum() > 0:
        seen, meant = np.append(seen, counts[rare].sum()), np.append(meant, expected[rare].sum())
    return float(((seen - meant) ** 2 / meant).sum()), len(seen) - 1
