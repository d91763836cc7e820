"""The coordinates of a text in which white space weighs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunkers.source import LineIndex, Source


def squeezed(text: str) -> str:
    """A text without white space, by which texts are compared."""
    return "".join(text.split())


@dataclass(frozen=True)
class Layout:
    """The coordinates of one file in which white space weighs nothing.

    Attributes:
        index: The lines and characters of the file.
        line_starts: Non-white-space characters before each non-blank line.
    """

    index: LineIndex
    line_starts: NDArray[np.int64]

    @classmethod
    def of(cls, source: Source) -> Layout:
        """The layout of a source."""
        before = source.lines.line_nws
        return cls(source.lines, before[:-1][np.diff(before) > 0])

    @property
    def size(self) -> int:
        """Non-white-space characters of the file."""
        return int(self.index.line_nws[-1])

    def interval(self, start: int, end: int) -> tuple[int, int]:
        """Characters [start, end) as an interval of non-white-space characters."""
        nws = self.index.nws
        return int(nws[start]), int(nws[end])

    def lines(self, low: int, high: int) -> tuple[int, int]:
        """The non-blank lines, numbered from 0, that hold one of the characters [low, high)."""
        if low >= high:
            return 0, 0
        first, last = np.searchsorted(self.line_starts, (low, high - 1), side="right")
        return int(first) - 1, int(last)
