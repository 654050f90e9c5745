"""Rows of the robustness tables: from a clean scene to a victim that is never trained again."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from fdmvgcl.attacks import Encoding, FrozenProbe, SupervisedDiffusion, WhiteBox, train_supervised
from fdmvgcl.attacks.scene import Scene
from fdmvgcl.evaluation.controls import ALPHAS, TIMES
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import Diffusion

# Weight of the joins of the defended row.
JOINS = 0.2

OURS, DEFENDED, RAW = "FD-MVGCL", "FD-MVGCL defended", "raw"


def _default(scene: Scene) -> WhiteBox:
    return _probed(scene, Diffusion())


def _defended(scene: Scene) -> WhiteBox:
    return _probed(scene, Diffusion(joins=JOINS))


def _probed(scene: Scene, diffusion: Diffusion) -> WhiteBox:
    model = FDMVGCL(seed=scene.seed, diffusion=diffusion).fit(scene.graph)
    return FrozenProbe.of_model(model, scene.graph, scene.labels, scene.split)


def _diffused(scene: Scene) -> WhiteBox:
    grid = [Encoding.diffused(scene.graph, alpha, time) for alpha in ALPHAS for time in TIMES]
    return FrozenProbe.chosen(grid, scene.graph, scene.labels, scene.split)


def _raw(scene: Scene) -> WhiteBox:
    both = [Encoding.raw(scene.graph, "none"), Encoding.raw(scene.graph, "rows")]
    return FrozenProbe.chosen(both, scene.graph, scene.labels, scene.split)


def _gcn(scene: Scene) -> WhiteBox:
    return train_supervised(scene.graph, scene.labels, scene.split, seed=scene.seed)


def _supervised_diffusion(scene: Scene) -> WhiteBox:
    return train_supervised(scene.graph, scene.labels, scene.split, make=SupervisedDiffusion, seed=scene.seed)


METHODS: Mapping[str, Callable[[Scene], WhiteBox]] = {
    OURS: _default,
    DEFENDED: _defended,
    "diffused": _diffused,
    RAW: _raw,
    "GCN": _gcn,
    "supervised diffusion": _supervised_diffusion,
}


@lru_cache(maxsize=2 * len(METHODS))
def trained(scene: Scene, method: str) -> WhiteBox:
    """A row on a clean scene, trained once for all attacks."""
    return METHODS[method](scene)
