"""The line windows that the evaluation of code-chunk compares with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunkers.reference._chunks import ReferenceChunk, full_path, original_text, spans_of
from chunkers.reference._utf16 import Utf16Text
from chunkers.sizes import check_limit

if TYPE_CHECKING:
    from chunkers.source import Services, Source, Span

FAMILY = "fixed"


@dataclass(frozen=True)
class CodeChunkFixed:
    """The chunker; see `make`."""

    max_size: int
    path_prefix: str
    version: str = "1"
    unit: str = "nws"

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans of whole lines without the last LF; an empty source gives one empty span."""
        path = full_path(self.path_prefix, source.path, services.corpus)
        chunks = reference_chunks(original_text(source), path, max_size=self.max_size)
        return spans_of(source, chunks)


def make(*, max_size: int = 1500, path_prefix: str = "") -> CodeChunkFixed:
    """code-chunk's baseline of lines, verified identical.

    Args:
        max_size: No chunk is larger, unless it is a single line. It counts UTF-16 code units
            above 32.
        path_prefix: Comes before the path in the original's ids.

    Raises:
        InputError: `max_size` is below 1.
    """
    check_limit(max_size)
    return CodeChunkFixed(max_size, path_prefix)


def reference_chunks(text: str, path: str, *, max_size: int = 1500) -> list[ReferenceChunk]:
    """The chunks as the original counts them, lines from 0; one empty chunk for an empty text.

    Args:
        text: The file as it is, byte order mark and all.
        path: Its path as the original is given it.
        max_size: Limit in UTF-16 code units above 32.
    """
    whole = Utf16Text(text)
    before = [*whole.above_space[whole.line_starts].tolist(), int(whole.above_space[-1])]
    rows = len(whole.line_starts)
    chunks = []
    first = 0
    for row in range(rows):
        if row + 1 == rows or before[row + 2] - before[first] > max_size:
            start, end = whole.line_start(first), whole.line_end(row)
            name = f"{path}:{first}-{row}"
            chunks.append(ReferenceChunk(name, first, row, start, end, whole.slice(start, end)))
            first = row + 1
    return chunks
