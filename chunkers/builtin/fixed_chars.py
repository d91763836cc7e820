"""Chunks of a number of characters, cut wherever that falls."""

from dataclasses import dataclass

from chunkers.errors import InputError
from chunkers.sizes import Unit, check_max_size
from chunkers.source import Services, Source, Span

FAMILY = "fixed"


@dataclass(frozen=True)
class FixedChars:
    """The chunker; see `make`."""

    max_size: int
    overlap: int
    unit: Unit = "chars"
    version: str = "1"

    @property
    def exceptions(self) -> tuple[str, ...]:
        """What it is known to fail: with an overlap, text is repeated, but none lost."""
        return ("repeats",) if self.overlap else ()

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans with every character in one and what is repeated in two; none adds but blanks."""
        del services
        text, spans, end = source.text, [], 0
        while end < len(text):
            start = max(0, end - self.overlap)
            added, end = end, min(len(text), start + self.max_size)
            if not text[added:end].isspace():
                spans.append(Span(start, end))
        return spans


def make(*, max_size: int = 1500, overlap: int = 0) -> FixedChars:
    """As many characters as asked for, cut in the middle of lines and words.

    This is what is mostly meant by chunks of a fixed size with an overlap: a window of `max_size`
    characters that moves on by `max_size - overlap`.

    Args:
        max_size: Characters of a chunk, white space included; the last one has fewer.
        overlap: Characters, not lines, that a chunk repeats from the one before.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not from 0 to below it.
    """
    check_max_size(max_size)
    if not 0 <= overlap < max_size:
        raise InputError(f"overlap={overlap}: must be at least 0 and below max_size")
    return FixedChars(max_size, overlap)
