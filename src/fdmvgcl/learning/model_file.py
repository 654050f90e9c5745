"""A model on disk: settings as JSON, weights as safetensors. Nothing is ever unpickled."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save

from fdmvgcl.dynamics import Factory, describe_dynamics
from fdmvgcl.errors import InputError, shown
from fdmvgcl.files import StrPath, atomic_write, read_bytes
from fdmvgcl.learning.features import FeatureTransform
from fdmvgcl.learning.model import FDMVGCL

MODEL_FORMAT = 4

# What a fit decides where a parameter leaves it open.
CHOSEN = ("order_of_work", "skip", "view_scaling")


def save_model(model: FDMVGCL, folder: StrPath) -> None:
    """Write ``config.json`` and ``weights.safetensors``, each aside and renamed."""
    if not hasattr(model, "encoder_"):
        raise ValueError("this FDMVGCL must be fitted before it can be saved")
    transform = model.features_in_
    config = {
        "format": MODEL_FORMAT,
        "parameters": model.get_params() | {"dynamics": describe_dynamics(model.dynamics)},
        "features": {
            "scaling": transform.scaling,
            "columns": transform.columns,
            "names": transform.names,
            "substitute": transform.substitute,
        },
        "alphas": model.alphas_.tolist(),
        "betas": model.betas_.tolist(),
        "view_norms": model.view_norms_.tolist(),
        "chosen": {name: getattr(model, f"{name}_") for name in CHOSEN},
        "history": model.history_,
    }
    tensors = {f"encoder.{name}": value.cpu().contiguous() for name, value in model.encoder_.state_dict().items()}
    if transform.deviation is not None:
        tensors["features.deviation"] = torch.from_numpy(transform.deviation)
    if model.feature_centre_ is not None:
        tensors["features.centre"] = torch.from_numpy(model.feature_centre_)
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    with atomic_write(path / "weights.safetensors") as handle:
        handle.write(save(tensors))
    with atomic_write(path / "config.json") as handle:
        handle.write((json.dumps(config, indent=1) + "\n").encode())


def load_model(folder: StrPath, device: str | None = None, dynamics: Factory | None = None) -> FDMVGCL:
    """Read what :func:`save_model` wrote, or one :class:`InputError`; ``device`` replaces the one it was trained on.

    ``dynamics`` is the factory of a model that was trained with a user's own.
    """
    path = Path(folder)
    config = _read_config(path / "config.json")
    config["parameters"]["dynamics"] = _restored(config["parameters"]["dynamics"], dynamics, path / "config.json")
    if device is not None:
        config["parameters"]["device"] = device
    weights = path / "weights.safetensors"
    try:
        tensors = load(read_bytes(weights))
    except SafetensorError as error:
        raise InputError(weights, f"is not a safetensors file ({error})") from None
    try:
        return _assemble(config, tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            path / "config.json", f"does not describe the weights beside it ({shown(reason, 120)})"
        ) from None


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(read_bytes(path))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(path, f"is not valid JSON ({error})") from None
    if not isinstance(config, dict) or config.get("format") != MODEL_FORMAT:
        found = config.get("format") if isinstance(config, dict) else type(config).__name__
        raise InputError(path, f"must be a model of format {MODEL_FORMAT}, got {shown(found)}")
    parameters = config.get("parameters")
    known = FDMVGCL().get_params()
    if not isinstance(parameters, dict) or set(parameters) != set(known):
        unknown = sorted(set(parameters or ()) ^ set(known)) if isinstance(parameters, dict) else ["parameters"]
        raise InputError(path, f"must hold exactly the model's parameters; {unknown[0]!r} is missing or unknown")
    return config


def _restored(described: Any, given: Factory | None, path: Path) -> Any:
    """The dynamics that a configuration describes: a name, or the factory that the user must give again."""
    own = isinstance(described, dict)
    if own and given is None:
        raise InputError(
            path,
            f"tells of dynamics of your own, {shown(described.get('factory'))}, and a file holds no code: "
            "load the model in Python with FDMVGCL.load(folder, dynamics=your_factory)",
        )
    if not own and given is not None:
        raise InputError(path, f"tells of the dynamics {shown(described)}; leave out dynamics=")
    return given if own else described


def _of_columns(tensors: dict[str, torch.Tensor], part: str, columns: int) -> NDArray[np.float32] | None:
    """One number a feature column, or None where none was kept."""
    found = tensors.get(f"features.{part}")
    if found is not None and found.shape != (columns,):
        raise ValueError(f"the features' {part} must have {columns} columns, got {tuple(found.shape)}")
    return None if found is None else found.numpy()


def _assemble(config: dict[str, Any], tensors: dict[str, torch.Tensor]) -> FDMVGCL:
    model = FDMVGCL(**config["parameters"])
    model.check_parameters()
    described = config["features"]
    names = None if described["names"] is None else tuple(described["names"])
    columns = described["columns"]
    deviation, model.feature_centre_ = (_of_columns(tensors, part, columns) for part in ("deviation", "centre"))
    model.features_in_ = FeatureTransform(described["scaling"], columns, names, described["substitute"], deviation)
    for name in CHOSEN:
        setattr(model, f"{name}_", config["chosen"][name])
    alphas = tensors["encoder.alpha"]
    weight = tensors["encoder.weight"]
    expected = (len(alphas), columns, model.dim)
    if tuple(weight.shape) != expected:
        raise ValueError(f"weights must have shape {expected}, got {tuple(weight.shape)}")
    if not all(bool(t.isfinite().all()) for t in tensors.values()):
        raise ValueError("weights must be finite")
    model.encoder_ = model._build(alphas, torch.Generator())
    model.encoder_.load_state_dict(
        {k.removeprefix("encoder."): v for k, v in tensors.items() if k.startswith("encoder.")}
    )
    model.betas_ = np.asarray(config["betas"], dtype=np.float32)
    model.view_norms_ = np.asarray(config["view_norms"], dtype=np.float32)
    if model.betas_.shape != alphas.shape or model.view_norms_.shape != alphas.shape:
        raise ValueError(f"betas and view_norms must have one number for each of {len(alphas)} views")
    model.history_ = config["history"]
    return model
