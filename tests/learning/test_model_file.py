"""A model that was saved once loads in every later version, and gives the vectors that it gave then."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.datasets import load
from fdmvgcl.errors import InputError
from fdmvgcl.learning import model_file

# Written when format 5 was new, and never again: neither file may be changed to please a later version.
STORED = Path(__file__).parent.parent / "data" / "model-format-5"


def stored_graph() -> Graph:
    x = np.sin(np.arange(34 * 6).reshape(34, 6)).round(3).astype(np.float32)
    return load("karate").graph().with_features(x, names=[f"x{i}" for i in range(6)])


def test_the_stored_model_gives_the_vectors_that_it_gave() -> None:
    model = FDMVGCL.load(STORED)
    assert model.chosen_.features.scaling == "columns"
    z = np.load(STORED / "vectors.npz")["z"]
    np.testing.assert_allclose(model.transform(stored_graph()), z, atol=1e-6)


def test_it_can_be_trained_on_and_saved_again(tmp_path: Path) -> None:
    model = FDMVGCL.load(STORED).partial_fit(stored_graph())
    model.save(tmp_path)
    again = FDMVGCL.load(tmp_path)
    assert len(again.history_) == 8
    np.testing.assert_array_equal(again.transform(stored_graph()), model.transform(stored_graph()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "model"))


def edit(folder: Path, change) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))


def test_a_setting_that_came_later_means_what_files_without_it_meant(folder: Path, monkeypatch) -> None:
    edit(folder, lambda config: config["settings"]["diffusion"].pop("activation"))
    with pytest.raises(InputError, match=r"must hold the setting diffusion\.activation"):
        FDMVGCL.load(folder)
    monkeypatch.setitem(model_file.LATER, "diffusion.activation", "relu")
    assert FDMVGCL.load(folder).diffusion.activation == "relu"
    assert FDMVGCL.load(STORED).diffusion.activation == "leaky", "what a file has counts"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda settings: settings["schedule"].update(warmup=3), r"schedule\.warmup is no setting of Schedule"),
        (lambda settings: settings.update(heads=4), r"heads is no setting"),
        (lambda settings: settings["loss"].update(tau=0.5), r"tau"),
        (lambda settings: settings.update(tomorrow={"x": 1}), r"tomorrow is no setting"),
    ],
)
def test_a_setting_that_is_unknown_is_refused_by_name(folder: Path, change, told: str) -> None:
    edit(folder, lambda config: change(config["settings"]))
    with pytest.raises(InputError, match=told) as error:
        FDMVGCL.load(folder)
    assert str(error.value).startswith(str(folder / "config.json"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda config: config.update(ensemble=3), "'ensemble', which this version does not know"),
        (lambda config: config["features"].update(clip=1.0), r"'features\.clip', which"),
        (lambda config: config["chosen"].update(skips=1), r"'chosen\.skips', which .*; did you mean 'skip'"),
    ],
)
def test_so_is_anything_else_that_a_later_version_may_have_written(folder: Path, change, told: str) -> None:
    edit(folder, change)
    with pytest.raises(InputError, match=told):
        FDMVGCL.load(folder)


@pytest.mark.parametrize("name", ["encoder.bias", "features.median"])
def test_and_a_tensor(folder: Path, name: str) -> None:
    weights = folder / "weights.safetensors"
    save_file(load_file(weights) | {name: np.ones(6, np.float32)}, weights)
    with pytest.raises(InputError, match=f"{name} is unknown to this version"):
        FDMVGCL.load(folder)
