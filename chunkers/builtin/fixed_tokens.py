"""Chunks of a fixed number of tokens of the embedder."""

from chunkers.builtin._lines import LineChunker, pack_lines
from chunkers.source import Services, Source, Span

FAMILY = "fixed"


def _split(source: Source, services: Services, span: Span, limit: int) -> list[Span]:
    """A line cut into pieces of at most `limit` tokens, or of a single character."""
    pieces = []
    start, end = span.start, span.start + len(source.text[span.start : span.end].rstrip("\n"))
    while start < end:
        stop = _reach(source.text, services, start, end, limit)
        if not source.text[start:stop].isspace():
            pieces.append(Span(start, stop if stop < end else span.end))
        start = stop
    return pieces


def _reach(text: str, services: Services, start: int, end: int, limit: int) -> int:
    """The end of the piece that begins at `start`, by doubling and halving its length."""
    count = services.need_tokens()
    low, step = start + 1, 4 * limit
    while (high := min(start + step, end)) > low and count(text[start:high]) <= limit:
        low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if count(text[start:middle]) <= limit:
            low = middle
        else:
            high = middle
    return low


def make(*, max_size: int = 254) -> LineChunker:
    """As many whole lines as a number of tokens allows.

    A line over the limit is cut inside.

    This is the usual meaning of chunks of a fixed number of tokens: tokens of the embedder that
    searches, or of the run's first embedder for lexical retrieval. Each line is tokenised alone.
    The bundled embedder sees 254 tokens of a text.

    Args:
        max_size: Tokens of a chunk, special ones left out. No chunk has more, unless a single
            character does.

    Raises:
        InputError: `max_size` is below 1.
    """
    return LineChunker(pack_lines, max_size, "tokens", "1", split=_split)
