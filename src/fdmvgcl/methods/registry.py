"""Methods by name."""

from inspect import signature
from typing import Any

from fdmvgcl.errors import ArgumentError, near_misses
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.methods.base import Embedder
from fdmvgcl.methods.bgrl import BGRL
from fdmvgcl.methods.cca_ssg import CCASSG
from fdmvgcl.methods.dgi import DGI
from fdmvgcl.methods.grace import GRACE
from fdmvgcl.methods.graphacl import GraphACL
from fdmvgcl.methods.polygcl import PolyGCL
from fdmvgcl.methods.spectral import Spectral
from fdmvgcl.methods.supervised import Classifier, FractionalClassifier, GCNClassifier
from fdmvgcl.methods.walks import Node2Vec

OURS = "fd-mvgcl"
METHODS: dict[str, type[Any]] = {
    OURS: FDMVGCL,
    "dgi": DGI,
    "grace": GRACE,
    "bgrl": BGRL,
    "cca-ssg": CCASSG,
    "graphacl": GraphACL,
    "polygcl": PolyGCL,
    "spectral": Spectral,
    "node2vec": Node2Vec,
}

CLASSIFIERS: dict[str, type[Any]] = {"gcn": GCNClassifier, "frond": FractionalClassifier}


def make_method(name: str, **settings: Any) -> Embedder:
    """The method of this name with these settings over its defaults.

    :class:`~fdmvgcl.errors.ArgumentError` with the near misses for a name or a setting that is none. FD-MVGCL takes
    settings as files have them too, ``{"schedule.lr": 0.01}``.
    """
    if name == OURS:
        return FDMVGCL.from_settings(settings)
    made: Embedder = _made(METHODS, name, settings)
    return made


def make_classifier(name: str, **settings: Any) -> Classifier:
    """The supervised reference of this name, as :func:`make_method` makes embedders."""
    made: Classifier = _made(CLASSIFIERS, name, settings)
    return made


def _made(kinds: dict[str, type[Any]], name: str, settings: dict[str, Any]) -> Any:
    if name not in kinds:
        raise ArgumentError("method", f"{name!r} is none{near_misses(name, kinds)}")
    known = signature(kinds[name]).parameters
    for setting in settings:
        if setting not in known:
            raise ArgumentError(setting, f"is no setting of {name}{near_misses(setting, known)}")
    return kinds[name](**settings)
