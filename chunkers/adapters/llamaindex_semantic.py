"""LlamaIndex's SemanticSplitterNodeParser: sentences, parted where neighbours differ most."""

from functools import cache, partial
from typing import Any

from chunkers.adapters._library import Adapter, embedder, spans_joined
from chunkers.errors import InputError
from chunkers.source import Services, Source, Span

FAMILY = "semantic"


def make(*, buffer: int = 1, percentile: int = 95) -> Adapter:
    """LlamaIndex's semantic splitter, run's embedder; no limit.

    Args:
        buffer: `buffer_size`: sentences on each side that are embedded with a sentence.
        percentile: `breakpoint_percentile_threshold`, 0 to 100: the percentile of the distances
            between neighbours above which chunks part.

    Raises:
        InputError: `buffer` is below 0, or `percentile` out of range.
        MissingError: llama-index-core is missing.
    """
    if buffer < 0 or not 0 <= percentile <= 100:
        raise InputError(f"buffer={buffer} is 0 or more, percentile={percentile} is 0 to 100")
    return Adapter(partial(_chunk, buffer, percentile), ("llama-index-core", "nltk"), embeds=True)


def _chunk(buffer: int, percentile: int, source: Source, services: Services) -> list[Span]:
    embed = embedder(services)
    if not source.text.strip():
        return []
    from llama_index.core.node_parser import SemanticSplitterNodeParser
    from llama_index.core.schema import Document

    splitter = SemanticSplitterNodeParser(
        embed_model=_model()(embed=embed),
        buffer_size=buffer,
        breakpoint_percentile_threshold=percentile,
        sentence_splitter=_sentences,
    )
    nodes = splitter.build_semantic_nodes_from_documents([Document(text=source.text)])
    return spans_joined(source, [node.get_content() for node in nodes], services)


def _sentences(text: str) -> Any:
    """The library's default, which would download data that it does not need."""
    from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer_internal
    from nltk.tokenize import PunktSentenceTokenizer

    return split_by_sentence_tokenizer_internal(text, PunktSentenceTokenizer())


@cache
def _model() -> Any:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class Model(BaseEmbedding):  # type: ignore[misc]
        """The run's embedder as the library wants it."""

        embed: Any
        embed_batch_size: int = 2048

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [row.tolist() for row in self.embed(texts)]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return Model
