"""The coordinates of a text in which white space weighs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunkers.source import Source


def squeezed(text: str) -> str:
    """A text without white space, by which texts are compared."""
    return "".join(text.split())


@dataclass(frozen=True)
class Layout:
    """The coordinates of one file in which white space weighs nothing.

    `nws` are the non-white-space characters before every offset, `line_starts` those before each
    non-blank line.
    """

    nws: NDArray[np.int64]
    line_starts: NDArray[np.int64]

    @classmethod
    def of(cls, source: Source) -> Layout:
        """The layout of a source."""
        nws = source.lines.nws
        at = nws[source.lines.starts] if len(nws) > 1 else np.zeros(0, dtype=np.int64)
        blank = np.diff(np.append(at, nws[-1])) == 0
        return cls(nws, at[~blank])

    @property
    def size(self) -> int:
        """Non-white-space characters of the file."""
        return int(self.nws[-1])

    def interval(self, start: int, end: int) -> tuple[int, int]:
        """Characters [start, end) as an interval of non-white-space characters."""
        return int(self.nws[start]), int(self.nws[end])

    def lines(self, low: int, high: int) -> tuple[int, int]:
        """The non-blank lines, numbered from 0, that hold one of the characters [low, high)."""
        if low >= high:
            return 0, 0
        first, last = np.searchsorted(self.line_starts, (low, high - 1), side="right")
        return int(first) - 1, int(last)
