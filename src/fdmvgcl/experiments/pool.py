"""Pools of settings for the tuned row: drawn without a look at any label, stored as TOML with the choice of each split.

Optuna's random sampler draws the pool before anything is trained; only the graph's own suggestion, which needs no
labels, says which kind of settings it has most of. A sampler that learnt from validation scores would
make the pool of one split depend on the validation labels of the others, among which are its own test nodes.
The defaults and two more settings, which every pool begins with, were found on validation nodes of the data sets that
defaults are developed on: there the pool is not blind. Nor are its width and size, which the caller gives.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from fdmvgcl.errors import InputError, UserError
from fdmvgcl.files import atomic_write
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.settings import LOSS, dotted

LARGEST_POOL = 30

# How much of the undiffused features, and of their magnitudes, the views keep: what decides most on a data set.
FAMILIES: dict[str, dict[str, Any]] = {
    "smooth": {"features.scaling": "rows", "diffusion.view_scaling": "rows", "diffusion.skip": 0},
    "local": {"features.scaling": "rows", "diffusion.view_scaling": "rows", "diffusion.skip": 1},
    "magnitudes": {"features.scaling": "none", "diffusion.view_scaling": "view", "diffusion.skip": 0},
    "local magnitudes": {"features.scaling": "none", "diffusion.view_scaling": "view", "diffusion.skip": 1},
}

# Over the defaults, and found as they were, on validation nodes: of Cora, long and at a high rate; of Photo, short and
# at a low one.
STARTS: tuple[dict[str, Any], ...] = (
    {"views": 3, "time": 10.0, "epochs": 30, "schedule.lr": 0.01, "schedule.min_rank": 0.0},
    {"views": 5, "time": 3.0, "epochs": 6, "schedule.lr": 0.0005, "schedule.min_rank": 0.0},
)


@dataclass(frozen=True)
class Pool:
    """Settings of each trial, and for each split the number of the trial that its validation nodes chose."""

    trials: tuple[Mapping[str, Any], ...]
    choices: tuple[int, ...]
    validation: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.trials) <= LARGEST_POOL:
            raise UserError(f"a pool must have 1 to {LARGEST_POOL} trials, got {len(self.trials)}")
        for choice in self.choices:
            if not 0 <= choice < len(self.trials):
                raise UserError(f"a choice must be the number of a trial below {len(self.trials)}, got {choice}")


def suggested_family(graph: Graph) -> str:
    """The family that the defaults choose for a graph, without labels."""
    chosen = FDMVGCL().prepare(graph).chosen
    return "magnitudes" if chosen.view_scaling == "view" else "local" if chosen.skip else "smooth"


def draw(count: int, favoured: str, *, dim: int, seed: int = 0) -> list[dict[str, Any]]:
    """``count`` settings, the same every time: the defaults and :data:`STARTS` first, then two of three from the
    favoured family and the rest from the other families in turn.
    """
    try:
        import optuna
    except ImportError:
        raise UserError("drawing a pool needs Optuna: pip install 'fdmvgcl[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    others = [family for family in FAMILIES if family != favoured]
    drawn: list[dict[str, Any]] = [{"dim": dim}, *({"dim": dim, **start} for start in STARTS)]
    for i in range(count - len(drawn)):
        family = favoured if i % 3 < 2 else others[i // 3 % len(others)]
        drawn.append(_suggest(study.ask(), family, dim))
    return drawn[:count]


def _suggest(trial: Any, family: str, dim: int) -> dict[str, Any]:
    settings = {
        "dim": dim,
        "views": trial.suggest_categorical("views", [3, 5]),
        "time": trial.suggest_categorical("time", [1.0, 3.0, 5.0, 10.0, 20.0]),
        "epochs": trial.suggest_int("epochs", 3, 30, log=True),
        "schedule.lr": round(trial.suggest_float("lr", 1e-4, 1e-2, log=True), 6),
        "loss.eta": trial.suggest_categorical("eta", [0.05, 0.3, 1.0]),
        "loss.name": trial.suggest_categorical("loss", ["regularised-cosmean", "regularised-cosmean", "cca-ssg"]),
        "diffusion.activation": trial.suggest_categorical("activation", ["leaky", "identity"]),
        "schedule.min_rank": 0.0,
        **FAMILIES[family],
    }
    if settings["loss.name"] != LOSS:
        del settings["loss.eta"]  # of the paper's own loss alone
    if settings["diffusion.skip"]:
        settings["diffusion.skip_weight"] = trial.suggest_categorical("skip_weight", [3.0, 10.0, 30.0])
    return settings


def is_stored(dataset: str) -> bool:
    """Whether the library ships a pool for this data set."""
    return (files(__package__) / "settings" / f"{dataset}.toml").is_file()


def stored(dataset: str) -> Pool:
    """The pool that ships with the library."""
    path = files(__package__) / "settings" / f"{dataset}.toml"
    if not is_stored(dataset):
        raise UserError(f"there are no stored settings of {dataset!r}; make them with fdmvgcl tune {dataset}")
    return _parse(path.read_text(encoding="utf-8"), f"{dataset}.toml")


def read(path: Path) -> Pool:
    """A pool that :func:`write` wrote."""
    return _parse(path.read_text(encoding="utf-8"), str(path))


def _parse(text: str, name: str) -> Pool:
    try:
        table = tomllib.loads(text)
        trials = [dotted(trial) for trial in table["trial"]]
        validation = tuple(float(trial.pop("validation")) for trial in trials)
        return Pool(tuple(trials), tuple(table["choices"]), validation)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(name, f"is not a pool of settings ({error})") from None


def write(pool: Pool, path: Path, remark: str) -> None:
    """As TOML: the choice of each split, then the trials with their mean validation scores."""
    lines = [f"# {line}" for line in remark.splitlines()]
    lines += ["", f"choices = [{', '.join(map(str, pool.choices))}]"]
    for number, (settings, score) in enumerate(zip(pool.trials, pool.validation, strict=True)):
        lines += ["", f"[[trial]] # {number}", f"validation = {score:.4f}"]
        lines += [f"{name} = {_toml(value)}" for name, value in settings.items()]
    with atomic_write(path) as handle:
        handle.write(("\n".join(lines) + "\n").encode())


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def choices(validation: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """For each split the trial with the best validation score, the first of equals; ``validation[trial][split]``."""
    by_split = zip(*validation, strict=True)
    return tuple(max(range(len(scores)), key=lambda trial: (scores[trial], -trial)) for scores in by_split)
