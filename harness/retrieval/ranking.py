"""From texts and queries to a ranking of units: the contract of retrievers, ties and depth.

A unit is what is ranked: a chunk, or a document that was cut into chunks. A chunk is one text
or, where it is embedded by windows, several.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

Ties = Literal["corpus-order", "float32-id-desc"]
Pooling = Literal["max", "first", "sum"]
Similarity = Literal["cosine", "dot-over-norms"]


@dataclass(frozen=True)
class Material:
    """One corpus as a retriever sees it.

    Attributes:
        texts: Distinct texts: what is embedded.
        vectors: Their unit vectors, shape (len(texts), d), or None for lexical retrievers.
        usable: Which vectors may be indexed, shape (len(texts),).
        chunks: The whole text of every chunk that is not blank.
        chunk_texts: For each chunk the numbers of its texts.
        unit_of: The unit of every chunk, ascending, shape (len(chunks),).
        n_units: Number of units, those without a chunk included.
        pooling: How a unit of several chunks scores.
        similarity: Of vectors: `cosine` of unit vectors; `dot-over-norms`, where `vectors` are
            those of the model, not scaled.
    """

    texts: tuple[str, ...]
    vectors: NDArray[np.float32] | None
    usable: NDArray[np.bool_]
    chunks: tuple[str, ...]
    chunk_texts: tuple[tuple[int, ...], ...]
    unit_of: NDArray[np.int64]
    n_units: int
    pooling: Pooling = "max"
    similarity: Similarity = "cosine"


@dataclass(frozen=True)
class SearchQuery:
    """One query as a retriever sees it.

    Attributes:
        text: Its text.
        vector: Its unit vector, for retrievers that need one.
        keeps: Which part of an over-long text a model is to see.
    """

    text: str
    vector: NDArray[np.float32] | None = None
    keeps: Literal["head", "tail"] = "head"


class Index(Protocol):
    """A corpus made searchable."""

    @property
    def nbytes(self) -> int:
        """Size of what is searched, in bytes."""
        ...

    def scores(
        self, question: SearchQuery, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Units and their scores, in no order: at least those that can be among the first `depth`.

        A unit that is left out ranks behind all others.
        """
        ...


@runtime_checkable
class Ranker(Protocol):
    """A corpus made searchable by what puts units in order itself."""

    @property
    def nbytes(self) -> int:
        """Size of what is searched, in bytes."""
        ...

    def rank(self, question: SearchQuery, order: Order, rankable: Rankable) -> Ranking:
        """Rank the units, to the depth and on until the budget is spent."""
        ...


class Retriever(Protocol):
    """Ranks the units of a corpus for a query."""

    @property
    def dense(self) -> bool:
        """Whether it needs vectors."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever its scores may."""
        ...

    def index(self, material: Material) -> Index | Ranker:
        """Make one corpus searchable."""
        ...


def cosines(
    dots: NDArray[np.int64], squares: NDArray[np.int64] | NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    """Cosines of vectors of whole numbers with a query; equal ones have equal bits.

    Division is rounded exactly, so the squared cosine is the same for vectors that differ in
    length alone, while a quotient by a root is not.

    Args:
        dots: With the query, shape (n,).
        squares: Squared lengths, above 0, shape (n,).
        length: Squared length of the query, above 0.
    """
    wide = dots.astype(np.float64)
    found: NDArray[np.float64] = np.sign(wide) * np.sqrt(wide * wide / squares / length)
    return found


def pool(
    chunk_scores: NDArray[np.float64], chunks: NDArray[np.int64], material: Material
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Scores of chunks to scores of their units.

    Args:
        chunk_scores: Shape (n,).
        chunks: Their chunk numbers, ascending, shape (n,).
        material: The corpus.

    Returns:
        Unit numbers, ascending, and their scores.
    """
    units, start = np.unique(material.unit_of[chunks], return_index=True)
    if len(units) == 0:
        return units, np.zeros(0)
    if material.pooling == "first":
        firsts = np.searchsorted(material.unit_of, units)
        here = np.isin(chunks, firsts)
        return material.unit_of[chunks[here]], chunk_scores[here]
    combine = np.add if material.pooling == "sum" else np.maximum
    return units, combine.reduceat(chunk_scores, start)


@dataclass(frozen=True)
class Ranking:
    """Units in rank order, each once.

    Attributes:
        units: Their numbers, shape (n,).
        scores: Their scores, shape (n,); NaN for units that the retriever did not score.
        by_rank: Whether the order says more than the scores: these stand on several scales, or
            equal ones are in an order of their own.
        disturbed: Whether the index gave a ranked unit a score of NaN.
        counts: What was counted on the way, such as tokens that a model did not see.
    """

    units: NDArray[np.int64]
    scores: NDArray[np.float64]
    by_rank: bool = False
    disturbed: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Order:
    """How far a ranking goes and how equal scores are ordered.

    Attributes:
        depth: Units at least.
        budget: Distinct characters of the ranked units at least, in `c`; 0 where there is none.
        ties: `corpus-order` (score descending, then corpus order), or `float32-id-desc` (score
            as float32 descending, then id descending).
    """

    depth: int
    budget: int
    ties: Ties


@dataclass(frozen=True)
class Rankable:
    """What ordering needs to know of the units of a corpus.

    Attributes:
        sizes: Size of every unit in `c`, shape (n_units,).
        id_places: Place of every unit in ascending order of id, shape (n_units,).
        indexed: Units that may be ranked, in corpus order.
        own: Of every unit the characters that no unit before it in corpus order holds, shape
            (n_units,); None where no two units overlap.
    """

    sizes: NDArray[np.int64]
    id_places: NDArray[np.int64]
    indexed: NDArray[np.int64]
    own: NDArray[np.int64] | None = None

    @property
    def spends(self) -> NDArray[np.int64]:
        """What a unit spends of a budget at least, even where merged text is charged once."""
        return self.sizes if self.own is None else self.own


def rank(index: Index | Ranker, question: SearchQuery, order: Order, rankable: Rankable) -> Ranking:
    """Rank one corpus for one query, to the depth and on until the budget is spent."""
    if isinstance(index, Ranker):
        return index.rank(question, order, rankable)
    spends, indexed = rankable.spends, rankable.indexed
    depth = order.depth
    while True:
        units, scores = index.scores(question, depth)
        rest = indexed[~np.isin(indexed, units)]
        best = in_order(units, scores, order.ties, rankable)[:depth]
        ranked = np.concatenate((units[best], rest))[:depth]
        spent = int(spends[ranked].sum()) >= order.budget
        if spent or len(ranked) == len(indexed):
            unscored = np.full(max(0, len(ranked) - len(best)), np.nan)
            disturbed = bool(np.isnan(scores[best]).any())
            scored = np.concatenate((scores[best], unscored))
            return Ranking(ranked, scored, disturbed=disturbed)
        depth *= 2


def in_order(
    units: NDArray[np.int64], scores: NDArray[np.float64], ties: Ties, rankable: Rankable
) -> NDArray[np.int64]:
    """The places of units in descending order of score, NaN last, equal ones by the rule."""
    if ties == "corpus-order":
        return np.lexsort((units, -scores))
    return np.lexsort((-rankable.id_places[units], -scores.astype(np.float32)))


def fit(ranking: Ranking, order: Order, rankable: Rankable) -> Ranking:
    """The shortest beginning of a ranking that reaches depth and budget; all of it if none does."""
    spent = np.cumsum(rankable.spends[ranking.units])
    enough = max(order.depth, int(np.searchsorted(spent, order.budget)) + 1)
    return replace(ranking, units=ranking.units[:enough], scores=ranking.scores[:enough])


def id_places(ids: Sequence[str]) -> NDArray[np.int64]:
    """Place of every id in ascending order, shape (n,)."""
    places = np.empty(len(ids), dtype=np.int64)
    places[sorted(range(len(ids)), key=lambda n: ids[n])] = np.arange(len(ids))
    return places
