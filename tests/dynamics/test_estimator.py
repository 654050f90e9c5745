"""Dynamics in the estimator and the command: fit, transform, save, load, resume, and what is refused."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import Tensor, nn
from typer.testing import CliRunner

from fdmvgcl import FDMVGCL, Diffusion, Features, Graph, Schedule, cli
from fdmvgcl.dynamics import DYNAMICS, Dynamics, Grand, propagate
from fdmvgcl.errors import InputError
from fdmvgcl.graphs.operators import Operator
from fdmvgcl.learning.settings import dotted
from fdmvgcl.learning.training import Trainer

SMALL = {"dim": 6, "views": 2, "epochs": 2, "time": 2.0}


def make_graph(nodes: int = 20, *, directed: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes - 1, (2, 2 * nodes))  # the last node is isolated
    return Graph.from_edges(*ends, nodes=range(nodes), features=rng.random((nodes, 5)), directed=directed)


class Leaky(Dynamics):
    """A user's own: diffusion, and a learned loss for each feature."""

    def __init__(self, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.rand(dim, generator=generator))

    def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
        return propagate(operator, state) - state - self.rate * state


@pytest.mark.parametrize("name", sorted(set(DYNAMICS) - {"gread-bs"}))
def test_fit_transform_save_load(tmp_path: Path, name: str) -> None:
    graph = make_graph()
    model = FDMVGCL(**SMALL, diffusion=Diffusion(name), schedule=Schedule(min_rank=0.0, merge_width=0.0))
    untrained = clone(model).set_params(epochs=0).fit(graph)
    model.fit(graph)
    assert model.chosen_.order_of_work == "project"
    assert (model.alphas_ != untrained.alphas_).any()
    for (key, before), after in zip(
        untrained.encoder_.dynamics.state_dict().items(), model.encoder_.dynamics.state_dict().values(), strict=True
    ):
        assert not torch.equal(before, after), f"{key} has not learned"
    model.save(tmp_path)
    loaded = FDMVGCL.load(tmp_path)
    assert loaded.settings == model.settings
    for each in (graph, make_graph(nodes=9)):
        z = model.transform(each)
        assert z.shape == (each.num_nodes, 6)
        assert np.isfinite(z).all()
        assert loaded.transform(each).tobytes() == z.tobytes()


def test_dynamics_change_the_embedding_and_views_have_their_own() -> None:
    graph = make_graph()
    models = {name: FDMVGCL(**SMALL, diffusion=Diffusion(name)).fit(graph) for name in ("grand", "cde", "graphcon")}
    results = [model.transform(graph) for model in models.values()]
    assert not np.allclose(results[0], results[1], atol=1e-3)
    assert not np.allclose(results[1], results[2], atol=1e-3)
    first, second = models["cde"].encoder_.dynamics
    assert not torch.equal(first.velocity, second.velocity)


def test_stepped_linear_diffusion_trains_as_the_filter_does() -> None:
    graph = make_graph()
    stepped = FDMVGCL(**SMALL, diffusion=Diffusion(Grand, step=1 / 16, rate=0.7)).fit(graph)
    filtered = FDMVGCL(**SMALL, diffusion=Diffusion(rate=0.7), features=Features(anchor=0)).fit(graph)
    for ours, theirs in zip(stepped.history_, filtered.history_, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-3)
        assert ours["alpha"] == pytest.approx(theirs["alpha"], rel=1e-3)
    assert np.allclose(stepped.transform(graph), filtered.transform(graph), atol=5e-3)


def test_learned_time_skips_and_directed_graphs() -> None:
    diffusion = Diffusion("gread", learn_time=True, skip=2, learn_skip=True)
    model = FDMVGCL(**SMALL, diffusion=diffusion, schedule=Schedule(min_rank=0.0)).fit(make_graph())
    first, last = model.history_[0], model.history_[-1]
    assert first["time"] != last["time"]
    assert first["skip_weight"] != last["skip_weight"]
    directed = FDMVGCL(**SMALL, diffusion=Diffusion("grand-attention")).fit_transform(make_graph(directed=True))
    assert np.isfinite(directed).all()


def test_attention_has_the_operator_it_is_defined_with() -> None:
    model = FDMVGCL(**(SMALL | {"epochs": 0}), diffusion=Diffusion("grand-attention")).fit(make_graph())
    operator = model.operator(make_graph())
    assert (operator.normalisation, operator.self_loops) == ("rw", 1.0)
    assert model.set_params(diffusion__self_loops=0.5).operator(make_graph()).self_loops == 0.5


def test_resumed_training_ends_with_the_same_bits(tmp_path: Path) -> None:
    """Killed after the first epoch, or in the second phase, when views were pruned and dynamics began anew."""
    graph = make_graph()
    schedule = Schedule(order_lr=1.0, min_rank=0.0)
    settings = {"dim": 6, "views": 3, "epochs": 2, "time": 2.0, "schedule": schedule, "diffusion": Diffusion("cde")}
    whole = FDMVGCL(**settings).fit(graph)
    assert whole.history_[-1]["phase"] >= 1

    class Killed(Exception):
        pass

    for stop_after in (1, 3):

        def stop(trainer: Trainer, record: dict, stop_after: int = stop_after) -> None:
            if len(trainer.history) == stop_after:
                trainer.save(tmp_path / "state", dotted(FDMVGCL(**settings).settings))
                raise Killed

        with pytest.raises(Killed):
            FDMVGCL(**settings).fit(graph, on_epoch=stop)
        resumed = FDMVGCL(**settings).fit(graph, resume=tmp_path / "state")
        assert resumed.transform(graph).tobytes() == whole.transform(graph).tobytes()
    with pytest.raises(InputError, match=r"was made with diffusion\.dynamics='cde', not 'gread'"):
        FDMVGCL(**(settings | {"diffusion": Diffusion("gread")})).fit(graph, resume=tmp_path / "state")


class TestOnesOwn:
    def test_it_learns_and_needs_its_factory_to_be_loaded(self, tmp_path: Path) -> None:
        graph = make_graph()
        model = FDMVGCL(**SMALL, diffusion=Diffusion(Leaky)).fit(graph)
        assert all(bool(each.rate.grad.abs().max() > 0) for each in model.encoder_.dynamics)
        model.save(tmp_path)
        factory = json.loads((tmp_path / "config.json").read_text())["settings"]["diffusion"]["dynamics"]["factory"]
        assert factory.endswith("Leaky")
        with pytest.raises(InputError, match=r"Leaky.*FDMVGCL\.load\(folder, dynamics=…\)"):
            FDMVGCL.load(tmp_path)
        loaded = FDMVGCL.load(tmp_path, dynamics=Leaky)
        assert loaded.settings == model.settings
        assert loaded.transform(graph).tobytes() == model.transform(graph).tobytes()

    def test_another_factory_does_not_fit_the_weights(self, tmp_path: Path) -> None:
        FDMVGCL(**SMALL, diffusion=Diffusion(Leaky)).fit(make_graph()).save(tmp_path)
        with pytest.raises(InputError, match="does not describe the weights"):
            FDMVGCL.load(tmp_path, dynamics=DYNAMICS["cde"])

    def test_named_dynamics_need_none(self, tmp_path: Path) -> None:
        FDMVGCL(**SMALL).fit(make_graph()).save(tmp_path)
        with pytest.raises(InputError, match="tells of the dynamics 'grand'; leave out dynamics="):
            FDMVGCL.load(tmp_path, dynamics=Leaky)

    def test_an_equation_without_a_solution_is_told_as_one(self) -> None:
        class Explosive(Dynamics):
            def forward(self, time: Tensor, state: Tensor, operator: Operator) -> Tensor:
                return 1 + 100 * state.square()

        with pytest.raises(FloatingPointError, match="an implicit step did not reach its tolerance"):
            FDMVGCL(**SMALL, diffusion=Diffusion(lambda dim, generator: Explosive())).fit(make_graph())

    def test_what_writes_no_forward_says_so(self) -> None:
        with pytest.raises(NotImplementedError, match=r"Dynamics must write forward\(time, state, operator\)"):
            FDMVGCL(**SMALL, diffusion=Diffusion(lambda dim, generator: Dynamics())).fit(make_graph())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"diffusion.dynamics": "heat"}, "dynamics must be one of grand, grand-attention, .*, got 'heat'"),
        (
            {"diffusion.dynamics": "grand-attention", "diffusion.normalisation": "sym"},
            "normalisation must be 'rw' for GrandAttention",
        ),
        ({"diffusion.dynamics": "cde", "diffusion.step": 0.7}, "step must divide the time 2 into whole steps, got 0.7"),
        ({"diffusion.dynamics": "cde", "diffusion.scheme": "euler"}, "scheme must be one of"),
        ({"diffusion.dynamics": "cde", "time": float("inf")}, "time must be a finite number"),
    ],
)
def test_what_cannot_be_is_refused(bad: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FDMVGCL.from_settings(SMALL | bad).fit(make_graph())


def test_non_linear_dynamics_cannot_diffuse_first() -> None:
    with pytest.raises(ValueError, match="order_of_work must be 'project' for non-linear dynamics"):
        FDMVGCL(**SMALL, diffusion=Diffusion("cde")).prepare(make_graph(), order_of_work="diffuse")


def test_the_memory_estimate_grows_with_steps_and_states() -> None:
    graph = make_graph()
    bytes_of = [
        FDMVGCL(**SMALL, diffusion=diffusion).prepare(graph).memory
        for diffusion in (Diffusion(), Diffusion("cde"), Diffusion("cde", step=0.25), Diffusion("graphcon", step=0.25))
    ]
    assert bytes_of == sorted(set(bytes_of))
    state = 4 * graph.num_nodes * SMALL["dim"]
    assert bytes_of[2] - bytes_of[1] == 2.5 * 3 * (8 - 4) * SMALL["views"] * state


def test_the_command_knows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nx.write_edgelist(nx.karate_club_graph(), "edges.txt", data=False)

    def run(*args: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli.app, ["embed", "edges.txt", "-o", "out", *args], prog_name="fdmvgcl")
        return result.exit_code, result.output

    code, told = run(
        "--set", "diffusion.dynamics=gread-fisher", "--dim", "4", "--views", "2", "--epochs", "1", "--time", "2"
    )
    assert code == 0, told
    assert json.loads(Path("out/model/config.json").read_text())["settings"]["diffusion"]["dynamics"] == "gread-fisher"
    code, told = run("--set", "diffusion.dynamics=heat")
    assert code == 2
    assert told.startswith("error: --set diffusion.dynamics must be one of grand, ")
