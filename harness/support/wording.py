"""Phrases with counts, for messages and tables."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Value = TypeVar("Value")


def counted(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: `1 file`, `2 files`; `plural` if it is not the singular with `s`."""
    return f"{number:d} {singular if number == 1 else plural or singular + 's'}"


def rerun_with(measure: str) -> str:
    """What to do where stored rankings have no values of a measure."""
    return f"rerun `chunkmark run` with -m {measure}, and with -m for each measure to keep"


def last_line(error: Exception) -> str:
    """The last line of the message of an error, its type if there is none."""
    return (str(error).strip() or type(error).__name__).splitlines()[-1].strip()


def left_out_line(left_out: Mapping[str, int], before: str = "\nleft out: ", noun: str = "") -> str:
    """What was left out, as the end of a message that nothing remained.

    Args:
        left_out: Reason -> count.
        before: How the line begins; if nothing was left out, the line is empty.
        noun: What is counted; empty if a reason says so itself.
    """
    reasons = "; ".join(
        f"{reason}: {counted(count, noun) if noun else count}"
        for reason, count in left_out.items()
        if count
    )
    return reasons and before + reasons


def distinct(what: str, values: Iterable[Value], name: Callable[[Value], str] = str) -> list[Value]:
    """Values in the order given, each name once; a warning says which were given more than once.

    Args:
        what: The noun that the warning begins with.
        values: Of several with the same name the last one counts.
        name: The name of a value.
    """
    values = list(values)
    for repeated, count in Counter(map(name, values)).items():
        if count > 1:
            warnings.warn(f"{what} {repeated} is given {count} times; it counts once", stacklevel=2)
    return list({name(value): value for value in values}.values())
