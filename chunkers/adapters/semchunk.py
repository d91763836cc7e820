"""semchunk: text split at its longest runs of white space, then at punctuation, and merged."""

from functools import partial

from chunkers.adapters._library import Adapter, Limit, spans_at
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "text"


def make(*, max_size: int = 600, unit: Unit = "nws", overlap: int = 0) -> Adapter:
    """semchunk; hard limit; loses white space only.

    White space at which it splits is in no chunk.

    Args:
        max_size: `chunk_size`.
        unit: The unit of `token_counter`: `nws`, `chars` or `tokens`.
        overlap: `overlap`, in the same unit: how much a chunk may repeat of the one before.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not below it.
        MissingError: semchunk is missing.
    """
    limit = Limit(max_size, unit, overlap)
    return Adapter(partial(_chunk, limit), ("semchunk",), limit)


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    import semchunk

    # The library never frees its memo.
    texts, offsets = semchunk.chunk(
        source.text,
        limit.max_size,
        limit.counter(services),
        memoize=False,
        offsets=True,
        overlap=limit.overlap or None,
    )
    starts = (start for start, _ in offsets)
    return spans_at(source, zip(starts, texts, strict=True), services)
