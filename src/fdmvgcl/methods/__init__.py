"""Other methods behind the protocol that FD-MVGCL meets too, each written from its paper."""

from fdmvgcl.methods.base import Embedder, Method
from fdmvgcl.methods.infograph import InfoGraph
from fdmvgcl.methods.registry import CLASSIFIERS, METHODS, make_classifier, make_method
from fdmvgcl.methods.supervised import Classifier

__all__ = [
    "CLASSIFIERS",
    "METHODS",
    "Classifier",
    "Embedder",
    "InfoGraph",
    "Method",
    "make_classifier",
    "make_method",
]
