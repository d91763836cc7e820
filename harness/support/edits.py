"""Takes stretches out of a text, and says where the rest then lies."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """What to put in the place of the characters [start, end)."""

    start: int
    end: int
    new: str = ""


def whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines of the characters [start, end) where they hold nothing else, or these alone."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end) + 1 or len(text)
    if not text[line_start:start].strip() and not text[end:line_end].strip():
        return line_start, line_end
    return start, end


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits that are in order and apart from each other."""
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*parts, text[at:]])


class Moved:
    """Where the characters of a text are after edits that are in order and apart."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._starts = [edit.start for edit in edits]
        grown = (len(edit.new) - (edit.end - edit.start) for edit in edits)
        self._shifts = [0, *accumulate(grown)]

    def at(self, offset: int) -> int:
        """The new offset; the end of what is new for an offset inside of an edit."""
        number = bisect_right(self._starts, offset)
        if number and offset < self._edits[number - 1].end:
            offset = self._edits[number - 1].end
        return offset + self._shifts[number]
