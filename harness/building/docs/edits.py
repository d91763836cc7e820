"""Replaces spans of a text, and maps offsets of the old text to the new one."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """The characters [start, end) are replaced by `new`."""

    start: int
    end: int
    new: str = ""


def whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The span [start, end), widened to its lines if they hold nothing else but white space."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end) + 1 or len(text)
    if not text[line_start:start].strip() and not text[end:line_end].strip():
        return line_start, line_end
    return start, end


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits, which are sorted and do not overlap."""
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*parts, text[at:]])


class OffsetMap:
    """Maps an offset of the old text to the new text, for edits as `apply` takes them."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._edits = edits
        self._starts = [edit.start for edit in edits]
        growth = (len(edit.new) - (edit.end - edit.start) for edit in edits)
        self._shifts = [0, *accumulate(growth)]

    def at(self, offset: int) -> int:
        """The new offset; an offset inside an edit maps to the end of its new text."""
        number = bisect_right(self._starts, offset)
        if number and offset < self._edits[number - 1].end:
            offset = self._edits[number - 1].end
        return offset + self._shifts[number]
