"""Training in blocks of rows, from memory or from disk: the numbers of the full batch, and always the same bytes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

from fdmvgcl import FDMVGCL, Diffusion, Features, Graph, Schedule
from fdmvgcl.diffusion import basis_file
from fdmvgcl.diffusion.basis import panel_columns
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.fractional.response import chebyshev_coefficients
from fdmvgcl.learning.prepare import Prepared
from fdmvgcl.learning.settings import dotted
from fdmvgcl.losses import Loss

SMALL = {"dim": 6, "views": 3, "epochs": 3, "schedule": Schedule(min_rank=0.0, merge_width=0.0)}
SMALL["features"] = Features(structure="none")
NODES, COLUMNS = 60, 37  # two panels, of which the second is not full


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdmvgcl.diffusion.basis.ROWS", 7)


def make_graph(*, sparse: bool = False, seed: int = 0) -> Graph:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((NODES, COLUMNS)).astype(np.float32)
    table = np.where(rng.random(table.shape) < 0.1, np.abs(table), 0) if sparse else table
    graph = Graph.from_edges(rng.integers(0, NODES, 200), rng.integers(0, NODES, 200), nodes=range(NODES))
    return graph.with_features(csr_array(table) if sparse else table)


def prepared(model: FDMVGCL, graph: Graph, folder: Path | None, order: str = "blocks") -> Prepared:
    """To be kept in memory without a folder, on disk with one."""
    resources = Resources(10**9) if folder is None else Resources(1, folder)
    return model.prepare(graph, order_of_work=order, resources=resources)  # type: ignore[arg-type]


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize(
    "diffusion",
    [Diffusion(), Diffusion(normalisation="rw", skip=1, skip_weight=0.5), Diffusion(scheme="l1", step=0.5)],
    ids=["default", "walk", "stepped"],
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_blocks_train_as_all_rows_at_once(tmp_path: Path, diffusion: Diffusion, on_disk: bool, sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    whole = FDMVGCL(**SMALL, diffusion=diffusion)
    whole.fit(prepared(whole, graph, None, "project"))
    model = FDMVGCL(**SMALL, diffusion=diffusion)
    z = model.fit_transform(prepared(model, graph, tmp_path / "scratch" if on_disk else None))
    assert model.chosen_.order_of_work == "blocks"
    for ours, theirs in zip(model.history_, whole.history_, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
        assert ours["alpha"] == pytest.approx(theirs["alpha"], rel=1e-4)
        assert ours["effective_rank"] == pytest.approx(theirs["effective_rank"], rel=1e-4)
    assert np.abs(z - whole.transform(graph)).max() < 1e-3
    assert np.allclose(model.transform(graph), z, atol=1e-6)
    assert np.allclose(model.combine(model.transform_views(graph)), z, atol=1e-6)


def test_memory_and_disk_give_the_same_bytes(tmp_path: Path) -> None:
    graph, model = make_graph(), FDMVGCL(**SMALL)
    found = [model.fit_transform(prepared(model, graph, folder)) for folder in (None, tmp_path)]
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_half_precision_is_off_by_no_more_than_it_says(tmp_path: Path, sparse: bool) -> None:
    """Whatever the columns' units are: one exceeds what float16 can hold, another lies below it."""
    graph = make_graph(sparse=sparse)
    units = np.full(COLUMNS, 1.0, np.float32)
    units[:3] = 1e7, 1e-9, 0
    graph = graph.with_features(csr_array(graph.features * units) if sparse else graph.features * units)
    features = Features(structure="none", scaling="none")
    halved = FDMVGCL(**SMALL | {"features": features, "diffusion": Diffusion(basis_dtype="float16")})
    exact = FDMVGCL(**SMALL | {"features": features})
    truth = prepared(exact, graph, None).block_basis.rows(0, NODES)
    made = prepared(halved, graph, None)
    (told,) = (sentence for sentence in made.sentences if "half precision" in sentence)
    bound = float(told.split("at most ")[1].split()[0])
    assert 5e-4 < bound < 4e-3
    bases = made.block_basis, prepared(halved, graph, tmp_path).block_basis
    spec = FDMVGCL(**SMALL).fit(prepared(exact, graph, None)).encoder_.filter
    size = chebyshev_coefficients(spec, 1e-7).detach().abs().sum(1).clamp(min=1.0)
    peak = truth.values.abs().amax((0, 1)) * float(size.max())
    for basis in bases:
        error = (basis.rows(0, NODES).diffused(spec) - truth.diffused(spec)).abs().amax((0, 1))
        assert bool((error <= bound * peak).all())
        assert float((error / peak.clamp(min=1e-30)).max()) > 1e-5
    assert torch.equal(bases[0].rows(3, 30).values, bases[1].rows(3, 30).values)
    some = torch.tensor([0, 8, 59])
    assert torch.equal(bases[0].at(some).values, bases[1].at(some).values)
    assert [path.suffix for path in sorted((tmp_path / "basis").glob("panel-*"))] == [".f16", ".f16"]


def test_half_precision_halves_what_is_kept_and_trains_nearly_the_same(tmp_path: Path) -> None:
    graph, found, sizes = make_graph(), [], []
    for kept in ("float32", "float16"):
        model = FDMVGCL(**SMALL | {"diffusion": Diffusion(basis_dtype=kept)})
        found.append(model.fit_transform(prepared(model, graph, tmp_path / kept)))
        sizes.append(sum(path.stat().st_size for path in (tmp_path / kept).rglob("panel-*")))
    assert sizes[1] == sizes[0] // 2 + 2 * 32 * 4
    gap = np.abs(found[0] - found[1]).max()
    assert 0 < gap < 0.02 * np.abs(found[0]).max()


@pytest.mark.parametrize("loss", ["barlow-twins", "vicreg", "cca-ssg", "euclidean", "cosmean"])
def test_every_loss_trains_in_blocks(loss: str) -> None:
    graph, losses = make_graph(), []
    for order in ("blocks", "diffuse"):
        model = FDMVGCL(**SMALL, loss=loss)
        model.fit(prepared(model, graph, None, order))
        losses.append([record["loss"] for record in model.history_])
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_what_exceeds_the_memory_is_done_in_blocks() -> None:
    graph, model = make_graph(), FDMVGCL(**SMALL)
    enough = model.prepare(graph).memory
    assert model.prepare(graph, resources=Resources(enough)).chosen.order_of_work != "blocks"
    less = model.prepare(graph, resources=Resources(enough // 4))
    assert less.chosen.order_of_work == "blocks"
    assert any("blocks of rows" in sentence for sentence in less.sentences)


def test_the_basis_on_disk_is_kept_and_told_from_another(tmp_path: Path) -> None:
    graph, model = make_graph(), FDMVGCL(**SMALL)
    first = prepared(model, graph, tmp_path).block_basis
    panels = sorted((tmp_path / "basis").glob("panel-*"))
    assert [panel.name for panel in panels] == ["panel-000.f32", "panel-001.f32"]
    assert panels[0].stat().st_size == 4 * first.shape[0] * NODES * 32
    before = [panel.stat().st_mtime_ns for panel in panels]
    panels[1].unlink()
    (tmp_path / "basis" / ".panel-001.f32.abcdef01.tmp").write_bytes(b"half")
    again = prepared(model, graph, tmp_path).block_basis
    assert panels[0].stat().st_mtime_ns == before[0]
    assert torch.equal(again.rows(0, NODES).values, first.rows(0, NODES).values)
    assert {path.name for path in (tmp_path / "basis").iterdir()} == {"basis.json", *(p.name for p in panels)}
    assert prepared(model, make_graph(seed=1), tmp_path).block_basis.shape == first.shape
    assert panels[0].stat().st_mtime_ns != before[0]


def test_many_nodes_have_narrower_panels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [panel_columns(nodes) for nodes in (10**6, 10**7, 10**8, 10**9)] == [32, 8, 4, 4]
    graph, model = make_graph(), FDMVGCL(**SMALL)
    wide = model.fit_transform(prepared(model, graph, tmp_path / "wide"))
    monkeypatch.setattr("fdmvgcl.diffusion.basis._PANEL_NUMBERS", 8 * NODES)
    narrow = [model.fit_transform(prepared(model, graph, folder)) for folder in (None, tmp_path / "narrow")]
    assert len(list((tmp_path / "narrow").rglob("panel-*"))) == 5
    assert narrow[0].tobytes() == narrow[1].tobytes()
    assert np.allclose(narrow[0], wide, atol=1e-4)


def test_rows_of_the_basis_on_disk_are_those_in_memory(tmp_path: Path) -> None:
    graph, model = make_graph(sparse=True), FDMVGCL(**SMALL)
    inside, outside = (prepared(model, graph, folder).block_basis for folder in (None, tmp_path))
    assert outside.shape == inside.shape
    assert torch.allclose(outside.rows(5, 23).values, inside.rows(5, 23).values, atol=1e-6)
    some = torch.tensor([0, 3, 22, 59])
    assert torch.allclose(outside.at(some).values, inside.at(some).values, atol=1e-6)
    path = basis_file.panel_path(tmp_path / "basis", 1)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="shorter"):
        outside.rows(50, NODES)


def test_a_run_in_blocks_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    graph, whole = make_graph(), FDMVGCL(**SMALL)
    expected = whole.fit_transform(prepared(whole, graph, tmp_path))

    class Stopped(Exception):
        pass

    def stop(trainer, record) -> None:
        if trainer.epoch == 2:
            trainer.save(tmp_path / "checkpoint", dotted(whole.settings))
            raise Stopped

    first, second = FDMVGCL(**SMALL), FDMVGCL(**SMALL)
    with pytest.raises(Stopped):
        first.fit(prepared(first, graph, tmp_path), on_epoch=stop)
    second.fit(prepared(second, graph, tmp_path), resume=tmp_path / "checkpoint")
    assert second.transform(graph).tobytes() == whole.transform(graph).tobytes()
    assert np.allclose(second.transform(graph), expected, atol=1e-6)


def test_blocks_prune_and_stop_as_all_rows_do() -> None:
    schedule = Schedule(min_rank=0.99, merge_width=2.0, lr=0.05)
    graph, found = make_graph(), []
    for order in ("blocks", "diffuse"):
        model = FDMVGCL(**SMALL | {"views": 4, "epochs": 6, "schedule": schedule})
        model.fit(prepared(model, graph, None, order))
        found.append([(record["phase"], record["epoch"]) for record in model.history_])
    assert found[0] == found[1]
    assert found[0][-1][0] > 0


def test_views_come_a_block_at_a_time_and_observers_see_a_sample() -> None:
    graph, model, shapes = make_graph(), FDMVGCL(**SMALL), []
    made = prepared(model, graph, None)
    pieces = list(model.fit_transform_pieces(made, observe=lambda views: shapes.append(views.shape) or {}))
    assert [piece.shape for piece in pieces] == [(3, 7, 6)] * 8 + [(3, 4, 6)]
    seen = made.seen(None)
    assert seen is not None
    assert set(shapes) == {(3, len(seen), 6)}
    assert prepared(model, graph, None, "diffuse").seen(None) is None


def test_a_loss_that_is_no_sum_is_refused_in_blocks() -> None:
    class Own(Loss):
        def __init__(self) -> None:
            super().__init__()
            self.weights = {"own": 1.0}

        def forward(self, views: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"own": views.square().sum()}

    graph, model = make_graph(), FDMVGCL(**SMALL | {"loss": Own()})
    assert model.prepare(graph, resources=Resources(1000)).chosen.order_of_work != "blocks"
    with pytest.raises(ValueError, match="sums over rows"):
        model.fit(prepared(model, graph, None))


@pytest.mark.parametrize("order", ["project", "diffuse", "blocks"])
def test_a_sample_of_rows_trains_and_all_are_embedded(order: str) -> None:
    """The same rows by the same seed, whatever the order of work; as many as there are is all."""
    graph, losses = make_graph(), []
    for rows, seed in ((20, 0), (20, 1), (NODES, 0)):
        schedule = Schedule(min_rank=0.0, merge_width=0.0, train_rows=rows)
        model, seen = FDMVGCL(**SMALL | {"schedule": schedule}, seed=seed), []
        made = prepared(model, graph, None, order)
        z = model.fit(made, observe=lambda views, seen=seen: seen.append(views.shape[1]) or {}).transform(graph)
        assert z.shape == (NODES, 6)
        trained = model.trained_rows(graph)
        assert (trained is None) == (rows == NODES)
        of = made.seen(trained)
        assert set(seen) == {NODES if of is None else len(of)}
        losses.append([record["loss"] for record in model.history_])
    assert losses[0] != losses[1]
    whole = FDMVGCL(**SMALL)
    whole.fit(prepared(whole, graph, None, "project"))
    assert losses[2] == pytest.approx([record["loss"] for record in whole.history_], rel=1e-4)
    sampled = FDMVGCL(**SMALL | {"schedule": Schedule(min_rank=0.0, merge_width=0.0, train_rows=20)})
    sampled.fit(prepared(sampled, graph, None, "project"))
    assert losses[0] == pytest.approx([record["loss"] for record in sampled.history_], rel=1e-4)
