"""Chunks of a fixed number of characters."""

from dataclasses import dataclass

from chunkers.sizes import Unit, check_limit
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
        """With an overlap, text is repeated, but none is lost."""
        return ("repeats",) if self.overlap else ()

    def chunk(self, source: Source, services: Services) -> list[Span]:
        """Spans of all text; a span that would add only white space is left out."""
        del services
        text, spans, end = source.text, [], 0
        while end < len(text):
            start = max(0, end - self.overlap)
            added, end = end, min(len(text), start + self.max_size)
            if not text[added:end].isspace():
                spans.append(Span(start, end))
        return spans


def make(*, max_size: int = 1500, overlap: int = 0) -> FixedChars:
    """A fixed number of characters; cuts lines and words.

    This is the usual meaning of chunks of a fixed size with an overlap: a window of `max_size`
    characters that moves by `max_size - overlap`.

    Args:
        max_size: Characters of a chunk, white space included; the last chunk may have fewer.
        overlap: Characters, not lines, that a chunk repeats from the chunk before.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not from 0 to below it.
    """
    check_limit(max_size, overlap)
    return FixedChars(max_size, overlap)
