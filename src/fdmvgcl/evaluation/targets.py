"""Whether labels are classes or a number to be foretold, told from the labels alone."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, shown
from fdmvgcl.graphs.readers.text import is_number

LabelKind = Literal["auto", "classes", "numbers"]

# Up to so many distinct numbers are classes: stars of a rating, codes of subjects.
MOST_CLASSES = 20
# Whole numbers of which there are more are a target only where they are more than this share of the labels.
DISTINCT = 0.1


def numeric_target(names: Sequence[str], kind: LabelKind = "auto") -> tuple[NDArray[np.float64] | None, str]:
    """The labels as numbers, shape (n,), or None where they are classes; and a sentence where that might be doubted.

    They are numbers to be foretold where all are finite numbers, more than 20 of them are distinct, and either some
    are not whole, or the distinct ones are more than a tenth of all: prices and ages of some hundred people, but
    neither the stars of a rating nor 70 codes of subjects on thousands of papers.

    Args:
        names: labels as text.
        kind: ``"classes"`` or ``"numbers"`` overrides the rule.

    Raises:
        ArgumentError: if they shall be numbers, and one is none.
    """
    if kind == "classes":
        return None, ""
    odd = next((name for name in names if not is_number(name) or not np.isfinite(float(name))), None)
    if odd is not None:
        if kind == "numbers":
            raise ArgumentError("labels", f"must be finite numbers, got {shown(odd)}")
        return None, ""
    values = np.array(names, dtype=np.float64)
    if kind == "numbers":
        return values, ""
    distinct = len(np.unique(values))
    if distinct <= MOST_CLASSES:
        return None, ""
    if distinct > DISTINCT * len(values) or (values != np.round(values)).any():
        told = f"labels are {distinct} distinct numbers: taken for a number to foretell"
        return values, f"{told} (evaluate --labels-are classes would not)"
    told = f"labels are {distinct} distinct whole numbers of {len(values)}: taken for classes"
    return None, f"{told} (evaluate --labels-are numbers would not)"
