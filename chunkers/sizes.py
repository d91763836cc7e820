"""One size unit for all chunkers, measured over runs of whole lines.

`nws` counts non-white-space characters, `chars` characters as they stand in the span, `tokens`
the tokens of each line, tokenised alone and summed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from chunkers.errors import InputError
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunkers.source import Services, Source

Unit = Literal["nws", "chars", "tokens"]
UNITS: tuple[str, ...] = get_args(Unit)


@dataclass(frozen=True, slots=True)
class Lines:
    """The non-blank lines of a source, numbered from 0, and what runs of them weigh.

    A run first..last (both included) is what a chunk is made of: it reaches from the start of its
    first line to the end of its last, so blank lines are in it only between others. A run may
    repeat lines from before it; these belong to its span and to its size.

    Attributes:
        source: The source.
        rows: Where each line stands in the file, counted from 0, ascending, shape (n,).
        before: Size of all that comes before each line, or before what a run from it repeats.
        through: Size of all that comes before the end of each line.
        repeats: Where runs repeat lines, the first line of what a run from each line holds.
        begins: Where runs repeat lines, the size of all that comes before each line.
    """

    source: Source
    rows: NDArray[np.int64]
    before: list[int]
    through: list[int]
    repeats: NDArray[np.int64] | None = None
    begins: list[int] | None = None

    @property
    def count(self) -> int:
        """Number of lines; 0 for a blank source."""
        return len(self.before)

    @property
    def plain(self) -> Lines:
        """The same lines, in runs that repeat none."""
        if self.begins is None:
            return self
        return Lines(self.source, self.rows, self.begins, self.through)

    def repeating(self, overlap: int, limit: int) -> Lines:
        """The same lines, in runs that repeat lines from before them.

        Args:
            overlap: How many lines of the file, blank ones included, are repeated, counted from
                the last non-blank one before the run. No run begins with a blank line.
            limit: Fewer are repeated where a run of one line would exceed it otherwise.
        """
        if overlap == 0 or self.count == 0:
            return self
        before = np.array(self.before)
        wanted = np.searchsorted(self.rows, np.append(0, self.rows[:-1] - overlap + 1))
        fitting = np.searchsorted(before, np.array(self.through) - limit)
        repeats = np.minimum(np.maximum(wanted, fitting), np.arange(self.count))
        return replace(self, before=before[repeats].tolist(), repeats=repeats, begins=self.before)

    def size(self, first: int, last: int) -> int:
        """Size of the run first..last."""
        return self.through[last] - self.before[first]

    def reach(self, first: int, last: int, limit: int) -> int:
        """The furthest line up to `last` to which a run from `first` is within `limit`.

        It is `first` even where that line alone exceeds the limit.
        """
        most = self.before[first] + limit
        return max(first, bisect_right(self.through, most, first, last + 1) - 1)

    def pack(self, first: int, last: int, limit: int) -> list[tuple[int, int]]:
        """The run first..last cut into runs as long as `limit` allows, of one line at least."""
        runs = []
        while first <= last:
            end = self.reach(first, last, limit)
            runs.append((first, end))
            first = end + 1
        return runs

    def spans(self, runs: Sequence[tuple[int, int]]) -> list[Span]:
        """The characters of each run, from its first line to the line feed of its last.

        What a run repeats is included.
        """
        if not runs:
            return []
        held = np.array(runs)
        if self.repeats is not None:
            held[:, 0] = self.repeats[held[:, 0]]
        rows = self.rows[held]
        borders = np.append(self.source.lines.starts, len(self.source.text))
        starts, ends = borders[rows[:, 0]].tolist(), borders[rows[:, 1] + 1].tolist()
        return [Span(start, end) for start, end in zip(starts, ends, strict=True)]

    def numbers(self) -> list[int]:
        """For every row of the file and the two behind it, the non-blank lines before it."""
        counts = np.zeros(self.source.lines.count + 2, dtype=np.int64)
        counts[self.rows + 1] = 1
        return np.cumsum(counts).tolist()  # type: ignore[no-any-return]

    def walled(self, walls: Sequence[int], limit: int) -> Lines:
        """The same lines, but a run across a wall exceeds `limit`; others weigh what they did.

        Args:
            walls: Numbers of the lines behind the walls.
            limit: At most the size of all lines.
        """
        more = np.zeros(self.count, dtype=np.int64)
        more[np.array(walls, dtype=np.int64)] = limit + 1
        more = np.cumsum(more)
        before, through = (self.before + more).tolist(), (self.through + more).tolist()
        return replace(self, before=before, through=through)


def measure(source: Source, services: Services, unit: Unit) -> Lines:
    """Measure the non-blank lines of a source.

    Raises:
        InputError: `unit` is `tokens` and no tokenizer is at hand.
    """
    lines = source.lines
    rows = np.flatnonzero(np.diff(lines.line_nws))
    if unit == "nws":
        before, through = lines.line_nws[rows], lines.line_nws[rows + 1]
    else:
        starts = np.append(lines.starts, len(source.text))
        before, through = starts[rows], starts[rows + 1]
    if unit == "tokens":
        count = services.line_tokens()
        spans = zip(before.tolist(), through.tolist(), strict=True)
        texts = (source.text[start:end].removesuffix("\n") for start, end in spans)
        tokens = np.array([count(text) for text in texts], dtype=np.int64)
        through = np.cumsum(tokens)
        before = through - tokens
    return Lines(source, rows, before.tolist(), through.tolist())


def span_size(source: Source, span: Span, unit: Unit, services: Services) -> int:
    """Size of any span, its gaps left out; parts of lines are tokenised alone, as whole lines are.

    Raises:
        InputError: `unit` is `tokens` and no tokenizer is at hand.
    """
    if unit == "nws":
        gaps = sum(source.lines.size(*gap) for gap in span.gaps)
        return source.lines.size(span.start, span.end) - gaps
    if unit == "chars":
        return span.end - span.start - sum(end - start for start, end in span.gaps)
    count = services.line_tokens()
    pieces = span.kept(source.text).split("\n")
    return sum(count(piece) for piece in pieces if piece.strip())


def check_max_size(max_size: int) -> None:
    """Refuse a size limit below 1.

    Raises:
        InputError: It is.
    """
    if max_size < 1:
        raise InputError(f"max_size={max_size}: must be at least 1")
