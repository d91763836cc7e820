"""The counts of an audit: copies, duplicate chunks, cut targets and unseen tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.chunking.corpus import count_repeated, duplicates
from harness.chunking.layout import squeezed
from harness.runs.health import TRUNCATION_MARK, unseen_share
from harness.runs.texts import texts_of
from harness.support.arrays import mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from harness.chunking.corpus import ChunkedCorpus
    from harness.embedding.embedder import Embedder
    from harness.model import Corpus, Query
    from harness.relevance.chunk_gold import ChunkTable
    from harness.relevance.targets import LocatedTarget


@dataclass(frozen=True)
class Twins:
    """Targets whose text is also elsewhere; see `harness.relevance.targets`.

    `twins` counts the copies; `queries_touched` is the share of queries with such a target.
    """

    targets: int
    with_twins: int
    twins: int
    queries_touched: float


def count_twins(places: Sequence[Sequence[LocatedTarget]]) -> Twins:
    """Count the copies of the targets of every query."""
    targets = [place for query in places for place in query]
    touched = sum(any(place.twins for place in query) for query in places)
    return Twins(
        targets=len(targets),
        with_twins=sum(bool(place.twins) for place in targets),
        twins=sum(len(place.twins) for place in targets),
        queries_touched=touched / len(places) if places else 0.0,
    )


def identical_files(corpora: Iterable[Corpus]) -> int:
    """Non-blank files that equal another file of their corpus except for white space."""
    return sum(
        count_repeated(filter(None, (squeezed(source.text) for source in corpus.sources)))
        for corpus in corpora
    )


@dataclass(frozen=True)
class Duplicates:
    """Chunks whose embedded text is that of another chunk of their corpus."""

    chunks: int
    duplicates: int
    share: float = field(init=False)

    def __post_init__(self) -> None:
        share = self.duplicates / self.chunks if self.chunks else 0.0
        object.__setattr__(self, "share", share)


def count_duplicates(chunked: Sequence[ChunkedCorpus]) -> Duplicates:
    """Count the chunks that share their text with another."""
    return Duplicates(sum(len(corpus.chunks) for corpus in chunked), sum(map(duplicates, chunked)))


@dataclass(frozen=True)
class GoldCut:
    """How chunk boundaries cut the targets.

    A line is cut off if the target has another non-blank line and no chunk has characters of both:
    a decorator, a signature or a last statement without the rest. `whole` is the share of targets
    that one chunk holds whole; `chunks_per_target` is a mean; `uncovered` targets have no character
    in a chunk. The others count targets.
    """

    targets: int
    whole: float
    chunks_per_target: float
    uncovered: int
    first_line_cut: int
    last_line_cut: int


def count_cuts(queries: Iterable[tuple[ChunkTable, Sequence[LocatedTarget]]]) -> GoldCut:
    """Count over the targets of all queries, each with the chunks of its corpus."""
    whole, touching, first, last = [], [], [], []
    for table, places in queries:
        for place in places:
            units = table.touching(place.stretch)
            _, low, high = place.stretch
            begin, end = place.lines
            starts, ends = table.first[units], table.behind[units]
            several = end - begin > 1 and len(units) > 0
            touching.append(len(units))
            whole.append(bool((table.held(units, low, high) == high - low).any()))
            first.append(several and not ((starts <= begin) & (ends > begin + 1)).any())
            last.append(several and not ((starts < end - 1) & (ends >= end)).any())
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
    """The tokens of texts that a model with a limit sees; None for counts that are not stored.

    `tokens` are without special ones, and `unseen` is the share beyond the limit. `truncated` texts
    are over it. `marked`: so much is unseen that scores say little about boundaries.
    """

    texts: int | None
    tokens: int | None
    unseen: float
    truncated: int | None
    limit: int | None
    marked: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "marked", self.unseen > TRUNCATION_MARK)


def chunk_truncation(
    chunked: Sequence[ChunkedCorpus], embedder: Embedder, windows: bool
) -> Truncation | None:
    """Truncation of chunks as a run embeds them; None if the limit is unknown.

    Only the tokenizer is used. With `windows`, chunks over the limit
    are embedded by windows.
    """
    if embedder.limit is None:
        return None
    texts = texts_of(chunked, embedder, windows)
    used = [n for corpus in texts.embedded_of_chunk for numbers in corpus for n in numbers]
    tokens = embedder.count_tokens(texts.embedded)
    return _truncation(tokens[np.array(used, dtype=np.int64)], embedder.limit)


def query_truncation(queries: Sequence[Query], embedder: Embedder) -> Truncation | None:
    """Truncation of queries; None if the limit is unknown."""
    limit = embedder.query_limit or embedder.limit
    if limit is None:
        return None
    return _truncation(embedder.count_tokens([query.text for query in queries]), limit)


def _truncation(tokens: NDArray[np.int64], limit: int) -> Truncation:
    share, truncated = unseen_share(tokens, limit)
    return Truncation(len(tokens), int(tokens.sum()), share, truncated, limit)
