"""One size unit for all chunkers, measured over runs of whole lines.

`nws` counts non-white-space characters, `chars` all characters, `tokens` the tokens of each line,
which is tokenised alone.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from chunkers.errors import InputError
from chunkers.lazy import np
from chunkers.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunkers.source import Services, Source

Unit = Literal["nws", "chars", "tokens"]
UNITS: tuple[str, ...] = get_args(Unit)


@dataclass(frozen=True, slots=True)
class Lines:
    """The non-blank lines of a source, numbered from 0, and the sizes of runs of them.

    A chunk is a run first..last (both included): from the start of its first line to the end of its
    last, so it has blank lines only between others. With an overlap a run also repeats lines from
    before it, which belong to its span and to its size.

    Attributes:
        source: The source.
        rows: Row of each line in the file, from 0, ascending, shape (n,).
        before: Size of the source before each line, or before the lines that a run from it repeats.
        through: Size of the source up to the end of each line.
        repeats: With an overlap, the first line that a run from each line repeats.
        begins: With an overlap, the size of the source before each line.
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
        """The same lines without overlap."""
        if self.begins is None:
            return self
        return Lines(self.source, self.rows, self.begins, self.through)

    def repeating(self, overlap: int, limit: int) -> Lines:
        """The same lines, in runs that repeat lines from before them.

        Args:
            overlap: Number of lines to repeat, blank ones included, counted from the last non-blank
                line before the run. No run begins with a blank line.
            limit: Fewer lines are repeated if a run of one line would exceed this size.
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
        """The last line, at most `last`, of the longest run from `first` within `limit`.

        It is `first` even if that line alone exceeds the limit.
        """
        end = self.before[first] + limit
        return max(first, bisect_right(self.through, end, first, last + 1) - 1)

    def pack(self, first: int, last: int, limit: int) -> list[tuple[int, int]]:
        """The run first..last cut into runs of one line or more, as long as `limit` allows."""
        runs = []
        while first <= last:
            end = self.reach(first, last, limit)
            runs.append((first, end))
            first = end + 1
        return runs

    def spans(self, runs: Sequence[tuple[int, int]]) -> list[Span]:
        """The span of each run, repeated lines and the last line feed included."""
        if not runs:
            return []
        lines = np.array(runs)
        if self.repeats is not None:
            lines[:, 0] = self.repeats[lines[:, 0]]
        rows = self.rows[lines]
        borders = np.append(self.source.lines.starts, len(self.source.text))
        starts, ends = borders[rows[:, 0]].tolist(), borders[rows[:, 1] + 1].tolist()
        return [Span(start, end) for start, end in zip(starts, ends, strict=True)]

    def numbers(self) -> list[int]:
        """The number of non-blank lines before each row of the file and the two rows after it."""
        counts = np.zeros(self.source.lines.count + 2, dtype=np.int64)
        counts[self.rows + 1] = 1
        return np.cumsum(counts).tolist()  # type: ignore[no-any-return]

    def walled(self, walls: Sequence[int], limit: int) -> Lines:
        """The same lines with walls: a run across a wall exceeds `limit`; other sizes stay.

        Args:
            walls: The first line after each wall.
            limit: At most the size of all lines.
        """
        heights = np.zeros(self.count, dtype=np.int64)
        heights[np.array(walls, dtype=np.int64)] = limit + 1
        added = np.cumsum(heights)
        before, through = (self.before + added).tolist(), (self.through + added).tolist()
        return replace(self, before=before, through=through)


def measure(source: Source, services: Services, unit: Unit) -> Lines:
    """Measure the non-blank lines of a source.

    Raises:
        InputError: `unit` is `tokens` and there is no tokenizer.
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
    """Size of a span without its gaps; each line, or part of one, is tokenised alone.

    Raises:
        InputError: `unit` is `tokens` and there is no tokenizer.
    """
    if unit == "nws":
        gaps = sum(source.lines.size(*gap) for gap in span.gaps)
        return source.lines.size(span.start, span.end) - gaps
    if unit == "chars":
        return span.end - span.start - sum(end - start for start, end in span.gaps)
    count = services.line_tokens()
    pieces = span.kept(source.text).split("\n")
    return sum(count(piece) for piece in pieces if piece.strip())


def check_limit(max_size: int, overlap: int = 0) -> None:
    """Raise InputError if a size limit is below 1, or an overlap is not from 0 to below it."""
    if max_size < 1:
        raise InputError(f"max_size={max_size}: must be at least 1")
    if not 0 <= overlap < max_size:
        raise InputError(f"overlap={overlap}: must be at least 0 and below max_size={max_size}")
