"""semantic-text-splitter's TextSplitter: line breaks, sentences, words, characters."""

from functools import partial

from chunkers.adapters._library import Adapter, Limit, spans_at
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "text"


def make(*, max_size: int = 600, unit: Unit = "nws", overlap: int = 0) -> Adapter:
    """semantic-text-splitter's TextSplitter; hard limit.

    It is called with `trim=False`.

    Args:
        max_size: `capacity`.
        unit: The unit that the library counts: `nws`, `chars` or `tokens`.
        overlap: `overlap`, in the same unit: how much a chunk may repeat of the chunk before.

    Raises:
        InputError: `max_size` is below 1, or `overlap` is not below it.
        MissingError: semantic-text-splitter is missing.
    """
    limit = Limit(max_size, unit, overlap)
    return Adapter(partial(_chunk, limit), ("semantic-text-splitter",), limit)


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    from semantic_text_splitter import TextSplitter

    count = limit.counter(services)
    splitter = TextSplitter.from_callback(count, limit.max_size, limit.overlap, trim=False)
    return spans_at(source, splitter.chunk_indices(source.text), services)
