"""Words that change with a number, or tell numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def counted(number: int, one: str, many: str = "") -> str:
    """A number with what it counts: `1 file`, `2 files`; `many` where an `s` does not make it."""
    return f"{number:d} {one if number == 1 else many or one + 's'}"


def left_out_line(left_out: Mapping[str, int], before: str = "\nleft out: ") -> str:
    """The end of a failure to make a query: what was left out, counted by its reason.

    Args:
        left_out: Reason -> count.
        before: What it begins with; where nothing was left out, it is empty.
    """
    told = "; ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    return told and before + told
