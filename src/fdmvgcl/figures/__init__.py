"""Matplotlib figures of a run, for papers and notebooks, and the quiet style that all figures share."""

from fdmvgcl.figures.pictures import (
    FAINT,
    INK,
    SOFT,
    TEN,
    accuracy_over_epochs,
    component_spectra,
    embedding_map,
    loss_terms,
    order_paths,
    responses,
    sweep,
    view_colours,
)

__all__ = [
    "FAINT",
    "INK",
    "SOFT",
    "TEN",
    "accuracy_over_epochs",
    "component_spectra",
    "embedding_map",
    "loss_terms",
    "order_paths",
    "responses",
    "sweep",
    "view_colours",
]
