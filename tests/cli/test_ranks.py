"""Several processes that torchrun has started: the bytes of one, a death told in a line, others that go on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ARGS = ("--dim", "4", "--views", "2", "--memory", "1KB", "--reader", "memory", "--no-report", "-q")
# Blocks so small that two processes have some each.
PROGRAM = "import fdmvgcl.diffusion.basis as b; b.ROWS = 50\nfrom fdmvgcl.cli import app\napp()\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pq.write_table(
        pa.table({"source": rng.integers(0, 300, 900), "target": rng.integers(0, 300, 900)}), "edges.parquet"
    )
    columns = {f"x{j}": rng.standard_normal(300) for j in range(40)}
    pq.write_table(pa.table({"id": np.arange(300), **columns}), "nodes.parquet")
    Path("run.py").write_text(PROGRAM)
    return Path("edges.parquet")


def start(ranks: int, *args: object) -> subprocess.Popen[str]:
    """``embed`` by so many processes."""
    alone = [sys.executable, "run.py"]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "run.py"]
    command = [*(alone if ranks == 1 else launcher), "embed", "edges.parquet", "--features", "nodes.parquet", *ARGS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "FDMVGCL_CHECKPOINT_SECONDS": "0"}
    return subprocess.Popen(
        [*command, *map(str, args)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, err = process.communicate(timeout=120)
    return process.returncode, err


def children(process: subprocess.Popen[str]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the processes in /proc")
def test_two_processes_of_which_one_dies_and_then_three_give_the_bytes_of_one(source: Path) -> None:
    args = ("--epochs", 40, "--set", "schedule.min_rank=0", "-o")
    alone, two = start(1, *args, "alone"), start(2, *args, "shared")
    checkpoint, deadline = Path("shared/checkpoint.safetensors"), time.monotonic() + 60
    while not checkpoint.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(children(two)[1], signal.SIGKILL)
    code, err = finish(two)
    assert code != 0
    assert err.count("error: another process of this run is gone; go on with the same command and --resume") <= 1
    assert "internal error" not in err
    assert checkpoint.exists()
    for process in (alone, start(3, *args, "shared", "--resume")):
        code, err = finish(process)
        assert code == 0, err
    assert Path("shared/embeddings.parquet").read_bytes() == Path("alone/embeddings.parquet").read_bytes()
    assert sorted(os.listdir("shared")) == sorted(os.listdir("alone"))
