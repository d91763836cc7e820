"""chonkie's RecursiveChunker: paragraphs, sentences, clauses, words, characters."""

from functools import partial

from chunkers.adapters._library import Adapter, Limit, spans_at
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "text"


def make(*, max_size: int = 600, unit: Unit = "nws") -> Adapter:
    """Chonkie's RecursiveChunker, default rules; hard limit.

    Args:
        max_size: `chunk_size`.
        unit: The unit that the library counts: `nws`, `chars` or `tokens`.

    Raises:
        InputError: `max_size` is below 1.
        MissingError: chonkie is missing.
    """
    limit = Limit(max_size, unit)
    return Adapter(partial(_chunk, limit), ("chonkie", "chonkie-core"), limit)


def _chunk(limit: Limit, source: Source, services: Services) -> list[Span]:
    from chonkie import RecursiveChunker
    from chonkie.tokenizer import CharacterTokenizer

    # Text over the limit without delimiters is cut by the tokenizer's tokens. These are characters
    # for every unit, since there is no tokenizer that decodes.
    tokenizer = CharacterTokenizer()
    tokenizer.count_tokens = limit.counter(services)
    chunker = RecursiveChunker(tokenizer, limit.max_size)
    chunks = ((chunk.start_index, chunk.text) for chunk in chunker.chunk(source.text))
    return spans_at(source, chunks, services)
