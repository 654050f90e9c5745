"""What ``fdmvgcl embed`` gives with its defaults, held to values kept here: a change of defaults or draws must show.

``python tests/test_golden.py`` makes the values anew; the commit that does so says why they changed.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

VALUES = Path(__file__).parent / "data" / "golden.npz"
ROWS = 8


def some_rows(name: str, folder: Path) -> NDArray[np.float32]:
    """Evenly spaced rows of the embedding that the command makes, in one thread."""
    command = [sys.executable, "-m", "fdmvgcl", "embed", name, "-o", str(folder), "--quiet"]
    subprocess.run([*command, "--no-report"], check=True, env={"OMP_NUM_THREADS": "1", "PATH": ""})
    z = np.stack(pq.read_table(folder / "embeddings.parquet")["z"].to_numpy(zero_copy_only=False))
    return z[np.linspace(0, len(z) - 1, ROWS).astype(int)]


@pytest.mark.parametrize("name", ["digits", "karate"])
def test_the_defaults_give_the_same_vectors_as_ever(name: str, tmp_path: Path) -> None:
    np.testing.assert_allclose(some_rows(name, tmp_path), np.load(VALUES)[name], rtol=0, atol=1e-6)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        np.savez(VALUES, **{name: some_rows(name, Path(scratch, name)) for name in ("digits", "karate")})
