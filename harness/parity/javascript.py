"""What JavaScript does otherwise than Python, where a reference was written in it."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

from chunkers.reference._utf16 import SPACES

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXACT = Context(prec=1200)


def trim(text: str) -> str:
    """`text.trim()`."""
    return text.strip(SPACES)


def total(values: Iterable[float]) -> float:
    """The sum from left to right, beginning with 0. Python's own `sum` corrects its rounding."""
    result = 0.0
    for value in values:
        result += value
    return result


def to_fixed(number: float, digits: int) -> str:
    """`number.toFixed(digits)`: of the exact binary value, ties away from zero.

    Args:
        number: Any double.
        digits: Decimal places, 0 to 100.
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if abs(number) >= 1e21:
        return repr(float(number))
    unit = Decimal(1).scaleb(-digits)
    rounded = Decimal(abs(number)).quantize(unit, rounding=ROUND_HALF_UP, context=_EXACT)
    return f"{'-' if number < 0 else ''}{rounded:f}"
