"""What is far beyond this machine is refused before training, what is close to it is told."""

import pytest

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.cli import embed
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
    monkeypatch.setattr(embed, "machine_memory", lambda: int(needed / share))
    if told == "refused":
        with pytest.raises(UserError, match="use a smaller --dim or fewer --views"):
            embed._prepare(MODEL, GRAPH, None, Resources(), Reporter())
        return
    embed._prepare(MODEL, GRAPH, None, Resources(), Reporter())
    assert (told in capsys.readouterr().err) if told else not capsys.readouterr().err
