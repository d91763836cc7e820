"""Copies: of targets elsewhere, of whole files, and of chunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.chunking.corpus import duplicates, not_alone
from harness.chunking.layout import squeezed
from harness.runs.health import TRUNCATION_MARK, unseen_share
from harness.runs.texts import texts_of
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.model import Corpus, Query
    from harness.relevance.chunk_gold import ChunkTable
    from harness.relevance.targets import LocatedTarget


@dataclass(frozen=True)
class Twins:
    """Targets whose text stands elsewhere too; see `harness.relevance.targets`.

    Attributes:
        targets: How many there are.
        with_twins: Targets that have a copy.
        twins: Copies in all.
        queries_touched: Share of the queries that have such a target.
    """

    targets: int
    with_twins: int
    twins: int
    queries_touched: float


@dataclass(frozen=True)
class Duplicates:
    """Chunks whose embedded text another chunk of their corpus has.

    Attributes:
        chunks: How many there are.
        duplicates: Those that are not alone with their text.
        share: Of all chunks.
    """

    chunks: int
    duplicates: int
    share: float = field(init=False)

    def __post_init__(self) -> None:
        share = self.duplicates / self.chunks if self.chunks else 0.0
        object.__setattr__(self, "share", share)


def count_twins(places: Sequence[Sequence[LocatedTarget]]) -> Twins:
    """Count the copies of the targets of every query."""
    every = [place for one in places for place in one]
    touched = sum(any(place.twins for place in one) for one in places)
    return Twins(
        targets=len(every),
        with_twins=sum(bool(place.twins) for place in every),
        twins=sum(len(place.twins) for place in every),
        queries_touched=touched / len(places) if places else 0.0,
    )


def identical_files(corpora: Iterable[Corpus]) -> int:
    """Files that are not blank and equal another one of their corpus but for white space."""
    return sum(
        not_alone(text for one in corpus.sources if (text := squeezed(one.text)))
        for corpus in corpora
    )


def count_duplicates(chunked: Iterable[ChunkedCorpus]) -> Duplicates:
    """Count the chunks that are not alone with their text."""
    every = list(chunked)
    return Duplicates(sum(len(one.chunks) for one in every), sum(map(duplicates, every)))


@dataclass(frozen=True)
class GoldCut:
    """How a chunker cuts the targets.

    A line is cut off where the target has a further non-blank line and no chunk holds characters
    of both: a decorator, a signature or a last statement without the rest.

    Attributes:
        targets: How many there are.
        whole: Share that lies whole in one chunk.
        chunks_per_target: Chunks that share a character with a target, on average.
        uncovered: Targets of which no chunk holds a character.
        first_line_cut: Targets whose first non-blank line is cut off from the rest.
        last_line_cut: Targets whose last one is.
    """

    targets: int
    whole: float
    chunks_per_target: float
    uncovered: int
    first_line_cut: int
    last_line_cut: int


def count_cuts(asked: Iterable[tuple[ChunkTable, Sequence[LocatedTarget]]]) -> GoldCut:
    """Count over the targets of all queries, each with the chunks of its corpus."""
    whole, touching, first, last = [], [], [], []
    for table, places in asked:
        for place in places:
            units = table.touching(place.stretch)
            _, low, high = place.stretch
            begin, behind = place.lines
            inside = table.held(units, low, high) == high - low
            starts, ends = table.first[units], table.behind[units]
            several = behind - begin > 1 and len(units) > 0
            touching.append(len(units))
            whole.append(bool(inside.any()))
            first.append(several and not ((starts <= begin) & (ends > begin + 1)).any())
            last.append(several and not ((starts < behind - 1) & (ends >= behind)).any())
    return GoldCut(
        targets=len(touching),
        whole=mean(whole) if whole else 0.0,
        chunks_per_target=mean(touching) if touching else 0.0,
        uncovered=touching.count(0),
        first_line_cut=sum(first),
        last_line_cut=sum(last),
    )


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
    share, truncated = unseen_share(tokens, limit)
    return Truncation(len(tokens), int(tokens.sum()), share, truncated, limit)
