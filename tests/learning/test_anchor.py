"""The columns that are not trained: the features' principal components, diffused by each view like the rest."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from fdmvgcl import FDMVGCL, Diffusion, Features, Graph, Schedule
from fdmvgcl.diffusion.linear import apply_filter
from fdmvgcl.errors import InputError
from fdmvgcl.graphs.edit import subgraph
from fdmvgcl.learning.encoder import FeatureMatrix
from fdmvgcl.learning.whitening import principal_axes
from fdmvgcl.losses import unit_rows

PLAIN = {"views": 3, "epochs": 4, "diffusion": Diffusion(view_scaling="rows")}


def make_graph(nodes: int = 50, features: int = 30) -> Graph:
    rng = np.random.default_rng(0)
    table = rng.random((nodes, features)) * (rng.random((nodes, features)) < 0.3)
    return Graph.from_edges(*rng.integers(0, nodes, (2, 4 * nodes)), nodes=range(nodes), features=table)


def fitted(dim: int = 16, anchor: float = 0.25, **settings: object) -> FDMVGCL:
    return FDMVGCL(dim, features=Features(structure="none", anchor=anchor), **{**PLAIN, **settings}).fit(make_graph())


def test_anchored_columns_are_diffused_components_of_unit_length() -> None:
    graph, model = make_graph(), fitted()
    prepared = model.prepare(graph)
    start = prepared.features.dense() @ principal_axes(prepared.features, 4)
    truth = apply_filter(prepared.operator, start.repeat(3, 1, 1), model.encoder_.filter).detach()
    views = torch.from_numpy(model.transform_views(graph))
    torch.testing.assert_close(views[..., -4:], unit_rows(truth), atol=1e-5, rtol=0)
    torch.testing.assert_close(views[..., :-4].norm(dim=-1), torch.ones(3, 50))


def test_training_and_weight_decay_leave_them_as_they_are() -> None:
    orders = Diffusion(view_scaling="rows", learn_alpha=False)
    before, after = (fitted(epochs=epochs, diffusion=orders, schedule=Schedule(weight_decay=0.1)) for epochs in (0, 5))
    assert torch.equal(before.encoder_.anchor, after.encoder_.anchor)
    alone = FDMVGCL(16, 3, 0, features=Features(structure="none"), diffusion=orders).fit(make_graph())
    assert torch.equal(alone.encoder_.anchor, after.encoder_.anchor)


def test_the_loss_does_not_see_them() -> None:
    """With the anchor taken away the trained columns learn the same."""
    with_anchor, without = fitted(dim=16), fitted(dim=12, anchor=0)
    assert with_anchor.encoder_.weight.shape == without.encoder_.weight.shape == (3, 30, 12)
    torch.testing.assert_close(with_anchor.encoder_.weight, without.encoder_.weight)
    assert [r["loss"] for r in with_anchor.history_] == pytest.approx([r["loss"] for r in without.history_])


@pytest.mark.parametrize(
    ("settings", "anchored"),
    [
        ({}, 4),
        ({"anchor": 0}, 0),
        ({"anchor": 0.9}, 14),
        ({"dim": 3}, 0),
        ({"dim": 200}, 30),
        ({"diffusion": Diffusion(view_scaling="view")}, 0),
        ({"diffusion": Diffusion(view_scaling="none")}, 0),
        ({"diffusion": Diffusion("graphcon")}, 0),
    ],
)
def test_how_many_there_are(settings: dict[str, object], anchored: int) -> None:
    model = fitted(**{"epochs": 1, **settings})
    assert model.encoder_.anchored == model.chosen_.anchored == anchored
    assert model.transform(make_graph()).shape[1] == model.dim


def test_save_and_load_keep_them(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path)
    loaded = FDMVGCL.load(tmp_path)
    assert loaded.chosen_.anchored == 4
    assert loaded.transform(make_graph()).tobytes() == model.transform(make_graph()).tobytes()
    assert loaded.partial_fit(make_graph()).encoder_.anchored == 4


def test_training_goes_on_with_those_that_there_are() -> None:
    """On a graph of fewer nodes than there are anchored columns, too."""
    model = fitted()
    anchor = model.encoder_.anchor.clone()
    few = subgraph(make_graph(), make_graph().ids[:3])
    assert torch.equal(model.partial_fit(few).encoder_.anchor, anchor)


def test_a_file_whose_anchor_does_not_fit_is_refused(tmp_path: Path) -> None:
    fitted().save(tmp_path / "four")
    fitted(anchor=0.5).save(tmp_path / "eight")
    (tmp_path / "eight" / "weights.safetensors").replace(tmp_path / "four" / "weights.safetensors")
    FDMVGCL.load(tmp_path / "four")  # as wide, and the weights say how many are anchored
    fitted(dim=20).save(tmp_path / "wider")
    (tmp_path / "wider" / "weights.safetensors").replace(tmp_path / "four" / "weights.safetensors")
    with pytest.raises(InputError, match=r"weights must have shape \(3, 30, 11\), got \(3, 30, 15\)"):
        FDMVGCL.load(tmp_path / "four")


@pytest.mark.parametrize("kind", ["dense", "sparse", "sparse and centred"])
def test_axes_span_what_singular_vectors_do(kind: str) -> None:
    rng = np.random.default_rng(0)
    full = rng.random((200, 20)) @ np.diag(0.5 ** np.arange(20)) @ rng.random((20, 40)) * (rng.random((200, 40)) < 0.5)
    table, centre = torch.from_numpy(full).float(), torch.from_numpy(full.mean(0)).float()
    sparse_table = torch.sparse_csr_tensor(*_parts(sparse.csr_array(full.astype(np.float32))), size=full.shape)
    x = {
        "dense": FeatureMatrix.of(table),
        "sparse": FeatureMatrix.of(sparse_table),
        "sparse and centred": FeatureMatrix.of(sparse_table, centre),
    }[kind]
    axes = principal_axes(x, 5)
    torch.testing.assert_close(axes.T @ axes, torch.eye(5), atol=1e-5, rtol=0)
    most = torch.linalg.svdvals(x.dense())[:5].square().sum()
    assert float((x.dense() @ axes).square().sum() / most) > 0.99


def _parts(table: sparse.csr_array) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(part) for part in (table.indptr, table.indices, table.data))
