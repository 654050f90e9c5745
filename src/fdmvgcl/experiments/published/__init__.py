"""What the FD-MVGCL paper prints, as data."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from fdmvgcl.learning.settings import dotted


@cache
def _table(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


def accuracies(dataset: str) -> dict[str, tuple[float, float]]:
    """Method -> (mean, spread over seeds) of test accuracy in %, in the order of the paper's columns."""
    return {method: (mean, spread) for method, (mean, spread) in _table("accuracy").get(dataset, {}).items()}


def graph_accuracies(dataset: str) -> dict[str, tuple[float, float]]:
    """Method -> (mean, spread) of graph classification in %, in the order of the paper's rows."""
    return {method: (mean, spread) for method, (mean, spread) in _table("graphs").get(dataset, {}).items()}


def robustness(dataset: str, method: str) -> dict[str, float]:
    """The paper's accuracies of a method under attack in %, by attack; empty for a data set that it does not attack."""
    return dict(_table("robustness").get(dataset, {}).get(method, {}))


def known_settings() -> tuple[str, ...]:
    """Data sets that the appendix has settings for."""
    return tuple(_table("settings"))


def settings(dataset: str) -> dict[str, Any]:
    """The appendix's row, by dotted names: settings of FDMVGCL, and the alphas and betas that it found."""
    return dotted(_table("settings")[dataset])


def ablation(name: str, dataset: str) -> dict[str, tuple[float, float]]:
    """Variant -> (mean, spread) of an ablation's table, empty where the paper prints no figures."""
    return {variant: tuple(pair) for variant, pair in _table("ablations").get(name, {}).get(dataset, {}).items()}
