"""``reproduce pca``, ``tsne`` and ``ratio``: measures, pages that follow the records, and a whole run on karate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fdmvgcl.cli.console import Reporter
from fdmvgcl.cli.reproduce import reproduce
from fdmvgcl.experiments import RecordFile, class_maps, class_ratios, component_spectra
from fdmvgcl.experiments.fixed_views import fixed_views
from fdmvgcl.learning.model import FDMVGCL


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (component_spectra, class_maps, class_ratios):
        monkeypatch.setattr(module, "DIM", 8)
        monkeypatch.setattr(module, "EPOCHS", 2)
    for module in (component_spectra, class_maps):
        monkeypatch.setattr(module, "SIDES", {"untrained": 0, "trained": 2})


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("pca", {"pca.md", "pca.txt", "pca.png"}),
        ("tsne", {"tsne.md", "tsne.txt", "tsne-karate.png"}),
        ("ratio", {"ratio.md", "ratio.txt", "ratio.png"}),
    ],
)
def test_whole_run_on_karate(small: None, tmp_path: Path, name: str, files: set[str]) -> None:
    reproduce(name, ["karate"], 1, tmp_path, Reporter(quiet=True))
    assert {path.name for path in tmp_path.iterdir()} == files | {"records.jsonl"}
    assert "karate" in (tmp_path / f"{name}.md").read_text()


def test_settings_take_the_papers_time_and_rates_and_are_valid() -> None:
    settings = fixed_views("cora", 2, dim=8, epochs=3)
    model = FDMVGCL.from_settings(settings)
    assert (model.time, model.schedule.lr, model.schedule.weight_decay) == (20.0, 0.01, 0.0005)
    assert "time" not in fixed_views("karate", 2, dim=8, epochs=3)


# -- pca --------------------------------------------------------------------------------------------------------------


def test_components_used_of_known_shares() -> None:
    assert component_spectra.components_used(torch.full((4,), 0.25)) == pytest.approx(4)
    assert component_spectra.components_used(torch.tensor([1.0, 0.0])) == pytest.approx(1)


def _spectra(tmp_path: Path, used: list[float]) -> str:
    records = RecordFile(tmp_path / "records.jsonl")
    for side in component_spectra.SIDES:
        contents = {"alphas": [0.01, 1.0], "shares": [[0.5, 0.2], [0.9, 0.1]], "components_used": used}
        records.append({"key": {"dataset": "cora", "seed": 0, "side": side}, **contents, "effective_rank": [9.0, 3.0]})
    component_spectra.ComponentSpectra().render(records, tmp_path)
    return (tmp_path / "pca.md").read_text()


def test_reading_of_the_spectra_follows_the_records(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert "Untrained, the smallest order is the more spread out" in _spectra(tmp_path / "one", [12.0, 3.0])
    assert "Untrained, the smallest order is not the more spread out" in _spectra(tmp_path / "two", [3.0, 12.0])


# -- tsne -------------------------------------------------------------------------------------------------------------


def test_spread_is_the_root_mean_square_distance_from_the_mean() -> None:
    assert class_maps.spread(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0], [2.0, 0.0]])) == pytest.approx(1)
    rows = np.random.default_rng(0).standard_normal((7, 3))
    assert class_maps.spread(rows + 100) == pytest.approx(class_maps.spread(rows))


def _class(spread: list[float]) -> dict[str, Any]:
    return {"label": 0, "nodes": 3, "spread": spread, "map_spread": spread, "points": [[0, 0, 9, 9, 5, 5]] * 2}


def test_compact_classes_are_counted() -> None:
    record = {"key": {"dataset": "cora", "side": "trained"}, "alphas": [0.01, 1.0], "overall": [1.0, 4.0]}
    told = class_maps.table({**record, "classes": [_class([1.0, 2.0]), _class([2.0, 1.0])]}).notes[0]
    assert "1 of 2 as it is, 0 of 2 over all nodes', 1 of 2 in the map" in told


# -- ratio ------------------------------------------------------------------------------------------------------------


def _ratios(last: float) -> dict[str, Any]:
    curve = [[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [[last, last], [1.0, None], [last, last]]]
    return {"key": {"dataset": "cora"}, "alphas": [0.01, 1.0], "input": [0.9, 0.9], "ratios": curve}


def test_reading_of_the_ratios_follows_the_records() -> None:
    rising, falling = class_ratios.table(_ratios(1.5)), class_ratios.table(_ratios(0.5))
    assert "ratio rises in every class" in rising.notes[0]
    assert "ratio does not rise in every class" in falling.notes[0]
    assert rising.rows[-1][-2:] == ["1 of 1", "1 of 1"], "a class without a ratio is left out"
    assert falling.rows[-1][-2:] == ["0 of 1", "0 of 1"]
