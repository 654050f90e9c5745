"""The library where numba cannot be imported: slower, and the same numbers."""

import subprocess
import sys

import numpy as np
import torch

from fdmvgcl import FDMVGCL, diffuse
from fdmvgcl.datasets import load

_WITHOUT = """
import sys
sys.modules["numba"] = None
import numpy as np, torch
from fdmvgcl import FDMVGCL, diffuse
from fdmvgcl.datasets import load
from fdmvgcl.diffusion.kernels import best_kernel
assert best_kernel(torch.device("cpu")) == "torch"
graph = load("karate").graph()
z = FDMVGCL(dim=16, views=3, epochs=3).fit_transform(graph)
eye = torch.eye(34, dtype=torch.float64)
np.savez(sys.argv[1], z=z, y=diffuse(graph, eye, 0.4, 5.0).numpy())
"""


def test_the_numbers_are_the_same(tmp_path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", _WITHOUT, str(tmp_path / "found.npz")]
    subprocess.run(command, check=True)
    found = np.load(tmp_path / "found.npz")
    graph = load("karate").graph()
    eye = torch.eye(34, dtype=torch.float64)
    np.testing.assert_allclose(found["y"], diffuse(graph, eye, 0.4, 5.0).numpy(), atol=1e-12)
    np.testing.assert_allclose(found["z"], FDMVGCL(dim=16, views=3, epochs=3).fit_transform(graph), atol=1e-5)
