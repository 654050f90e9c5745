"""Claims about the Mittag-Leffler function itself: its limits in the order, and its series at large times."""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.experiments.records import Record
from fdmvgcl.fractional import mittag_leffler
from fdmvgcl.learning.diagnostics import significant

FloatArray = NDArray[np.float64]

GAPS = tuple(10.0**-k for k in (1, 1.5, 2, 2.5, 3, 3.5, 4))
LIMIT_TIMES = (1.0, 10.0, 30.0)
SERIES_ALPHAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
SERIES_TIMES = tuple(float(t) for t in np.logspace(0, 8, 33))
ROUNDS = (1, 2, 3, 5)

# Remainders below this are the rounding of E_α itself (1e-12 absolute, 1e-10 relative).
_SMALLEST_REMAINDER = 1e-9


def solution(alpha: float, frequency: FloatArray | float, time: FloatArray | float) -> FloatArray:
    """``E_α(-λ t^α)`` for arrays that broadcast."""
    x = np.asarray(frequency * np.asarray(time, dtype=float) ** alpha)
    return mittag_leffler(torch.tensor(alpha, dtype=torch.float64), torch.from_numpy(x.copy())).numpy()


def slope(x: FloatArray, y: FloatArray) -> float:
    """Slope of log y over log x by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def limits() -> Record:
    """Largest distance over λ ∈ [0, 2] from ``exp(-λT)`` as α → 1, and from ``1/(1+λ)`` and from 1 as α → 0."""
    frequency = np.linspace(0, 2, 401)
    upper, lower, identity = [], [], []
    for time in LIMIT_TIMES:
        near_one = [solution(1 - gap, frequency, time) for gap in GAPS]
        near_zero = [solution(gap, frequency, time) for gap in GAPS]
        upper.append(np.abs(np.stack(near_one) - np.exp(-frequency * time)).max(axis=1))
        lower.append(np.abs(np.stack(near_zero) - 1 / (1 + frequency)).max(axis=1))
        identity.append(np.abs(np.stack(near_zero) - 1).max(axis=1))
    return {
        "gaps": list(GAPS),
        "times": list(LIMIT_TIMES),
        "from_exponential": significant(upper, 4),
        "from_resolvent": significant(lower, 4),
        "from_identity": significant(identity, 4),
        "stays": significant(solution(GAPS[-1], 1.0, np.array(LIMIT_TIMES)), 4),
    }


def terms(alpha: float) -> int:
    """The theorem's n: the largest number with n α < 1."""
    return max(n for n in range(1, math.ceil(1 / alpha) + 1) if n * alpha < 1 - 1e-12)


def series(alpha: float, time: FloatArray, *, alternating: bool) -> FloatArray:
    """The first n terms at λ = 1: ``Σ ± t^(-jα) / Γ(1 - jα)``, all plus as printed, or ``(-1)^(j+1)``."""
    signs = [(-1.0) ** (j + 1) if alternating else 1.0 for j in range(1, terms(alpha) + 1)]
    return sum(
        (s * time ** (-j * alpha) / math.gamma(1 - j * alpha) for j, s in enumerate(signs, 1)), np.zeros_like(time)
    )


def coefficients(alpha: float, rounds: int) -> FloatArray:
    """``b_j``, j = 1 … n, of ``1 + e + … + e^m`` in powers of ``τ^(-α) / λ``, with the series' true signs."""
    count = terms(alpha)
    e = np.zeros(count + 1)
    e[1:] = [(-1.0) ** (j + 1) / math.gamma(1 - j * alpha) for j in range(1, count + 1)]
    total, power = np.zeros(count + 1), np.eye(1, count + 1)[0]
    for _ in range(rounds):
        power = np.convolve(power, e)[: count + 1]
        total += power
    return total[1:]


def asymptotics() -> Record:
    """E_α at large times beside the theorem's series, as printed and with alternating signs."""
    time = np.array(SERIES_TIMES)
    by_order = []
    for alpha in SERIES_ALPHAS:
        value = solution(alpha, 1.0, time)
        remainders = {
            name: np.abs(value - series(alpha, time, alternating=name == "alternating"))
            for name in ("printed", "alternating")
        }
        by_order.append(
            {
                "alpha": alpha,
                "terms": terms(alpha),
                "value": significant(value, 5),
                **{name: significant(each, 5) for name, each in remainders.items()},
                "slopes": {name: _late_slope(time, each) for name, each in remainders.items()},
                "negative": {str(m): int((coefficients(alpha, m) < 0).sum()) for m in ROUNDS},
                "second": {str(m): significant(coefficients(alpha, m)[1], 4) for m in ROUNDS}
                if terms(alpha) > 1
                else {},
            }
        )
    return {"times": significant(time, 5), "orders": by_order}


def _late_slope(time: FloatArray, remainder: FloatArray) -> Any:
    """Decay of the remainder over the last two decades in which it can be told from rounding."""
    last = np.flatnonzero(remainder > _SMALLEST_REMAINDER)[-9:]
    return significant(slope(time[last], remainder[last]), 4)
