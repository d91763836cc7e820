"""Copies: of targets elsewhere, of whole files, and of chunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.chunking.cut import duplicates, not_alone
from harness.chunking.layout import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.chunking.cut import ChunkedCorpus
    from harness.model import Corpus
    from harness.relevance.gold import Place


@dataclass(frozen=True)
class Twins:
    """Targets whose text stands elsewhere too; see `harness.relevance.twins`.

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


def count_twins(places: Sequence[Sequence[Place]]) -> Twins:
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
