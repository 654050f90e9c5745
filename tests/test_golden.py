"""What ``fdmvgcl embed`` gives with its defaults, held to values kept here: a change of defaults or draws must show.

``python tests/test_golden.py`` makes the values anew; the commit that does so says why they changed.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

VALUES = Path(__file__).parent / "data" / "golden.npz"
ROWS = 8

# How far another processor's rounding moves them, as a part of their length. Nodes of the karate club that stand alike
# have directions in which the loss is flat, and there Adam follows the sign of rounding.
NEAR = {"digits": 1e-4, "karate": 5e-3}


def some_rows(name: str, folder: Path) -> NDArray[np.float32]:
    """Evenly spaced rows of the embedding that the command makes, in one thread."""
    command = [sys.executable, "-m", "fdmvgcl", "embed", name, "-o", str(folder), "--quiet"]
    subprocess.run([*command, "--no-report"], check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    z = np.stack(pq.read_table(folder / "embeddings.parquet")["z"].to_numpy(zero_copy_only=False))
    return z[np.linspace(0, len(z) - 1, ROWS).astype(int)]


@pytest.mark.parametrize("name", NEAR)
def test_the_defaults_give_the_same_vectors_as_ever(name: str, tmp_path: Path) -> None:
    kept = np.load(VALUES)[name]
    assert np.linalg.norm(some_rows(name, tmp_path) - kept) < NEAR[name] * np.linalg.norm(kept)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        np.savez(VALUES, **{name: some_rows(name, Path(scratch, name)) for name in NEAR})
