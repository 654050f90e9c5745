"""Search spaces: what each method's tuned row may choose from, declared once, and drawn before any label is read.

A space has at most six settings, those that the method's authors change from data set to data set, in ranges around
their values. Width is one of them where it is below ours; ours stays at the default. Optuna's random sampler draws: one
that learnt from validation scores would carry the validation labels of one split into the trials of another, among
whose test nodes they are.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fdmvgcl.errors import UserError
from fdmvgcl.experiments.budget import MOST_EPOCHS, TRIALS

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

# A space with few members is drawn from until nothing new has come so many times.
_TRIES = 100

Settings = dict[str, Any]
Space = Mapping[str, "BaseDistribution"]


def _one_of(*values: Any) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution

    return CategoricalDistribution(values)


def _between(low: float, high: float) -> "BaseDistribution":
    """Two digits behind the point."""
    from optuna.distributions import FloatDistribution

    return FloatDistribution(low, high, step=0.05)


def _by_powers(low: float, high: float) -> "BaseDistribution":
    from optuna.distributions import FloatDistribution

    return FloatDistribution(low, high, log=True)


def _whole(low: int, high: int) -> "BaseDistribution":
    from optuna.distributions import IntDistribution

    return IntDistribution(low, high, log=True)


def _ours() -> Space:
    return {
        "views": _one_of(3, 5, 7),
        "time": _one_of(1.0, 3.0, 5.0, 10.0, 20.0),
        "epochs": _whole(3, 60),
        "schedule.lr": _by_powers(2e-4, 1e-2),
        "schedule.min_rank": _one_of(0.0, 0.75),
        "diffusion.skip": _one_of("auto", 0, 1),
    }


def _dgi() -> Space:
    return {
        "epochs": _whole(50, MOST_EPOCHS),
        "patience": _one_of(20, 50),
        "lr": _by_powers(2e-4, 1e-2),
        "weight_decay": _by_powers(1e-6, 1e-3),
        "features": _one_of("rows", "none"),
    }


def _grace() -> Space:
    return {
        "dim": _one_of(128, 256, 512),
        "epochs": _whole(50, 400),
        "lr": _by_powers(1e-4, 1e-2),
        "temperature": _between(0.2, 0.9),
        "drop_edges": _between(0.0, 0.6),
        "drop_features": _between(0.0, 0.6),
    }


def _bgrl() -> Space:
    return {
        "dim": _one_of(128, 256, 512),
        "epochs": _whole(100, MOST_EPOCHS),
        "lr": _by_powers(1e-5, 5e-3),
        "momentum": _one_of(0.9, 0.99, 0.999),
        "drop_edges": _between(0.0, 0.6),
        "drop_features": _between(0.0, 0.6),
    }


def _cca_ssg() -> Space:
    return {
        "layers": _one_of(1, 2),
        "epochs": _whole(10, 150),
        "lr": _by_powers(2e-4, 1e-2),
        "decorrelation": _by_powers(1e-4, 1e-2),
        "drop_edges": _between(0.0, 0.6),
        "drop_features": _between(0.0, 0.6),
    }


def _graphacl() -> Space:
    return {
        "dim": _one_of(512, 1024, 2048),
        "layers": _one_of(1, 2),
        "epochs": _whole(10, 100),
        "lr": _by_powers(1e-4, 5e-3),
        "temperature": _between(0.25, 1.0),
        "momentum": _one_of(0.9, 0.97, 0.99),
    }


def _polygcl() -> Space:
    return {
        "epochs": _whole(50, 500),
        "lr": _by_powers(2e-4, 1e-2),
        "filter_lr": _by_powers(1e-4, 1e-2),
        "dropout": _between(0.0, 0.6),
        "feature_dropout": _between(0.0, 0.6),
        "batch_norm": _one_of(False, True),
    }


def _spectral() -> Space:
    return {"dim": _one_of(8, 16, 32, 64, 256, 512)}


def _node2vec() -> Space:
    return {
        "dim": _one_of(64, 128, 256),
        "length": _one_of(20, 40, 80),
        "window": _one_of(5, 10),
        "return_odds": _one_of(0.25, 0.5, 1.0, 2.0, 4.0),
        "outward_odds": _one_of(0.25, 0.5, 1.0, 2.0, 4.0),
    }


def _gcn() -> Space:
    return {
        "hidden": _one_of(16, 64, 256),
        "patience": _one_of(10, 50, 100),
        "lr": _by_powers(1e-3, 5e-2),
        "weight_decay": _by_powers(1e-5, 1e-2),
        "dropout": _between(0.0, 0.8),
        "features": _one_of("rows", "none"),
    }


def _frond() -> Space:
    return {
        "hidden": _one_of(16, 64, 256),
        "alpha": _between(0.1, 1.0),
        "time": _one_of(1.0, 3.0, 5.0, 10.0, 20.0),
        "lr": _by_powers(1e-3, 5e-2),
        "weight_decay": _by_powers(1e-5, 1e-2),
        "dropout": _between(0.0, 0.8),
    }


SPACES: Mapping[str, Callable[[], Space]] = {
    "fd-mvgcl": _ours,
    "dgi": _dgi,
    "grace": _grace,
    "bgrl": _bgrl,
    "cca-ssg": _cca_ssg,
    "graphacl": _graphacl,
    "polygcl": _polygcl,
    "spectral": _spectral,
    "node2vec": _node2vec,
    "gcn": _gcn,
    "frond": _frond,
}


def draw(method: str, count: int = TRIALS, *, seed: int = 0) -> list[Settings]:
    """``count`` different settings of a method, the same every time; the first are its defaults, ``{}``.

    Fewer where the space has no more members.
    """
    try:
        import optuna
    except ImportError:
        raise UserError("drawing trials needs Optuna: pip install 'fdmvgcl[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study, space = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed)), dict(SPACES[method]())
    drawn: list[Settings] = [{}]
    for _ in range(max(count, _TRIES)):
        if len(drawn) == count:
            break
        found = {name: _short(value) for name, value in study.ask(space).params.items()}
        if found not in drawn:
            drawn.append(found)
    return drawn


def _short(value: Any) -> Any:
    """Four digits, which a record shows and which make the same run again."""
    return float(f"{value:.4g}") if isinstance(value, float) else value
