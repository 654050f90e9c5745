"""A model on disk: settings as JSON, weights as safetensors. Nothing is ever unpickled.

A folder that was saved once loads in every later version. A setting that came later than the file means what it meant
when there was none: :data:`LATER` says what that is. A setting that is unknown here is refused by name.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save

from fdmvgcl.dynamics import Factory
from fdmvgcl.errors import ArgumentError, InputError, UserError, near_misses, shown
from fdmvgcl.files import StrPath, atomic_write, read_bytes
from fdmvgcl.graphs.encoding import Encoding
from fdmvgcl.learning.config_file import MODEL_FORMAT, read_config
from fdmvgcl.learning.encoder import columns_of
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.prepare import Chosen
from fdmvgcl.learning.settings import arguments, dotted
from fdmvgcl.learning.structure import Structure, load_structure, save_structure
from fdmvgcl.losses import Loss

# Settings that files of this format may lack, as they came later, and the value that those files were made with.
LATER: dict[str, Any] = {
    "readout.kind": "sum",
    "readout.views": "sum",
    "features.structure": "none",
    "features.anchor": 0.0,
    "diffusion.rate": 1.0,
    "diffusion.learn_rate": False,
    "diffusion.joins": 0.0,
    "schedule.train_rows": "all",
    "diffusion.basis_dtype": "float32",
}

STRUCTURE_FILE = "structure.parquet"

# What a fit decides where a setting leaves it open.
_CHOSEN = ("order_of_work", "skip", "skip_weight", "view_scaling", "sentences")

# All that any file of this format holds, by part; settings are checked by name when they are taken.
_KNOWN: dict[str, tuple[str, ...]] = {
    "": ("format", "settings", "device", "features", "alphas", "betas", "view_norms", "chosen", "history"),
    "features": ("scaling", "columns", "names", "structure_scale", "encoding", "substitute"),
    "chosen": _CHOSEN,
}


def save_model(model: FDMVGCL, folder: StrPath) -> None:
    """Write ``config.json``, ``weights.safetensors`` and perhaps ``structure.parquet``, each aside and renamed."""
    transform = model.chosen_.features
    config = {
        "format": MODEL_FORMAT,
        "settings": model.settings,
        "device": model.device,
        "features": {
            "scaling": transform.scaling,
            "columns": transform.columns,
            "names": transform.names,
            "structure_scale": transform.structure_scale,
            "encoding": None if model.chosen_.encoding is None else model.chosen_.encoding.record(),
        },
        "alphas": model.alphas_.tolist(),
        "betas": model.betas_.tolist(),
        "view_norms": model.view_norms_.tolist(),
        "chosen": {name: getattr(model.chosen_, name) for name in _CHOSEN},
        "history": model.history_,
    }
    tensors = {f"encoder.{name}": value.cpu().contiguous() for name, value in model.encoder_.state_dict().items()}
    for part in ("deviation", "centre"):
        if getattr(transform, part) is not None:
            tensors[f"features.{part}"] = torch.from_numpy(getattr(transform, part))
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with atomic_write(path / "weights.safetensors") as handle:
        handle.write(save(tensors))
    if transform.structure is None:
        (path / STRUCTURE_FILE).unlink(missing_ok=True)
    else:
        save_structure(transform.structure, path / STRUCTURE_FILE)
    with atomic_write(path / "config.json") as handle:
        handle.write((json.dumps(config, indent=1) + "\n").encode())


def load_model(
    folder: StrPath, device: str | None = None, dynamics: Factory | None = None, loss: Loss | None = None
) -> FDMVGCL:
    """Read what :func:`save_model` wrote, or one :class:`InputError`; ``device`` replaces the one it was trained on.

    ``dynamics`` and ``loss`` are those of a model that was trained with a user's own.
    """
    path = Path(folder)
    config = _read_config(path / "config.json")
    settings = config["settings"]
    settings["diffusion.dynamics"] = _restored("dynamics", settings["diffusion.dynamics"], dynamics, path)
    if loss is not None or "loss.own" in settings:
        own = {"factory": settings["loss.own"]} if "loss.own" in settings else settings["loss.name"]
        _restored("loss", own, loss, path)
        settings = {name: value for name, value in settings.items() if not name.startswith("loss.")}
    weights = path / "weights.safetensors"
    try:
        tensors = load(read_bytes(weights))
    except SafetensorError as error:
        raise InputError(weights, f"is not a safetensors file ({error})") from None
    try:
        made = arguments(settings) | ({} if loss is None else {"loss": loss})
        model = FDMVGCL(**made, device=config["device"] if device is None else device)
        return _assemble(model, config, tensors, load_structure(path / STRUCTURE_FILE))
    except ArgumentError as error:
        raise InputError(path / "config.json", str(error)) from None
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            path / "config.json", f"does not describe the weights beside it ({shown(reason, 120)})"
        ) from None


def _read_config(path: Path) -> dict[str, Any]:
    """The configuration, its settings by dotted names and whole."""
    config = read_config(path)
    for part, known in _KNOWN.items():
        _check_known(path, part, config.get(part) if part else config, known)
    if not isinstance(config.get("settings"), dict):
        raise InputError(path, "must hold the model's settings")
    settings = LATER | dotted(config["settings"])
    missing = set(dotted(FDMVGCL().settings)) - set(settings)
    missing = {name for name in missing if not name.startswith("loss.")}
    if missing:
        raise InputError(path, f"must hold the setting {min(missing)}")
    return config | {"settings": settings}


def _check_known(path: Path, part: str, held: Any, known: tuple[str, ...]) -> None:
    for name in held if isinstance(held, dict) else ():
        if name not in known:
            whole = f"{part}.{name}" if part else name
            raise InputError(path, f"holds {shown(whole)}, which this version does not know{near_misses(name, known)}")


def _restored(name: str, described: Any, given: Any, folder: Path) -> Any:
    """What a configuration describes: a name, or an object of the user's own, who must give it again."""
    own = isinstance(described, dict)
    path = folder / "config.json"
    if own and given is None:
        raise InputError(
            path,
            f"tells of {name} of your own, {shown(described.get('factory'))}, and a file holds no code: "
            f"load the model in Python with FDMVGCL.load(folder, {name}=…)",
        )
    if not own and given is not None:
        raise InputError(path, f"tells of the {name} {shown(described)}; leave out {name}=")
    return given if own else described


def _of_columns(tensors: dict[str, torch.Tensor], part: str, columns: int) -> NDArray[np.float32] | None:
    """One number a feature column, or None where none was kept."""
    found = tensors.get(f"features.{part}")
    if found is not None and found.shape != (columns,):
        raise UserError(f"the features' {part} must have {columns} columns, got {tuple(found.shape)}")
    return None if found is None else found.numpy()


def _former_share(model: FDMVGCL) -> float:
    """The skip's share before it was found by foresight."""
    diffusion = model.diffusion
    former = 10.0 if diffusion.skip == "auto" else 1.0
    return former if diffusion.skip_weight is None else diffusion.skip_weight


def _assemble(
    model: FDMVGCL, config: dict[str, Any], tensors: dict[str, torch.Tensor], structure: Structure | None
) -> FDMVGCL:
    model.check_parameters()
    described, chosen = config["features"], config["chosen"]
    if described.get("substitute"):
        raise UserError("the model's features were drawn from ids, which later versions do not do: train it anew")
    names = None if described["names"] is None else tuple(described["names"])
    columns = described["columns"]
    deviation = _of_columns(tensors, "deviation", columns)
    transform = FeatureTransform(
        described["scaling"], columns, names, deviation, structure, described.get("structure_scale", 1.0)
    )
    transform = replace(transform, centre=_of_columns(tensors, "centre", transform.width))
    model.chosen_ = Chosen(
        transform,
        chosen["skip"],
        chosen.get("skip_weight", _former_share(model)),
        chosen["view_scaling"],
        chosen["order_of_work"],
        tuple(chosen["sentences"]),
        None if described.get("encoding") is None else Encoding.of_record(described["encoding"]),
        columns_of(tensors.get("encoder.anchor")),
    )
    alphas = tensors["encoder.alpha"]
    weight, anchor = tensors["encoder.weight"], tensors.get("encoder.anchor")
    anchored = columns_of(anchor)
    expected = (len(alphas), transform.width, model.dim - anchored)
    if anchor is not None and tuple(anchor.shape) != (transform.width, anchored):
        raise UserError(f"the anchor must have {transform.width} rows, got shape {tuple(anchor.shape)}")
    if tuple(weight.shape) != expected:
        raise UserError(f"weights must have shape {expected}, got {tuple(weight.shape)}")
    if not all(bool(t.isfinite().all()) for t in tensors.values()):
        raise UserError("weights must be finite")
    model.encoder_ = model._build(alphas, torch.Generator(), anchor=anchor)
    known = {"features.deviation", "features.centre", *(f"encoder.{name}" for name in model.encoder_.state_dict())}
    if unknown := set(tensors) - known:
        raise UserError(f"{min(unknown)} is unknown to this version")
    state = {k.removeprefix("encoder."): v for k, v in tensors.items() if k.startswith("encoder.")}
    model.encoder_.load_state_dict({"rate": model.encoder_.rate, **state})
    model.betas_ = np.asarray(config["betas"], dtype=np.float32)
    model.view_norms_ = np.asarray(config["view_norms"], dtype=np.float32)
    if model.betas_.shape != alphas.shape or model.view_norms_.shape != alphas.shape:
        raise UserError(f"betas and view_norms must have one number for each of {len(alphas)} views")
    model.history_ = config["history"]
    return model
