"""AVLA's reduction, the schedule, and training that can be taken up again at any epoch."""

from pathlib import Path

import pytest
import torch

from fdmvgcl import FDMVGCL, Diffusion, Features, Graph, Schedule
from fdmvgcl.errors import InputError
from fdmvgcl.learning.diagnostics import uniformity
from fdmvgcl.learning.settings import dotted
from fdmvgcl.learning.training import Trainer, distinct_orders, initial_orders
from fdmvgcl.losses import LOSSES, RegularisedCosmean, make_loss


def small_graph(nodes: int = 24, seed: int = 0) -> Graph:
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(0, nodes, (60,), generator=generator).tolist()
    target = torch.randint(0, nodes, (60,), generator=generator).tolist()
    features = torch.rand(nodes, 8, generator=generator).numpy()
    return Graph.from_edges(source, target, nodes=range(nodes), features=features)


def without_times(history: list[dict]) -> list[dict]:
    return [{name: value for name, value in record.items() if name != "seconds"} for record in history]


def merged(alphas: list[float], width: float = 1e-4) -> list[float]:
    return distinct_orders(torch.tensor(alphas, dtype=torch.float64), width, torch.Generator()).tolist()


def test_orders_start_evenly_spaced() -> None:
    assert initial_orders(5).tolist() == pytest.approx([0.01, 0.2575, 0.505, 0.7525, 1.0])
    assert initial_orders(1).tolist() == [0.7]
    with pytest.raises(ValueError, match="views must be at least 1, got 0"):
        initial_orders(0)


def test_orders_that_met_keep_one_of_them() -> None:
    assert merged([0.2, 1.0, 1.0, 0.5]) == [0.2, 0.5, 1.0]
    assert merged([0.2, 0.5, 1.0]) == [0.2, 0.5, 1.0]


def test_a_run_is_merged_by_its_whole_width() -> None:
    """Each is within δ of the next, but the first and the last are not: two runs."""
    chain = [0.5 * 2.718281828 ** (0.6e-4 * i) for i in range(3)]
    assert len(merged([0.1, *chain])) == 3


def test_never_fewer_than_two_views() -> None:
    assert merged([0.5, 0.5, 0.5]) == [0.5, 0.5]
    assert merged([0.5, 0.5]) == [0.5, 0.5]


def test_which_one_is_kept_is_random_and_repeatable() -> None:
    alphas = torch.tensor([0.5, 0.50001, 0.50002, 1.0], dtype=torch.float64)
    kept = {distinct_orders(alphas, 1e-3, torch.Generator().manual_seed(s))[0].item() for s in range(20)}
    assert kept == set(alphas[:3].tolist())


def test_orders_are_clamped_and_met_views_pruned() -> None:
    """A large step sends orders to the clamps, where they meet; weights start anew with the views that are left."""
    model = FDMVGCL(dim=8, views=5, epochs=6, time=2.0, schedule=Schedule(order_lr=1.0, min_rank=0.0)).fit(
        small_graph()
    )
    assert len(model.alphas_) < 5
    assert len(model.alphas_) >= 2
    assert model.history_[-1]["phase"] >= 1
    assert all(1e-4 <= a <= 1 for record in model.history_ for a in record["alpha"])
    assert len({len(record["alpha"]) for record in model.history_}) > 1


def test_fixed_orders_stay() -> None:
    model = FDMVGCL(dim=8, views=3, epochs=3, diffusion=Diffusion(learn_alpha=False)).fit(small_graph())
    assert model.alphas_.tolist() == initial_orders(3).tolist()


def test_learned_time_skip_weight_and_rate_move() -> None:
    diffusion = Diffusion(learn_time=True, learn_skip=True, skip=1, rate=0.5, learn_rate=True)
    model = FDMVGCL(dim=8, views=2, epochs=3, diffusion=diffusion, schedule=Schedule(min_rank=0.0)).fit(small_graph())
    assert model.history_[-1]["time"] != model.history_[0]["time"]
    assert model.history_[-1]["skip_weight"] != model.history_[0]["skip_weight"]
    assert model.history_[0]["rate"] == 0.5 != model.history_[-1]["rate"]


def test_collapse_ends_a_phase_early() -> None:
    quick = {"loss": RegularisedCosmean(eta=0.0), "schedule": Schedule(lr=0.5, min_rank=0.9)}
    long = FDMVGCL(dim=8, views=2, epochs=200, features=Features(centre=False), **quick).fit(small_graph())
    assert len(long.history_) < 200
    first, last = long.history_[0], long.history_[-1]
    assert last["effective_rank"] < 0.9 * first["effective_rank"]


def test_loss_goes_down() -> None:
    history = FDMVGCL(dim=16, views=3, epochs=20, schedule=Schedule(min_rank=0.0)).fit(small_graph()).history_
    assert history[-1]["loss"] < history[0]["loss"]


@pytest.mark.parametrize("stop_after", [1, 4, 7])
def test_resumed_training_ends_with_the_same_bits(tmp_path: Path, stop_after: int) -> None:
    """Killed after any epoch, in the first phase or after a pruning, the result is the same to the bit."""
    schedule = Schedule(order_lr=0.5, min_rank=0.0)
    graph, settings = small_graph(), {"dim": 8, "views": 5, "epochs": 4, "time": 2.0, "schedule": schedule}
    whole = FDMVGCL(**settings).fit(graph)
    assert whole.history_[-1]["phase"] >= 1

    class Killed(Exception):
        pass

    def stop(trainer: Trainer, record: dict) -> None:
        trainer.save(tmp_path / "state", dotted(FDMVGCL(**settings).settings))
        if len(trainer.history) == stop_after:
            raise Killed

    with pytest.raises(Killed):
        FDMVGCL(**settings).fit(graph, on_epoch=stop)
    resumed = FDMVGCL(**settings).fit(graph, resume=tmp_path / "state")
    assert resumed.transform(graph).tobytes() == whole.transform(graph).tobytes()
    assert without_times(resumed.history_) == without_times(whole.history_)


def test_a_record_tells_of_pairs_and_views() -> None:
    for views, pairs in ((2, 1), (4, 4)):
        model = FDMVGCL(dim=20, views=views, epochs=2, diffusion=Diffusion(learn_alpha=False))
        for record in model.fit(small_graph()).history_:
            assert [len(record[name]) for name in ("view_similarity", "cka", "alignment")] == [pairs] * 3
            assert len(record["uniformity"]) == len(record["spectrum"]) == views
            assert all(len(shares) == 16 and shares == sorted(shares, reverse=True) for shares in record["spectrum"])
            assert all(0 < value <= 1 for value in record["cka"])
            cosines = [1 - distance / 2 for distance in record["alignment"]]
            assert record["view_similarity"] == pytest.approx(cosines, abs=1e-5)


def test_a_record_describes_the_views_that_its_step_began_with() -> None:
    """Not those after the step: an untrained model's views are in the first record."""
    graph = small_graph()
    settings = {"dim": 20, "views": 3, "diffusion": Diffusion(view_scaling="rows"), "features": Features(anchor=0)}
    untrained = torch.from_numpy(FDMVGCL(**settings, epochs=0).fit(graph).transform_views(graph))
    first = FDMVGCL(**settings, epochs=2).fit(graph).history_[0]
    assert first["uniformity"] == pytest.approx([uniformity(view) for view in untrained], abs=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_no_term_of_a_loss_is_hidden_by_another_entry_of_the_record(name: str) -> None:
    record = FDMVGCL(dim=8, views=2, epochs=1).fit(small_graph()).history_[0]
    others = set(record) - set(make_loss("regularised-cosmean").weights)
    assert not others & set(make_loss(name).weights)


def test_an_observer_adds_to_the_record_and_to_nothing_else() -> None:
    graph, settings = small_graph(), {"dim": 8, "views": 3, "epochs": 3, "schedule": Schedule(min_rank=0.0)}
    seen: list[torch.Tensor] = []

    def observe(views: torch.Tensor) -> dict:
        assert not views.requires_grad
        seen.append(views.clone())
        return {"largest": views.abs().max().item()}

    plain, observed = FDMVGCL(**settings).fit(graph), FDMVGCL(**settings).fit(graph, observe=observe)
    assert [record["largest"] for record in observed.history_] == [views.abs().max().item() for views in seen]
    assert seen[0].shape == (3, graph.num_nodes, 8)
    assert observed.transform(graph).tobytes() == plain.transform(graph).tobytes()
    assert observed.history_[0].keys() - plain.history_[0].keys() == {"largest"}
    observed.partial_fit(graph, observe=lambda views: {"more": len(views)})
    assert observed.history_[-1]["more"] == 3


def test_an_observer_may_not_replace_what_the_record_has() -> None:
    with pytest.raises(ValueError, match="observe must not return 'effective_rank'"):
        FDMVGCL(dim=8, views=2, epochs=1).fit(small_graph(), observe=lambda views: {"effective_rank": 0.0})


def test_checkpoints_of_other_settings_or_kinds_are_refused(tmp_path: Path) -> None:
    graph, path = small_graph(), tmp_path / "state"
    FDMVGCL(dim=8, views=2, epochs=1).fit(
        graph, on_epoch=lambda t, r: t.save(path, dotted(FDMVGCL(dim=8, views=2, epochs=1).settings))
    )
    with pytest.raises(InputError, match="was made with dim=8, not 16"):
        FDMVGCL(dim=16, views=2, epochs=1).fit(graph, resume=path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="is not a checkpoint"):
        FDMVGCL(dim=8, views=2, epochs=1).fit(graph, resume=path)


@pytest.mark.parametrize(
    "bad", [{"weight_decay": -1}, {"lr": float("inf")}, {"smallest_alpha": 0.0}, {"min_rank": float("nan")}]
)
def test_schedule_names_what_is_wrong(bad: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must"):
        Schedule(**bad)
