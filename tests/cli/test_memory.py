"""What is far beyond this machine is refused before training, what is close to it is told."""

import resource
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.cli import app, embed
from fdmvgcl.cli.console import Reporter
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.errors import UserError
from fdmvgcl.learning.plan import plan_exactly

GRAPH = Graph.from_edges(range(2000), range(1, 2001))
MODEL = FDMVGCL(dim=32, views=2)


@pytest.mark.parametrize(
    ("share", "told"), [(0.6, ""), (0.8, "close to all memory"), (1.4, "close to all memory"), (1.6, "refused")]
)
def test_refusal_and_warning(share: float, told: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    needed = plan_exactly(MODEL, MODEL.prepare(GRAPH), 1).memory
    monkeypatch.setattr(embed, "memory_share", lambda: int(needed / share))
    if told == "refused":
        with pytest.raises(UserError, match="use a smaller --dim or fewer --views"):
            embed._prepare(MODEL, GRAPH, None, Resources(), Reporter())
        return
    embed._prepare(MODEL, GRAPH, None, Resources(), Reporter())
    assert (told in capsys.readouterr().err) if told else not capsys.readouterr().err


def test_a_disk_that_is_full_ends_with_a_line_and_the_same_command_goes_on() -> None:
    """A limit on the size of files stands for it; the basis is the first that is larger."""
    Path("edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(3 * i + 1) % 60}\n" for i in range(60)))
    command = ["embed", "edges.csv", "--dim", "4", "--epochs", "1", "--memory", "1KB", "--reader", "memory"]
    command += ["--no-report", "-q", "-o", "out"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        failed = CliRunner().invoke(app, command)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert failed.exit_code == 2
    assert len(failed.stderr.splitlines()) == 1
    assert "File too large" in failed.stderr
    assert not list(Path("out").glob("*.parquet"))
    assert not list(Path("out").rglob("*.tmp"))
    assert CliRunner().invoke(app, command).exit_code == 0
    assert Path("out/embeddings.parquet").exists()
    assert not Path("out/scratch").exists()
