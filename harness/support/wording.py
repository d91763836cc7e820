"""Phrases with counts, for messages and tables."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: `1 file`, `2 files`; `plural` if it is not the singular with `s`."""
    return f"{number:d} {singular if number == 1 else plural or singular + 's'}"


def left_out_line(left_out: Mapping[str, int], before: str = "\nleft out: ") -> str:
    """What was left out, as the end of a message that nothing remained.

    Args:
        left_out: Reason -> count.
        before: How the line begins; if nothing was left out, the line is empty.
    """
    reasons = "; ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    return reasons and before + reasons


def warn_repeated(what: str, names: Iterable[str]) -> None:
    """Warn of names that are given more than once, where each counts once."""
    for name, count in Counter(names).items():
        if count > 1:
            warnings.warn(f"{what} {name} is given {count} times; it counts once", stacklevel=2)
