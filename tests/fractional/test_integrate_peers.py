"""Time stepping against the same methods in other libraries: pycaputo, and FDEint from PyPI."""

import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pycaputo.fode.caputo as pycaputo_methods
import pytest
import torch
from FDEint import FDEint
from pycaputo.controller import make_fixed_controller
from pycaputo.derivatives import CaputoDerivative
from pycaputo.events import StepCompleted
from pycaputo.stepping import evolve
from torch import Tensor

from fdmvgcl.fractional import fdeint


def brusselator(t: Any, y: Any) -> Any:
    """A non-linear system of two, for tensors and arrays alike."""
    u, v = y[0], y[1]
    stack = torch.stack if isinstance(y, Tensor) else np.array
    return stack([1 - 2.5 * u + u * u * v, 1.5 * u - u * u * v])


def brusselator_jacobian(t: float, y: np.ndarray) -> np.ndarray:
    u, v = y
    return np.array([[2 * u * v - 2.5, u * u], [1.5 - 2 * u * v, -u * u]])


def by_pycaputo(
    method: str, source: Callable[..., Any], jacobian: Callable[..., Any], y0: list[float], alpha: float, steps: int
) -> np.ndarray:
    """End state at time 1; implicit equations by Newton to the last digit, scipy's tolerances being too loose."""
    chosen = getattr(pycaputo_methods, method)
    options: dict[str, Any] = {}
    if method in ("L1", "Trapezoidal"):
        options["source_jac"] = jacobian

        class Sharp(chosen):  # type: ignore[misc, valid-type]
            def solve(self, t: float, y0: np.ndarray, c: np.ndarray, r: np.ndarray) -> np.ndarray:
                y = y0.copy()
                for _ in range(20):
                    slope = np.eye(y.size) - np.diag(np.broadcast_to(c, y.shape)) @ jacobian(t, y)
                    y = y - np.linalg.solve(slope, y - c * source(t, y) - r)
                return y

        chosen = Sharp
    if method == "PECE":
        options["corrector_iterations"] = 1
    run = chosen(
        ds=tuple(CaputoDerivative(alpha) for _ in y0),
        control=make_fixed_controller(1 / steps, tstart=0.0, tfinal=1.0),
        source=source,
        y0=(np.array(y0),),
        **options,
    )
    (final,) = deque((event for event in evolve(run, dtinit=1 / steps) if isinstance(event, StepCompleted)), maxlen=1)
    assert final.t == pytest.approx(1.0)
    return final.y


SAME_METHODS = [("predictor", "ForwardEuler"), ("pece", "PECE"), ("l1", "L1"), ("trapezoid", "Trapezoidal")]


@pytest.mark.parametrize(("scheme", "method"), SAME_METHODS)
@pytest.mark.parametrize("alpha", [0.3, 0.85])
def test_equal_to_pycaputo(scheme: str, method: str, alpha: float) -> None:
    matrix = np.array([[-1.0, 0.7], [-0.3, -0.5]])
    problems = [
        (lambda t, y: math.cos(t) - y, lambda t, y: -np.eye(1), [1.0]),
        (
            lambda t, y: y @ (torch.from_numpy(matrix.T) if isinstance(y, Tensor) else matrix.T),
            lambda t, y: matrix,
            [1.0, -2.0],
        ),
        (brusselator, brusselator_jacobian, [1.2, 0.8]),
    ]
    for source, jacobian, y0 in problems:
        theirs = by_pycaputo(method, source, jacobian, y0, alpha, steps=20)
        ours = fdeint(source, torch.tensor(y0, dtype=torch.float64), alpha, 1.0, steps=20, scheme=scheme)
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.3, 0.85, 1.0])
def test_equal_to_fdeint_of_pypi_with_its_gradients(alpha: float) -> None:
    def ends(solve: Callable[[Callable[..., Tensor], Tensor, Tensor], Tensor]) -> list[Tensor]:
        values = (0.9, [[1.2, 0.8], [0.1, -0.4]], alpha)
        weight, y0, order = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values)
        y = solve(lambda t, y: torch.sin(weight * y.flip(-1)) * torch.cos(y), y0, order)
        return [y, *torch.autograd.grad(y.sum(), (weight, y0, order))]

    grid = torch.linspace(0, 1, 21, dtype=torch.float64)
    theirs = ends(lambda f, y0, order: FDEint(f, grid, y0, order, h=0.05, dtype=torch.float64)[:, -1])
    ours = ends(lambda f, y0, order: fdeint(f, y0, order, 1.0, step=0.05, scheme="pece"))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
