"""Cosine similarity of bags of tokens: raw counts, without weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.postings import Postings, TokenCounter
from harness.retrieval.ranking import Index, Material, SearchQuery, cosines, pool

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AT_ONCE = 1 << 18  # postings


@dataclass(frozen=True)
class BowIndex:
    """An inverted index over chunks; integer counts make all sums exact.

    Attributes:
        material: The corpus.
        tokens: The kind of tokens.
        postings: The tokens of the chunks.
        squares: Squared length of every chunk's vector, shape (chunks,).
    """

    material: Material
    tokens: Tokens
    postings: Postings
    squares: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """Size of the postings and lengths, in bytes."""
        arrays = (self.postings.starts, self.postings.chunks, self.postings.counts, self.squares)
        return sum(int(array.nbytes) for array in arrays)

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Cosines of all units that share a token with the query."""
        del depth  # all scores are computed at once
        counts = Counter(tokenize(query.text, self.tokens))
        dots = np.zeros(len(self.squares), dtype=np.int64)
        for token, count in counts.items():
            place = self.postings.places.get(token)
            if place is not None:
                some = slice(self.postings.starts[place], self.postings.starts[place + 1])
                # A chunk is at most once among the postings of a token.
                dots[self.postings.chunks[some]] += count * self.postings.counts[some].astype(int)
        chunks = np.flatnonzero(dots)
        length = sum(count * count for count in counts.values())
        return pool(cosines(dots[chunks], self.squares[chunks], length), chunks, self.material)


@dataclass(frozen=True)
class Bow:
    """The retriever `bow`."""

    counter: TokenCounter
    dense: bool = False
    version: str = "3"

    def index(self, material: Material) -> Index:
        """Count the tokens of every chunk."""
        postings = self.counter.postings(material.chunks, material.space)
        squares = np.zeros(len(postings.lengths))
        for start in range(0, len(postings.chunks), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            np.add.at(squares, postings.chunks[some], postings.counts[some].astype(float) ** 2)
        return BowIndex(material, self.counter.kind, postings, squares)


def make(*, tokens: Tokens = "identifiers") -> Bow:
    """Bags of tokens by cosine, without weights.

    Source: the vector space model of Salton, Wong and Yang 1975 with raw counts.

    Args:
        tokens: `identifiers`: every run of word characters counts whole, and again for each of its
            parts (`parse_url`: `parse_url`, `parse`, `url`); `words`: whole runs alone.
    """
    return Bow(TokenCounter(tokens))
