"""Options that several commands have in common, written once: a parameter that is a dataclass is one for each field."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from fdmvgcl.cli import options as o

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL


@dataclass(frozen=True)
class EdgeOptions:
    """How a file of edges is written; see :func:`fdmvgcl.graphs.readers.read_graph`."""

    source: o.SourceColumn = None
    target: o.TargetColumn = None
    weight: o.Weight = None
    no_header: o.NoHeader = False
    repeated: o.Repeated = "max"
    encoding: o.Encoding = None
    fill_missing: o.FillMissing = False


@dataclass(frozen=True)
class WindowOptions:
    """Which edges count by their time, and for how much."""

    since: o.Since = None
    until: o.Until = None
    half_life: o.HalfLife = None


@dataclass(frozen=True)
class ModelOptions:
    """The model that is asked for, by options of its own, by ``--set``, and by a file."""

    dim: o.Dim = None
    views: o.Views = None
    epochs: o.Epochs = None
    time: o.Time = None
    structure: o.StructureUse = None
    train_rows: o.TrainRows = None
    basis_dtype: o.BasisDtype = None
    seed: o.Seed = None
    device: o.Device = None
    changes: o.Set = None
    settings: o.SettingsFile = None

    def model(self) -> "FDMVGCL":
        """The model, not yet fitted."""
        from fdmvgcl.cli.settings import model_of

        rows = self.train_rows
        given = {name: getattr(self, name) for name in ("dim", "views", "epochs", "time", "seed", "device")}
        given |= {"features.structure": self.structure, "diffusion.basis_dtype": self.basis_dtype}
        given["schedule.train_rows"] = int(rows) if rows and rows.isdecimal() else rows
        return model_of(self.settings, self.changes or (), given)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of its parameters that are dataclasses."""
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            hints = get_type_hints(parameter.annotation, include_extras=True)
            parameters += [
                parameter.replace(name=each.name, annotation=hints[each.name], default=each.default)
                for each in fields(parameter.annotation)
            ]
        else:
            parameters.append(parameter)

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    called.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called
