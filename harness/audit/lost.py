"""Truncation: the tokens of chunks and queries that an embedder does not see.

Only the embedder's tokenizer is asked; nothing is embedded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.runs.health import TRUNCATION_MARK, unseen
from harness.runs.texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.chunking.cut import ChunkedCorpus
    from harness.embedding.embed import Embedder
    from harness.model import Query


@dataclass(frozen=True)
class Truncation:
    """What a model with a limit sees of a list of texts.

    Attributes:
        texts: How many there are; None where nobody counted.
        tokens: Of all of them, special ones left out; None where nobody counted.
        unseen: Share of the tokens that lie beyond the limit.
        truncated: Texts over the limit; None where nobody counted.
        limit: Tokens that are seen of a text; None where nobody stored it.
        marked: Whether so much is unseen that, of chunks, scores say little about boundaries.
    """

    texts: int | None
    tokens: int | None
    unseen: float
    truncated: int | None
    limit: int | None
    marked: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "marked", self.unseen > TRUNCATION_MARK)


def of_chunks(
    chunked: Sequence[ChunkedCorpus], embedder: Embedder, windows: bool
) -> Truncation | None:
    """Truncation of chunks, embedded as a run embeds them; None where the limit is unknown.

    Args:
        chunked: The corpora.
        embedder: The model.
        windows: Whether the chunker wants its chunks embedded by windows.
    """
    if embedder.limit is None:
        return None
    texts = texts_of(chunked, embedder, windows)
    used = [n for corpus in texts.embedded_of_chunk for numbers in corpus for n in numbers]
    tokens = embedder.count_tokens(texts.embedded)
    return _truncation(tokens[np.array(used, dtype=np.int64)], embedder.limit)


def of_queries(queries: Sequence[Query], embedder: Embedder) -> Truncation | None:
    """Truncation of queries; None where the limit is unknown."""
    limit = embedder.query_limit or embedder.limit
    if limit is None:
        return None
    return _truncation(embedder.count_tokens([query.text for query in queries]), limit)


def _truncation(tokens: np.typing.NDArray[np.int64], limit: int) -> Truncation:
    share, truncated = unseen(tokens, limit)
    return Truncation(len(tokens), int(tokens.sum()), share, truncated, limit)
