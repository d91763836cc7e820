"""Numbers as tables show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = "-"
"""What stands where there is no number."""


def number(value: float | None, form: str = ".3f") -> str:
    """A number, or `-` where there is none."""
    return NONE if value is None else format(value, form)


def short(value: float | None) -> str:
    """A number of a few characters: 3 digits and a suffix where it is large."""
    if value is None:
        return NONE
    for bound, divisor, suffix in ((1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if value >= bound:
            return f"{value / divisor:.1f}{suffix}"
    return f"{value:.0f}"


def share(value: float | None) -> str:
    """A share in per cent, or `-` where there is none."""
    return NONE if value is None else f"{100 * value:.1f} %"


def coverage(value: float) -> str:
    """A share in per cent, rounded down: what is not all is not shown as all."""
    return f"{math.floor(round(1000 * value, 6)) / 10:.1f} %"


def milliseconds(of_query: Mapping[str, float] | None) -> str:
    """The median and the 95th percentile, with two digits where they are small."""
    if of_query is None:
        return NONE
    return " ".join(
        format(value, ".0f" if value >= 9.95 else ".1f" if value >= 0.095 else ".2f")
        for value in (of_query["p50"], of_query["p95"])
    )
