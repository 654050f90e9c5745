"""The steps of a probe, its rows taken a few at a time and all at once.

python benchmarks/probe.py
"""

from functools import partial

import numpy as np
from harness import alternate, print_table, save_record

from fdmvgcl.evaluation import Rows, span
from fdmvgcl.evaluation.probe import _minimise
from fdmvgcl.machine import one_blas_thread

# Training nodes, columns and classes of Photo, Computers, Actor and Crocodile at 2048 columns; of Crocodile's words.
SHAPES = ((765, 2048, 8), (1375, 2048, 10), (3648, 2048, 5), (5583, 2048, 5), (5583, 13183, 5))
BANDS = {"few": span.BAND, "all": 10**12}


def steps(found: span.Span, targets: np.ndarray, band: int) -> None:
    span.BAND = band
    start = np.zeros((found.coordinates.shape[1], targets.shape[1])), np.zeros(targets.shape[1])
    with one_blas_thread():
        _minimise(found, targets, 1e-3 * found.energies.sum() / len(targets), start, tolerance=1e-2)


def main() -> None:
    rng = np.random.default_rng(0)
    measured = {}
    for count, width, classes in SHAPES:
        labels = np.arange(count) % classes
        means = rng.standard_normal((classes, width))
        drawn = (rng.standard_normal((count, width)) + means[labels]) / np.arange(1, width + 1) ** 0.5
        found, targets = span.span_of(Rows(drawn)), np.eye(classes)[labels]
        sides = {side: partial(steps, found, targets, band) for side, band in BANDS.items()}
        measured[f"{count} × {width}, {classes} classes"] = alternate(sides)
    print_table(
        ["rows", "all at once, s", "a few at a time, s"],
        [[name, sides["all"]["warm"], sides["few"]["warm"]] for name, sides in measured.items()],
    )
    save_record("probe", measured)


if __name__ == "__main__":
    main()
