"""The paired tests of memorybench. Its p-values are rough, and only good for comparing with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.parity.javascript import total

if TYPE_CHECKING:
    from collections.abc import Sequence

_CRITICAL = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    4: 2.776,
    5: 2.571,
    10: 2.228,
    15: 2.131,
    20: 2.086,
    25: 2.060,
    30: 2.042,
}
"""Two-sided 5 % points of Student's t by degrees of freedom."""

_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Abramowitz and Stegun 7.1.26, lowest power first."""


@dataclass(frozen=True)
class TTest:
    """A paired t test: the statistic, memorybench's p-value and the degrees of freedom."""

    t: float
    p: float
    df: int


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> TTest:
    """Test of the differences, two-sided.

    Below two pairs p is 1. Differences that are all alike give a t of 0 or infinity.
    """
    n = len(first)
    if n < 2:
        return TTest(0.0, 1.0, 0)
    mean, deviation = _differences(first, second)
    if deviation == 0:
        return TTest(_limit(mean), 0.0 if mean else 1.0, n - 1)
    t = mean / (deviation / math.sqrt(n))
    return TTest(t, _p_value(abs(t), n - 1), n - 1)


def cohens_d(first: Sequence[float], second: Sequence[float]) -> float:
    """Mean ÷ standard deviation of the differences; 0 below two pairs."""
    if len(first) < 2:
        return 0.0
    mean, deviation = _differences(first, second)
    return mean / deviation if deviation else _limit(mean)


def interpret_effect_size(d: float) -> str:
    """What an effect size is called."""
    for limit, name in ((0.2, "negligible"), (0.5, "small"), (0.8, "medium")):
        if abs(d) < limit:
            return name
    return "large"


def _differences(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation, with n-1, of the differences."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    n = len(differences)
    mean = total(differences) / n
    return mean, math.sqrt(total((value - mean) ** 2 for value in differences) / (n - 1))


def _limit(mean: float) -> float:
    return math.copysign(math.inf, mean) if mean else 0.0


def _p_value(t: float, df: int) -> float:
    if df > 30:
        return 2 * (1 - 0.5 * (1 + _erf(t / math.sqrt(2))))
    critical = _critical(df)
    if t > critical:
        return max(0.001, 0.05 * math.exp(critical - t))
    return 0.05 + (1 - t / critical) * 0.45


def _critical(df: int) -> float:
    """The table, with straight lines between its rows."""
    if df in _CRITICAL:
        return _CRITICAL[df]
    low, high = next((low, high) for low, high in pairwise(_CRITICAL) if low < df < high)
    share = (df - low) / (high - low)
    return _CRITICAL[low] + share * (_CRITICAL[high] - _CRITICAL[low])


def _erf(x: float) -> float:
    """Error function for x of 0 or more."""
    t = 1 / (1 + 0.3275911 * x)
    result = 0.0
    for factor in reversed(_ERF):
        result = (result + factor) * t
    return 1 - result * math.exp(-x * x)
