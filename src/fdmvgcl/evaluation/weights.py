"""The weights β of the views, on the simplex."""

from collections.abc import Callable, Iterator

import numpy as np

from .views import FloatArray

STEPS = (0.5, 0.2)


def uniform(count: int) -> FloatArray:
    """β = (1/K, …, 1/K)."""
    return np.full(count, 1.0 / count)


def toward(beta: FloatArray, view: int, step: float) -> FloatArray:
    """``(1 - step) β + step e_view`` for a step in (0, 1]."""
    moved = (1.0 - step) * beta
    moved[view] += step
    return moved


def away(beta: FloatArray, view: int, step: float) -> FloatArray:
    """β with β_view lowered by ``step``, not below 0, and the other weights scaled up to keep the sum at one."""
    if beta[view] >= 1.0:
        return beta.copy()
    left = max(beta[view] - step, 0.0)
    moved: FloatArray = beta * (1.0 - left) / (1.0 - beta[view])
    moved[view] = left
    return moved


def tune(objective: Callable[[FloatArray], float], count: int) -> tuple[FloatArray, float]:
    """Raise ``objective`` over the simplex from uniform weights; a fixed, deterministic procedure.

    First each view alone and each view left out; then, from the best so far, a sweep for each step of 0.5 and 0.2 that
    moves each weight up and down by it. Only a strictly better value is accepted, so uniform weights stay if nothing
    beats them, and of equals the first stays. About six evaluations a view.
    """
    best = uniform(count)
    value = objective(best)
    for candidate in _corners(best):
        best, value = _better(objective, candidate, best, value)
    for step in STEPS:
        for view in range(count):
            for move in (toward, away):
                best, value = _better(objective, move(best, view, step), best, value)
    return best, value


def _corners(beta: FloatArray) -> Iterator[FloatArray]:
    views = range(len(beta)) if len(beta) > 1 else ()
    yield from (toward(beta, view, 1.0) for view in views)
    if len(beta) > 2:
        yield from (away(beta, view, 1.0) for view in views)


def _better(
    objective: Callable[[FloatArray], float], candidate: FloatArray, best: FloatArray, value: float
) -> tuple[FloatArray, float]:
    if np.allclose(candidate, best):
        return best, value
    found = objective(candidate)
    return (candidate, found) if found > value else (best, value)
