"""Cosine similarity of bags of tokens: raw counts, without weights."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.retrieval.lexical import Tokens, tokenize
from harness.retrieval.ranking import Index, Material, SearchQuery, cosines, pool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class BowIndex:
    """An inverted index over chunks; integer counts make all sums exact.

    Attributes:
        material: The corpus.
        tokens: The kind of tokens.
        places: Number of every token of the corpus.
        starts: First posting of each token, shape (tokens + 1,).
        chunks: The chunk of each posting, shape (postings,).
        counts: The token's count in that chunk, shape (postings,).
        squares: Squared length of every chunk's vector, shape (chunks,).
    """

    material: Material
    tokens: Tokens
    places: Mapping[str, int]
    starts: NDArray[np.int64]
    chunks: NDArray[np.int32]
    counts: NDArray[np.int32]
    squares: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """Size of the postings and lengths, in bytes."""
        arrays = (self.starts, self.chunks, self.counts, self.squares)
        return sum(int(one.nbytes) for one in arrays)

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Cosines of all units that share a token with the query."""
        del depth  # all scores are computed at once
        counts = Counter(tokenize(query.text, self.tokens))
        dots = np.zeros(len(self.squares), dtype=np.int64)
        for token, count in counts.items():
            place = self.places.get(token)
            if place is not None:
                postings = slice(self.starts[place], self.starts[place + 1])
                # A chunk is at most once among the postings of a token.
                dots[self.chunks[postings]] += count * self.counts[postings].astype(np.int64)
        chunks = np.flatnonzero(dots)
        length = sum(count * count for count in counts.values())
        return pool(cosines(dots[chunks], self.squares[chunks], length), chunks, self.material)


@dataclass(frozen=True)
class Bow:
    """The retriever `bow`."""

    tokens: Tokens
    dense: bool = False
    version: str = "2"

    def index(self, material: Material) -> Index:
        """Count the tokens of every chunk."""
        bags = [Counter(tokenize(chunk, self.tokens)) for chunk in material.chunks]
        places: dict[str, int] = {}
        numbers = [places.setdefault(token, len(places)) for bag in bags for token in bag]
        token = np.array(numbers, dtype=np.int64)
        lengths = np.array([len(bag) for bag in bags], dtype=np.int64)
        chunk = np.repeat(np.arange(len(bags), dtype=np.int32), lengths)
        count = np.array([n for bag in bags for n in bag.values()], dtype=np.int32)
        order = np.argsort(token, kind="stable")
        return BowIndex(
            material=material,
            tokens=self.tokens,
            places=places,
            starts=np.searchsorted(token[order], np.arange(len(places) + 1)),
            chunks=chunk[order],
            counts=count[order],
            squares=np.array(
                [float(sum(n * n for n in bag.values())) for bag in bags], dtype=np.float64
            ),
        )


def make(*, tokens: Tokens = "identifiers") -> Bow:
    """Bags of tokens by cosine, without weights.

    Source: the vector space model of Salton, Wong and Yang 1975 with raw counts.

    Args:
        tokens: `identifiers`: every run of word characters counts whole, and again for each of its
            parts (`parse_url`: `parse_url`, `parse`, `url`); `words`: whole runs alone.
    """
    return Bow(tokens)
