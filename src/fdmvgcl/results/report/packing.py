"""Numbers as text that JSON can hold."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(values: NDArray[Any], dtype: type[np.generic]) -> str:
    """Little-endian numbers as base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()).decode()
