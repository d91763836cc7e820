"""Ranks the units of a corpus for a query: the interface of retrievers, ties and depth.

A unit is what is ranked: a chunk, or a document of several chunks. A chunk is one text or, if it is
embedded by windows, several.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from chunkers.errors import InputError
from harness.retrieval.indexes import flat
from harness.support.space import MEMORY, Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.retrieval.vector_index import VectorIndex
    from harness.support.sequences import Ragged

Ties = Literal["corpus-order", "float32-id-desc", "id-desc"]
Pooling = Literal["max", "first", "sum"]
Similarity = Literal["cosine", "dot-over-norms"]


@dataclass(frozen=True)
class Material:
    """The input of a retriever's index: one corpus.

    Attributes:
        texts: The distinct texts that are embedded; like `chunks`, read one by one.
        vectors: Their unit vectors, shape (len(texts), d); None for lexical retrievers.
        usable: Which vectors may be indexed, shape (len(texts),).
        chunks: The whole text of every chunk.
        chunk_texts: For each chunk, the numbers of its texts.
        unit_of: The unit of every chunk, ascending, shape (len(chunks),).
        n_units: Number of units, including those without a chunk.
        pooling: How the scores of a unit's chunks are combined.
        similarity: `cosine` of unit vectors, or `dot-over-norms`, for which `vectors` are those of
            the model, not scaled.
        vector_index: Builds the index that searches the vectors.
        space: Where vectors and postings are.
    """

    texts: Sequence[str]
    vectors: NDArray[np.float32] | None
    usable: NDArray[np.bool_]
    chunks: Sequence[str]
    chunk_texts: Ragged
    unit_of: NDArray[np.int64]
    n_units: int
    pooling: Pooling = "max"
    similarity: Similarity = "cosine"
    vector_index: VectorIndex = field(default_factory=flat.make)
    space: Space = MEMORY


@dataclass(frozen=True)
class SearchQuery:
    """The input of a search.

    Attributes:
        text: The query's text.
        vector: Its unit vector, for dense retrievers.
        keeps: The end of an over-long text that a model sees.
    """

    text: str
    vector: NDArray[np.float32] | None = None
    keeps: Literal["head", "tail"] = "head"


class Index(Protocol):
    """An indexed corpus that scores units."""

    @property
    def nbytes(self) -> int:
        """Size of the index, in bytes."""
        ...

    def scores(
        self, query: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Units and their scores, unordered; at least those that can be in the first `depth`.

        Missing units rank last.
        """
        ...


@runtime_checkable
class Prepared(Protocol):
    """An index that can search many queries together."""

    def prepare(self, queries: Sequence[SearchQuery], depth: int) -> None:
        """Search queries whose scores are asked for afterwards, at least to a depth."""
        ...


@runtime_checkable
class Ranker(Protocol):
    """An indexed corpus that orders units itself."""

    @property
    def nbytes(self) -> int:
        """Size of the index, in bytes."""
        ...

    def rank(self, query: SearchQuery, order: Order, rankable: Rankable) -> Ranking:
        """Rank units until both depth and budget are reached."""
        ...


class Retriever(Protocol):
    """Ranks the units of a corpus for a query."""

    @property
    def dense(self) -> bool:
        """Whether it needs vectors."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever its scores may change."""
        ...

    def index(self, material: Material) -> Index | Ranker:
        """Index one corpus."""
        ...


def cosines(
    dots: NDArray[np.int64], squares: NDArray[np.int64] | NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    """Cosines of integer vectors with a query; equal cosines have equal bits.

    Division is rounded exactly, so the squared cosine is the same for vectors that differ only in
    length; a quotient by a root is not.

    Args:
        dots: Dot products with the query, shape (n,).
        squares: Squared lengths, above 0, shape (n,).
        length: Squared length of the query, above 0.
    """
    wide = dots.astype(np.float64)
    cosine: NDArray[np.float64] = np.sign(wide) * np.sqrt(wide * wide / squares / length)
    return cosine


def pool(
    chunk_scores: NDArray[np.float64], chunks: NDArray[np.int64], material: Material
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Combine scores of chunks to scores of units.

    Args:
        chunk_scores: Shape (n,).
        chunks: Numbers of the chunks, ascending, shape (n,).
        material: The corpus.

    Returns:
        Unit numbers, ascending, and their scores.
    """
    units, start = np.unique(material.unit_of[chunks], return_index=True)
    if len(units) == 0:
        return units, np.zeros(0)
    if material.pooling == "first":
        firsts = np.isin(chunks, np.searchsorted(material.unit_of, units))
        return material.unit_of[chunks[firsts]], chunk_scores[firsts]
    combine = np.add if material.pooling == "sum" else np.maximum
    return units, combine.reduceat(chunk_scores, start)


@dataclass(frozen=True)
class Ranking:
    """Units in rank order, without repeats.

    Attributes:
        units: Their numbers, shape (n,).
        scores: Their scores, shape (n,); NaN for units without a score.
        by_rank: Whether the order is not that of the scores, which may be on several scales or
            have ties in another order.
        disturbed: Whether the index gave a ranked unit a score of NaN.
        counts: Counts of the retriever, such as tokens that a model did not see.
    """

    units: NDArray[np.int64]
    scores: NDArray[np.float64]
    by_rank: bool = False
    disturbed: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """The minimum length of a ranking, and the order of equal scores.

    Attributes:
        depth: Minimum number of units.
        budget: Minimum number of distinct characters of the ranked units, in `c`; 0 for none.
        ties: `corpus-order` (score descending, then corpus order), `id-desc` (then id descending),
            or `float32-id-desc` (the same, score as float32).
    """

    depth: int
    budget: int
    ties: Ties


@dataclass(frozen=True)
class Rankable:
    """The units of a corpus, as ordering needs them.

    Attributes:
        sizes: Size of every unit in `c`, shape (n_units,).
        id_places: Place of every unit in ascending order of id, shape (n_units,); empty where ties
            are in corpus order.
        indexed: Units that may be ranked, in corpus order.
        own: For each unit, the characters that no earlier unit has, shape (n_units,); None if no
            two units overlap.
    """

    sizes: NDArray[np.int64]
    id_places: NDArray[np.int64]
    indexed: NDArray[np.int64]
    own: NDArray[np.int64] | None = None

    @property
    def spends(self) -> NDArray[np.int64]:
        """The least that each unit spends of a budget, if merged text is charged once."""
        return self.sizes if self.own is None else self.own


def rank(index: Index | Ranker, query: SearchQuery, order: Order, rankable: Rankable) -> Ranking:
    """Rank one corpus for one query, to the depth and on until the budget is spent.

    The ranking ends with the last unit that the retriever scored, even where the budget is not
    spent: what was not scored was not retrieved.

    Raises:
        InputError: The index returned an invalid ranking.
    """
    if isinstance(index, Ranker):
        ranking = index.rank(query, order, rankable)
        _check(ranking.units, ranking.scores, rankable)
        return ranking
    depth = max(1, order.depth)
    while True:
        units, scores = index.scores(query, depth)
        _check(units, scores, rankable)
        best = in_order(units, scores, order.ties, rankable)[:depth]
        ranked, scored = units[best], scores[best]
        spent = int(rankable.spends[ranked].sum()) >= order.budget
        if spent or len(units) < depth or len(ranked) == len(rankable.indexed):
            return Ranking(ranked, scored, disturbed=bool(np.isnan(scored).any()))
        depth *= 2


def _check(units: NDArray[np.int64], scores: NDArray[np.float64], rankable: Rankable) -> None:
    """Refuse units that do not exist or repeat, and scores that cannot be ordered.

    A score of NaN is allowed: it ranks last and marks the ranking.
    """
    problem = None
    if len(units) != len(scores):
        problem = f"{len(units)} units with {len(scores)} scores"
    elif len(units) and not (units.min() >= 0 and units.max() < len(rankable.sizes)):
        problem = f"a unit outside 0 to {len(rankable.sizes) - 1}"
    elif len(np.unique(units)) < len(units):
        problem = "a unit more than once"
    elif np.isinf(scores).any():
        problem = "an infinite score"
    if problem:
        raise InputError(f"the retriever returned {problem}")


def in_order(
    units: NDArray[np.int64], scores: NDArray[np.float64], ties: Ties, rankable: Rankable
) -> NDArray[np.int64]:
    """The positions of units in descending order of score; NaN is last, `ties` orders the rest."""
    if ties == "corpus-order":
        return np.lexsort((units, -scores))
    keys = scores.astype(np.float32) if ties == "float32-id-desc" else scores
    return np.lexsort((-rankable.id_places[units], -keys))


def fit(ranking: Ranking, order: Order, rankable: Rankable) -> Ranking:
    """The shortest prefix that reaches depth and budget; the whole ranking if none does."""
    spent = np.cumsum(rankable.spends[ranking.units])
    enough = max(order.depth, int(np.searchsorted(spent, order.budget)) + 1)
    return replace(ranking, units=ranking.units[:enough], scores=ranking.scores[:enough])


def id_places(ids: Sequence[str]) -> NDArray[np.int64]:
    """Place of every id in ascending order, shape (n,)."""
    names = [*ids]
    places = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return places
