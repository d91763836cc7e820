"""chonkie's TokenChunker: pieces of equal length."""

from functools import partial

from chunkers.adapters._library import Adapter, Limit, spans_at
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "fixed"


def make(*, max_size: int = 800, unit: Unit = "chars", overlap: int = 0) -> Adapter:
    """Chonkie's TokenChunker on characters; hard limit.

    Args:
        max_size: `chunk_size`. The default makes about as many chunks of code as 600 `nws`.
        unit: Only `chars`: for other units the library needs a tokenizer that decodes.
        overlap: `chunk_overlap`, in characters.

    Raises:
        InputError: `max_size` is below 1, `overlap` is not below it, or the unit is another.
        MissingError: chonkie is missing.
    """
    limit = Limit(max_size, unit, overlap, units=("chars",))
    return Adapter(partial(_chunk, limit), ("chonkie",), limit)


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    from chonkie import TokenChunker

    chunker = TokenChunker("character", limit.max_size, limit.overlap)
    chunks = ((chunk.start_index, chunk.text) for chunk in chunker.chunk(source.text))
    return spans_at(source, chunks, services)
