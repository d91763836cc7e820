"""The character windows of memorybench."""

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
class MemorybenchFixed:
    """The chunker; see `make`."""

    max_size: int
    overlap: int
    path_prefix: str
    version: str = "1"
    unit: str = "chars"

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What it is known to fail: windows overlap, and cut characters above U+FFFF in half."""
        return ("repeats", "verbatim spans")

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans that overlap and cut through lines; blank windows are left out."""
        path = full_path(self.path_prefix, source.path, services.corpus)
        text = original_text(source)
        chunks = reference_chunks(text, path, max_size=self.max_size, overlap=self.overlap)
        return spans_of(source, chunks)


def make(*, max_size: int = 1024, overlap: int = 96, path_prefix: str = "") -> MemorybenchFixed:
    """Character windows of memorybench, verified identical.

    Args:
        max_size: Length of a window in UTF-16 code units.
        overlap: Units that a window repeats from the one before.
        path_prefix: Comes before the path in the original's ids.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not from 0 to below it.
    """
    check_limit(max_size, overlap)
    return MemorybenchFixed(max_size, overlap, path_prefix)


def reference_chunks(
    text: str, path: str, *, max_size: int = 1024, overlap: int = 96
) -> list[ReferenceChunk]:
    """The chunks as the original counts them, lines from 1; ids are `path:number`.

    Args:
        text: The file as it is, byte order mark and all.
        path: Its path as the original is given it.
        max_size: Length of a window in UTF-16 code units.
        overlap: Units that a window repeats from the one before.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not from 0 to below it.
    """
    check_limit(max_size, overlap)
    whole = Utf16Text(text)
    chunks: list[ReferenceChunk] = []
    start, step = 0, max_size - overlap
    while start < len(whole):
        end = min(start + max_size, len(whole))
        if whole.visible[end] > whole.visible[start]:
            rows = whole.row_of(start) + 1, whole.row_of(end - 1) + 1
            name = f"{path}:{len(chunks)}"
            chunks.append(ReferenceChunk(name, *rows, start, end, whole.slice(start, end)))
        start += step
        # A rest that is shorter than the overlap is in the last window already.
        if len(whole) - start < overlap:
            break
    return chunks
