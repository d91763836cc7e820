"""Chonkie's SemanticChunker: sentences, parted where the similarity to the next has a minimum."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from chunkers.adapters._library import Adapter, Limit, embedder, spans_at
from chunkers.errors import InputError
from chunkers.sizes import Unit
from chunkers.source import Services, Source, Span

FAMILY = "semantic"


def make(*, max_size: int = 600, unit: Unit = "nws", threshold: float = 0.8) -> Adapter:
    """Chonkie's SemanticChunker, run's embedder; soft limit.

    Args:
        max_size: `chunk_size`. A sentence, which may be many lines of code, is never split, nor is
            a text of three sentences or fewer.
        unit: The unit that the library counts: `nws`, `chars` or `tokens`.
        threshold: `threshold`, above 0 and below 1: the share of minima at which chunks part.

    Raises:
        InputError: `max_size` is below 1, or `threshold` out of range.
        MissingError: chonkie is missing.
    """
    limit = Limit(max_size, unit)
    if not 0 < threshold < 1:
        raise InputError(f"threshold={threshold}: must be above 0 and below 1")
    cut, libraries = partial(_chunk, limit, threshold), ("chonkie", "chonkie-core")
    return Adapter(cut, libraries, limit, faults=("size limit",), embeds=True)


def _chunk(limit: Limit, threshold: float, source: Source, services: Services) -> list[Span]:
    from chonkie import SemanticChunker

    model = _model()(embedder(services), limit.counter(services))
    chunker = SemanticChunker(model, threshold, limit.max_size)
    chunks = ((chunk.start_index, chunk.text) for chunk in chunker.chunk(source.text))
    return spans_at(source, chunks, services)


@cache
def _model() -> Any:
    from chonkie.embeddings import BaseEmbeddings

    class Model(BaseEmbeddings):  # type: ignore[misc]
        """The run's embedder as the library wants it."""

        def __init__(self, embed: Callable[[Sequence[str]], Any], count: Callable[[str], int]):
            super().__init__()
            self._embed, self._count = embed, count

        def embed(self, text: str) -> Any:
            return self.embed_batch([text])[0]

        def embed_batch(self, texts: list[str]) -> list[Any]:
            return list(self._embed(texts))

        @property
        def dimension(self) -> int:
            return len(self.embed("dimension"))

        def get_tokenizer(self) -> Callable[[str], int]:
            return self._count

    return Model
