"""The coordinates of a text in which white space weighs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from chunkers.source import Source


def squeezed(text: str) -> str:
    """A text without white space, by which texts are compared."""
    return "".join(text.split())


@dataclass(frozen=True, slots=True)
class Layout:
    """The coordinates of one file in which white space weighs nothing.

    Attributes:
        source: The file.
        size: Its non-white-space characters.
        n_lines: Its non-blank lines.
    """

    source: Source
    size: int
    n_lines: int

    @classmethod
    def of(cls, source: Source) -> Layout:
        """The layout of a source."""
        lines = source.lines
        return cls(source, int(lines.line_nws[-1]), len(lines.text_starts))

    def interval(self, start: int, end: int) -> tuple[int, int]:
        """Characters [start, end) as an interval of non-white-space characters."""
        nws = self.source.lines.nws
        return int(nws[start]), int(nws[end])

    def lines(self, low: int, high: int) -> tuple[int, int]:
        """The non-blank lines, numbered from 0, that hold one of the characters [low, high)."""
        if low >= high:
            return 0, 0
        starts = self.source.lines.text_starts
        first, last = np.searchsorted(starts, (low, high - 1), side="right")
        return int(first) - 1, int(last)
