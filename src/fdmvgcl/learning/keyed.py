"""Vectors keyed by ids, in the form that ``set_output`` asks for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import ArgumentError, shown

FORMS = ("default", "pandas", "polars", "arrow")


def check_form(form: object) -> None:
    """One of the forms."""
    if form not in FORMS:
        raise ArgumentError("transform", f"must be one of {', '.join(FORMS)}, got {shown(form)}")


def column_names(width: int) -> list[str]:
    """``z0``, ``z1``, …"""
    return [f"z{column}" for column in range(width)]


def keyed(z: NDArray[np.float32], ids: Sequence[str], names: Sequence[str], form: str) -> Any:
    """Vectors with their ids.

    Args:
        z: (N, d).
        ids: N ids.
        names: d names of columns.
        form: ``"default"``, the array itself; ``"pandas"``, a frame whose index is ``id``; ``"polars"``, a frame with
            ``id`` before the columns; ``"arrow"``, a table of ``id`` and ``z``, a list of fixed size, as
            ``embeddings.parquet`` has it.
    """
    check_form(form)
    if form == "pandas":
        import pandas as pd

        return pd.DataFrame(z, index=pd.Index(list(ids), name="id"), columns=list(names))
    if form == "polars":
        import polars as pl

        return pl.DataFrame(z, schema=list(names)).insert_column(0, pl.Series("id", list(ids), dtype=pl.String))
    if form == "arrow":
        flat = pa.array(np.ascontiguousarray(z, dtype=np.float32).reshape(-1))
        return pa.table({"id": pa.array(ids, pa.string()), "z": pa.FixedSizeListArray.from_arrays(flat, z.shape[1])})
    return z
