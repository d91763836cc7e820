"""Words that change with a number."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """A number with what it counts: `1 file`, `2 files`; `many` where an `s` does not make it."""
    return f"{number:d} {one if number == 1 else many or one + 's'}"
