"""What an FDMVGCL is made with: small frozen objects that check themselves. All defaults stand here. No torch."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Self

from fdmvgcl.errors import ArgumentError, near_misses

if TYPE_CHECKING:
    from fdmvgcl.dynamics import Factory

DIM, VIEWS, EPOCHS, TIME = 512, 5, 20, 3.0
LOSS = "regularised-cosmean"
LARGEST_SEED = 2**32 - 1

Activation = Literal["relu", "leaky", "identity"]
Initialisation = Literal["orthogonal", "joint", "whitened", "principal", "glorot"]
StructureUse = Literal["auto", "only", "none"]
FeatureScaling = Literal["auto", "none", "rows", "columns", "both"]
ViewScaling = Literal["auto", "rows", "view", "none"]
BasisDtype = Literal["float32", "float16"]

ReadoutKind = Literal["sum-over-root", "mean", "sum", "max", "mean+deviation"]
ReadoutViews = Literal["sum", "side-by-side"]
READOUT: ReadoutKind = "sum-over-root"

ACTIVATIONS = ("leaky", "relu", "identity")
INITIALISATIONS = ("orthogonal", "joint", "whitened", "principal", "glorot")
STRUCTURE_USES = ("auto", "only", "none")
FEATURE_SCALINGS = ("auto", "none", "rows", "columns", "both")
VIEW_SCALINGS = ("auto", "rows", "view", "none")
BASIS_DTYPES = ("float32", "float16")
READOUTS = ("sum-over-root", "mean", "sum", "max", "mean+deviation")
READOUT_VIEWS = ("sum", "side-by-side")
NORMALISATIONS = (None, "sym", "rw")
SCHEMES = ("exact", "predictor", "pece", "l1", "gl", "trapezoid")  # a test holds them to those of `fractional`


def check_whole(name: str, value: object, lowest: int) -> None:
    """An integer of any kind, but no truth value."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < lowest:
        raise ArgumentError(name, f"must be a whole number of at least {lowest}, got {value!r}")


def check_number(name: str, value: object, lowest: float, highest: float) -> None:
    """A finite real number of any kind within these ends, but no truth value."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not (lowest <= value <= highest and math.isfinite(value)):  # type: ignore[operator, arg-type]
        ends = f"lie in [{lowest:g}, {highest:g}]" if highest < math.inf else f"be a finite number of at least {lowest}"
        raise ArgumentError(name, f"must {ends}, got {value!r}")


def check_positive(name: str, value: object) -> None:
    """A finite real number above 0."""
    check_number(name, value, 0, math.inf)
    if value == 0:
        raise ArgumentError(name, f"must be greater than 0, got {value!r}")


def check_choice(name: str, value: object, allowed: Iterable[object]) -> None:
    """One of these, told apart by type too: 1 is not True."""
    if not any(value is each or (type(value) is type(each) and value == each) for each in allowed):
        raise ArgumentError(name, f"must be one of {tuple(allowed)}, got {value!r}")


class Settings:
    """What the objects share: scikit-learn can look into them, and a change makes a new one."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The fields by name, as scikit-learn asks for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """A copy with other values; :class:`ArgumentError` with the near misses for a name that is none."""
        known = self.get_params()
        for name in changes:
            if name not in known:
                raise ArgumentError(name, f"is no setting of {type(self).__name__}{near_misses(name, known)}")
        return replace(self, **changes)  # type: ignore[type-var]


@dataclass(frozen=True)
class Diffusion(Settings):
    """What happens within a view, ``D^α Y = F(Y)`` for a time, and how views are made ready to be summed.

    Args:
        dynamics: the right-hand side F, a name of ``fdmvgcl.dynamics.DYNAMICS``, or a factory
            ``(dim, generator) -> Dynamics`` of one's own; ``"grand"`` is linear diffusion, the fast one.
        scheme: ``"exact"``, or ``"predictor"``, ``"pece"``, ``"l1"``, ``"gl"``, ``"trapezoid"`` with ``step``. Other
            dynamics than ``"grand"`` have no exact solution: there ``"exact"`` stands for ``"trapezoid"``.
        step: step of a time-stepping scheme; other dynamics than ``"grand"`` have a default, the largest step of at
            most 1 that divides the time into at least 4.
        skip: rounds of skip-connection, which keeps a share of the undiffused features; 0 for none; ``"auto"`` decides
            by what foretells features best, see :mod:`fdmvgcl.learning.foresight`.
        skip_weight: how large a share; None is 1, or what ``skip="auto"`` found.
        learn_alpha: learn the orders; otherwise they stay evenly spaced from 0.01 to 1.
        learn_time: learn one time for each view.
        learn_skip: learn the skip's share.
        rate: r of the equation ``D^α Y = r F(Y)``, which for linear diffusion is ``-r L Y``. With 1/2 the spectrum of
            r L ends at 1, and explicit schemes are stable at every order.
        learn_rate: learn it, one for all views.
        normalisation: of the adjacency, ``"sym"`` or ``"rw"``; None is ``"sym"``, or ``"rw"`` for directed graphs
            and for dynamics that are defined with it.
        self_loops: weight of the self-loop added to every node; 0 is none, or 1 for attention.
        activation: after it, ``"leaky"`` (slope 0.25), ``"relu"`` or ``"identity"``.
        view_scaling: before the sum, each view's rows get unit length (``"rows"``), or the view is divided by one
            number (``"view"``), which keeps the differences in length between nodes, or nothing is done (``"none"``);
            ``"auto"`` takes ``"view"`` where the features' magnitudes are kept, else ``"rows"``.
        joins: a defence against flipped edges: the weight of joins between nodes of like features that are put beside
            the edges (:mod:`fdmvgcl.graphs.alike`); 0 is none. The more, the less edges count, right ones and false.
        basis_dtype: what diffused features are kept in where rows are worked on in blocks, ``"float32"`` or
            ``"float16"``, which halves them and rounds each to 2^-11 of its column's largest value.
    """

    dynamics: "str | Factory" = "grand"
    scheme: str = "exact"
    step: float | None = None
    skip: int | Literal["auto"] = "auto"
    skip_weight: float | None = None
    learn_alpha: bool = True
    learn_time: bool = False
    learn_skip: bool = False
    rate: float = 1.0
    learn_rate: bool = False
    normalisation: Literal["sym", "rw"] | None = None
    self_loops: float = 0.0
    activation: Activation = "leaky"
    view_scaling: ViewScaling = "auto"
    joins: float = 0.0
    basis_dtype: BasisDtype = "float32"

    def __post_init__(self) -> None:
        if self.dynamics != "grand":
            from fdmvgcl.dynamics import factory_of  # late: it brings torch

            factory_of(self.dynamics)
        if self.step is not None:
            check_positive("step", self.step)
        check_choice("scheme", self.scheme, SCHEMES)
        if self.skip != "auto":
            check_whole("skip", self.skip, 0)
        for name in ("skip_weight", "self_loops", "joins"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0, math.inf)
        check_number("rate", self.rate, 1e-3, math.inf)
        for name in ("learn_alpha", "learn_time", "learn_skip", "learn_rate"):
            check_choice(name, getattr(self, name), (True, False))
        check_choice("normalisation", self.normalisation, NORMALISATIONS)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("view_scaling", self.view_scaling, VIEW_SCALINGS)
        check_choice("basis_dtype", self.basis_dtype, BASIS_DTYPES)
        if self.learn_skip and self.skip == 0:
            rule = "must be left out without a skip-connection, whose weight it learns: skip is 0"
            raise ArgumentError("learn_skip", rule)


@dataclass(frozen=True)
class Schedule(Settings):
    """How fast to train, and when to stop and to prune.

    Args:
        lr, order_lr: learning rates of Adam for the weights, and for orders, times and the skip's weight.
        weight_decay: of the weights. What dynamics learn counts among these.
        smallest_alpha: ε of AVLA, the lower end that orders are clamped to after each step.
        merge_width: δ of AVLA; after a phase, orders whose logarithms lie within less than this keep one view of them;
            0 never prunes.
        min_rank: end a phase when the embedding's effective rank falls below this share of its rank at the phase's
            start: collapse, seen without labels. 0 never ends early.
        train_rows: how many nodes, drawn by the seed, the loss is taken of; all nodes are embedded. ``"all"`` for all.
            It saves time where features are diffused first, as then a node's views need no other's.
    """

    lr: float = 0.002
    order_lr: float = 0.01
    weight_decay: float = 0.0
    smallest_alpha: float = 1e-4
    merge_width: float = 1e-4
    min_rank: float = 0.75
    train_rows: int | Literal["all"] = "all"

    def __post_init__(self) -> None:
        for name, highest in {"lr": 10, "order_lr": 10, "weight_decay": 10, "min_rank": 1, "merge_width": 10}.items():
            check_number(name, getattr(self, name), 0, highest)
        check_number("smallest_alpha", self.smallest_alpha, 0, 1)
        if not 0 < self.smallest_alpha < 1:
            raise ArgumentError("smallest_alpha", f"must lie in (0, 1), got {self.smallest_alpha}")
        if self.train_rows != "all":
            check_whole("train_rows", self.train_rows, 2)


@dataclass(frozen=True)
class Features(Settings):
    """How features go in.

    Args:
        scaling: ``"auto"``, ``"rows"``, ``"columns"``, ``"both"`` or ``"none"``; see
            :class:`fdmvgcl.learning.features.FeatureTransform`.
        structure: columns made of the edges (:mod:`fdmvgcl.learning.structure`): ``"auto"`` adds them where there are
            no features, such as foretell nothing of each other, or few that neighbours hardly
            share; ``"only"`` leaves the features out; ``"none"``.
        centre: subtract the mean row of the scaled features. What all nodes share would otherwise make all views agree
            from the start, and training would keep little else.
        initialisation: of the projections, ``"orthogonal"``, ``"joint"`` (orthogonal between views too: with ``views``
            times as many columns as features, the sum of views begins as good as their concatenation), ``"whitened"``
            (as joint, and directions in which neighbours differ count for less, see
            :func:`fdmvgcl.learning.whitening.whitening`), ``"principal"`` (no projection, or that on the principal
            components where columns are more than ``dim``; the controls are made so) or ``"glorot"``.
        anchor: share of the embedding's columns that are not trained: principal components of the features, which each
            view diffuses. They keep what training and random projections give up. Only where views are scaled by rows.
    """

    scaling: FeatureScaling = "auto"
    structure: StructureUse = "auto"
    centre: bool = True
    initialisation: Initialisation = "orthogonal"
    anchor: float = 0.25

    def __post_init__(self) -> None:
        check_choice("scaling", self.scaling, FEATURE_SCALINGS)
        check_choice("structure", self.structure, STRUCTURE_USES)
        check_choice("centre", self.centre, (True, False))
        check_choice("initialisation", self.initialisation, INITIALISATIONS)
        check_number("anchor", self.anchor, 0, 0.9)


@dataclass(frozen=True)
class Readout(Settings):
    """How the vectors of a graph's nodes become one, where a model is given many graphs.

    Args:
        kind: ``"sum-over-root"``, the sum over n nodes divided by √n, which points where the mean does, tells a
            graph's size too, and of nodes drawn alike scatters as much in a small graph as in a large one;
            ``"mean"`` (the paper's), ``"sum"``, ``"max"`` column by column, or ``"mean+deviation"``, twice as wide.
            The first is the default, since on inner folds it was ahead of the others on PROTEINS and level with the sum
            on MUTAG.
        views: ``"sum"``, the embedding's weighted sum of views is read out; or ``"side-by-side"``, each view is, and
            the embedding is as many times as wide.
    """

    kind: ReadoutKind = READOUT
    views: ReadoutViews = "sum"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, READOUTS)
        check_choice("views", self.views, READOUT_VIEWS)


# -- settings as text has them ----------------------------------------------------------------------------------------

Nested = dict[str, Any]
_OBJECTS: dict[str, Settings] = {
    "diffusion": Diffusion(),
    "schedule": Schedule(),
    "features": Features(),
    "readout": Readout(),
}
_SHORT = {"loss": "name", "features": "scaling", "readout": "kind"}  # what a bare value stands for: loss = "vicreg"
_PLAIN = ("dim", "views", "epochs", "time", "seed", "device")


def nested(settings: Mapping[str, Any]) -> Nested:
    """Settings by room, ``{"schedule": {"lr": 0.01}}``, from these or from dotted names, ``{"schedule.lr": 0.01}``."""
    found: Nested = {}
    for name, value in settings.items():
        room, dot, inner = name.partition(".")
        if not dot and not isinstance(value, Mapping) and room in _SHORT:
            dot, inner = ".", _SHORT[room]
        if dot:
            found.setdefault(room, {})[inner] = value
        elif isinstance(value, Mapping):
            found.setdefault(room, {}).update(value)
        else:
            found[room] = value
    return found


def dotted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same by dotted names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        else:
            flat[name] = value
    return flat


def full_name(name: str) -> str:
    """``schedule.lr`` for ``lr``: the name that settings as text have for a field of one of the objects."""
    rooms = [room for room, each in _OBJECTS.items() if name in each.get_params()]
    return f"{rooms[0]}.{name}" if rooms else name


def arguments(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``FDMVGCL`` from settings as a file or a command line has them; unknown names get near misses."""
    made: dict[str, Any] = {}
    for name, value in nested(settings).items():
        if name in _OBJECTS:
            made[name] = _made(name, value)
        elif name == "loss":
            made[name] = _made_loss(value)
        elif name in _PLAIN and not isinstance(value, Mapping):
            made[name] = value
        else:
            raise ArgumentError(name, f"is no setting{near_misses(name, [*_PLAIN, 'loss', *_OBJECTS])}")
    return made


def _made(name: str, value: Any) -> Settings:
    if not isinstance(value, Mapping):
        raise ArgumentError(name, f"is a group of settings: name one of them, as in {name}.{_first(name)}")
    try:
        return _OBJECTS[name].changed(value)
    except ArgumentError as error:
        raise ArgumentError(f"{name}.{error.argument}", error.rule) from None


def _first(name: str) -> str:
    return next(iter(_OBJECTS[name].get_params()))


def _made_loss(value: Mapping[str, Any]) -> Any:
    from fdmvgcl.losses import make_loss  # late: it brings torch

    rest = dict(value)
    name = rest.pop("name", LOSS)
    try:
        return make_loss(name, **rest) if rest else name
    except ArgumentError as error:
        prefix = "" if error.argument == "loss" else "loss."
        raise ArgumentError(prefix + error.argument, error.rule) from None
