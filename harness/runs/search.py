"""One corpus of a cell, made searchable: what a retriever and the order of units need of it."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from harness.chunking.corpus import uncovered
from harness.embedding.text_vectors import unit_vectors
from harness.retrieval.expansion import companions, expand
from harness.retrieval.hops import Lexicon, join
from harness.retrieval.ranking import Material, Rankable, SearchQuery, id_places, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from chunkers.source import Source
    from harness.chunking.corpus import Chunk, ChunkedCorpus
    from harness.embedding.text_vectors import Vectors
    from harness.retrieval.ranking import Index, Ranker, Ranking
    from harness.runs.pipeline import PhaseTimer, Pipeline
    from harness.runs.query_set import QuerySet
    from harness.runs.texts import Texts


@dataclass(frozen=True)
class SearchableCorpus:
    """One corpus, indexed, and the queries that ask it.

    Attributes:
        chunked: The corpus, cut.
        questions: By number of the query.
        material: The corpus as the retriever sees it.
        index: What is searched.
        rankable: The corpus as ordering sees it.
    """

    chunked: ChunkedCorpus
    questions: Mapping[int, SearchQuery]
    material: Material
    index: Index | Ranker
    rankable: Rankable

    def chunks_of(self, units: NDArray[np.int64]) -> list[int]:
        """Numbers of the chunks of some units."""
        return np.flatnonzero(np.isin(self.material.unit_of, units)).tolist()

    def slices(self) -> list[str]:
        """The source text of every chunk: what a budget pays for, headers left out."""
        sources = {source.path: source for source in self.chunked.corpus.sources}
        return [_own(sources[one.path], one) for one in self.chunked.chunks]


def _own(source: Source, chunk: Chunk) -> str:
    """What a chunk has of its source's text."""
    if not chunk.gaps:
        return source.text[chunk.start : chunk.end]
    before = source.lines.nws
    # Of each part the first character that is no white space, and the last.
    ends = [np.searchsorted(before, (low, high - 1), "right") - 1 for low, high in chunk.parts]
    return "\n".join(source.text[first : last + 1] for first, last in ends)


@dataclass(frozen=True)
class Scaled:
    """The texts of a cell, their vectors as the similarity of the profile wants them.

    Attributes:
        texts: The distinct texts of all corpora.
        documents: Vectors of `texts.all`, and which of them are usable; None without an embedder.
        queries: Vectors of the queries; None without an embedder.
    """

    texts: Texts
    documents: tuple[NDArray[np.float32], NDArray[np.bool_]] | None
    queries: NDArray[np.float32] | None

    @classmethod
    def of(cls, texts: Texts, parts: Pipeline) -> Scaled:
        """Scale the vectors of all corpora at once."""
        documents = None if texts.vectors is None else scaled(texts.vectors, parts)
        queries = None if texts.queries is None else scaled(texts.queries.values, parts)[0]
        return cls(texts, documents, queries)


def scaled(
    values: NDArray[np.float32], parts: Pipeline
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Vectors as the profile's similarity wants them, and which of them are usable."""
    unit, usable = unit_vectors(values)
    return (unit if parts.profile.similarity == "cosine" else values), usable


def searcher(
    prepared: QuerySet, chunked: ChunkedCorpus, given: Scaled, number: int, parts: Pipeline
) -> SearchableCorpus:
    """Index one corpus.

    Args:
        prepared: Corpora and queries.
        chunked: The corpus, cut.
        given: The texts of all corpora, and their vectors.
        number: Of the corpus, in `given`.
        parts: What the cell is made with.
    """
    material = _material(prepared, chunked, given, number, parts)
    return SearchableCorpus(
        chunked=chunked,
        questions=_questions(prepared, chunked.corpus.id, given.queries, parts),
        material=material,
        index=parts.retriever.index(material),
        rankable=_rankable(prepared, chunked, material),
    )


def _questions(
    prepared: QuerySet, corpus: str, vectors: NDArray[np.float32] | None, parts: Pipeline
) -> dict[int, SearchQuery]:
    found = {}
    for at, query in enumerate(prepared.queries):
        if query.corpus == corpus:
            keeps = "head" if parts.profile.truncate == "head" else query.truncate
            found[at] = SearchQuery(query.text, None if vectors is None else vectors[at], keeps)
    return found


def _material(
    prepared: QuerySet,
    chunked: ChunkedCorpus,
    given: Scaled,
    number: int,
    parts: Pipeline,
) -> Material:
    of_chunk = given.texts.of_chunk[number]
    used = sorted({number for numbers in of_chunk for number in numbers})
    local = {number: at for at, number in enumerate(used)}
    pooling = prepared.dataset.pooling
    return Material(
        texts=tuple(given.texts.all[number] for number in used),
        vectors=None if given.documents is None else given.documents[0][used],
        usable=np.ones(len(used), bool) if given.documents is None else given.documents[1][used],
        chunks=tuple(chunk.text for chunk in chunked.chunks),
        chunk_texts=tuple(tuple(local[number] for number in numbers) for numbers in of_chunk),
        unit_of=_unit_of(prepared, chunked),
        n_units=len(chunked.chunks) if pooling is None else len(chunked.corpus.sources),
        pooling=pooling or "max",
        similarity=parts.profile.similarity,
    )


def _unit_of(prepared: QuerySet, chunked: ChunkedCorpus) -> NDArray[np.int64]:
    """The unit of every chunk: itself, or its document."""
    if prepared.dataset.gold == "span":
        return np.arange(len(chunked.chunks))
    number = {source.path: at for at, source in enumerate(chunked.corpus.sources)}
    return np.array([number[chunk.path] for chunk in chunked.chunks], dtype=np.int64)


def unit_ids(prepared: QuerySet, chunked: ChunkedCorpus) -> tuple[str, ...]:
    """Ids of what is ranked, in corpus order: chunks, or documents."""
    if prepared.dataset.gold == "span":
        return tuple(chunk.id for chunk in chunked.chunks)
    return tuple(source.path for source in chunked.corpus.sources)


def _rankable(prepared: QuerySet, chunked: ChunkedCorpus, material: Material) -> Rankable:
    sizes = np.zeros(material.n_units, dtype=np.int64)
    own = np.zeros(material.n_units, dtype=np.int64)
    of_chunk = [sum(high - low for low, high in chunk.parts) for chunk in chunked.chunks]
    np.add.at(sizes, material.unit_of, of_chunk)
    np.add.at(own, material.unit_of, uncovered(chunked))
    return Rankable(sizes, id_places(unit_ids(prepared, chunked)), np.unique(material.unit_of), own)


DELIVERED = 10
"""Units of every ranking whose size is the cost `chars_delivered`, in `c` and on average."""


@dataclass(frozen=True)
class CellRankings:
    """Rankings in order of query, with what each took and what its first units weigh.

    Attributes:
        rankings: One for each query.
        seconds: Search time of each, both hops together, shape (q,).
        delivered: Size of its first units in `c`, shape (q,).
        index_bytes: Size of all indexes.
        disturbed: Rankings with a score of NaN, in profiles that keep them.
        counts: What was counted while ranking, over all queries.
        again: Vectors of second queries, in order of query; None where there are none.
    """

    rankings: tuple[Ranking, ...]
    seconds: NDArray[np.float64]
    delivered: NDArray[np.int64]
    index_bytes: int
    disturbed: int
    counts: Mapping[str, int]
    again: Vectors | None


def rank_cell(
    prepared: QuerySet,
    chunked: Sequence[ChunkedCorpus],
    texts: Texts,
    parts: Pipeline,
    watch: PhaseTimer,
    *,
    embed_again: Callable[[Sequence[str]], Vectors],
) -> CellRankings:
    """Rank every query of a cell against its corpus.

    Second queries that need vectors are embedded together, those of all corpora. Each corpus is
    then indexed once more, for the indexes of all of them may not fit into memory.

    Args:
        prepared: Corpora and queries.
        chunked: The corpora, cut.
        texts: The distinct texts of all corpora, and their vectors.
        parts: What the cell is made with.
        watch: Where times and progress go.
        embed_again: Gives the vectors of second queries, the zero vector for an empty one.
    """
    given = Scaled.of(texts, parts)
    table = _Table(len(prepared.queries), parts, watch)
    waits = parts.retriever.policy.hops > 1 and parts.retriever.dense
    nbytes: dict[str, list[int]] = {}
    for number, one in enumerate(chunked):
        with watch.phase("indexing"):
            corpus = searcher(prepared, one, given, number, parts)
            nbytes.setdefault(one.corpus.name, []).append(corpus.index.nbytes)
        table.ask(corpus)
        if not waits:
            table.ask_again(corpus, None)
            table.deliver(corpus)
    again = None
    if waits:
        again = embed_again(table.second)
        vectors = scaled(again.values, parts)[0]
        for number, one in enumerate(chunked):
            with watch.phase("indexing"):
                corpus = searcher(prepared, one, given, number, parts)
            table.ask_again(corpus, vectors)
            table.deliver(corpus)
    rankings = tuple(table.rankings[at] for at in range(len(prepared.queries)))
    # A score of NaN is compared as neither more nor less, which the original's sort cannot bear.
    keeps_nan = parts.profile.blank == "index"
    return CellRankings(
        rankings=rankings,
        seconds=table.seconds,
        delivered=table.delivered,
        # Of each corpus of the data set one index is needed at a time.
        index_bytes=sum(round(sum(sizes) / len(sizes)) for sizes in nbytes.values()),
        disturbed=sum(one.disturbed for one in rankings) if keeps_nan else 0,
        counts=sum((Counter(one.counts) for one in rankings), Counter[str]()),
        again=again,
    )


class _Table:
    """What is known of every query so far, filled one corpus after the other."""

    def __init__(self, queries: int, parts: Pipeline, watch: PhaseTimer) -> None:
        self.rankings: dict[int, Ranking] = {}
        self.seconds = np.zeros(queries)
        self.delivered = np.zeros(queries, dtype=np.int64)
        self.second = [""] * queries
        self._asked_again = 0
        self._parts = parts
        self._watch = watch

    def ask(self, corpus: SearchableCorpus) -> None:
        """First rankings, and the second queries that follow from them."""
        policy = self._parts.retriever.policy
        with self._watch.phase("indexing"):
            lexicon = Lexicon.of(corpus.slices()) if policy.hops > 1 else None
        with self._watch.phase("searching") as told:
            for at, question in corpus.questions.items():
                with self._timed(at):
                    ranking = rank(corpus.index, question, self._parts.order, corpus.rankable)
                    self.rankings[at] = ranking
                    if lexicon is not None:
                        # What the retriever left unscored says nothing about the query.
                        scored = ranking.units[~np.isnan(ranking.scores)]
                        chunks = corpus.chunks_of(scored[: policy.hop_chunks])
                        self.second[at] = lexicon.second_query(question.text, chunks)
                told(len(self.rankings), len(self.second))

    def ask_again(self, corpus: SearchableCorpus, vectors: NDArray[np.float32] | None) -> None:
        """Second rankings, joined to the first; nothing where there is no second query."""
        hop_units = self._parts.retriever.policy.hop_chunks
        with self._watch.phase("searching") as told:
            for at in (one for one in corpus.questions if self.second[one]):
                with self._timed(at):
                    question = SearchQuery(
                        self.second[at], None if vectors is None else vectors[at]
                    )
                    order = self._parts.order
                    found = rank(corpus.index, question, order, corpus.rankable)
                    first = self.rankings[at]
                    self.rankings[at] = join(first, found, hop_units, order, corpus.rankable)
                self._asked_again += 1
                told(self._asked_again, sum(map(bool, self.second)))

    def deliver(self, corpus: SearchableCorpus) -> None:
        """Rankings with what their chunks bring, and what their first units weigh."""
        kind, order = self._parts.retriever.policy.expand, self._parts.order
        sizes = corpus.rankable.sizes
        with self._watch.phase("indexing"):
            brings = companions(corpus.chunked, kind) if kind != "none" else ()
        with self._watch.phase("searching"):
            for at in corpus.questions:
                if brings:
                    with self._timed(at):
                        ranking = self.rankings[at]
                        self.rankings[at] = expand(ranking, brings, order, corpus.rankable)
                self.delivered[at] = sizes[self.rankings[at].units[:DELIVERED]].sum()

    @contextmanager
    def _timed(self, at: int) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[at] += time.perf_counter() - started
